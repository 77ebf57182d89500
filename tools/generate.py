"""Write every file that follows from the API catalog in ``tools/api``.

``python tools/generate.py`` writes; ``--check`` writes nothing and fails if a file differs.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from generators import (
    cdefs,
    com_interfaces,
    directmlx,
    enums,
    examples,
    expected_digest,
    exports,
    graph_functions,
    header,
    iids,
    schema,
    structs,
    stubs,
)
from generators.catalog import Catalog

ROOT = Path(__file__).resolve().parents[1]
GENERATORS = (header, enums, structs, stubs, iids, schema, cdefs, com_interfaces, expected_digest)


def formatted(path: str, text: str) -> str:
    """Python as ``ruff`` would leave it, so that generated files obey the house style."""
    if not path.endswith((".py", ".pyi")):
        return text
    for arguments in (["check", "--fix-only", "--quiet", "--select", "I,F401"], ["format"]):
        command = [sys.executable, "-m", "ruff", *arguments, "--stdin-filename", path, "-"]
        text = subprocess.run(
            command, input=text, text=True, capture_output=True, check=True, cwd=ROOT
        ).stdout
    return text


def generated_files() -> dict[str, str]:
    """Path relative to the repository, and content, of every generated file."""
    catalog = Catalog()
    files: dict[str, str] = {}
    for generator in GENERATORS:
        files.update(generator.generate(catalog))
    files.update(exports.generate(ROOT, files))
    return {path: formatted(path, text) for path, text in files.items()}


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="fail if a generated file differs; write nothing"
    )
    check = parser.parse_args(argv).check
    drifted = settle(generated_files(), check)
    # What is left needs the package, as it has just been written.
    of_graphs = {**graph_functions.generate(ROOT), **directmlx.generate(ROOT), **examples.generate(ROOT)}
    drifted += settle({path: formatted(path, text) for path, text in of_graphs.items()}, check)
    return int(check and bool(drifted))


def settle(files: dict[str, str], check: bool) -> list[str]:
    """Write what differs, or with ``check`` only say so; the paths of what differs."""
    drifted = []
    for path, text in files.items():
        target = ROOT / path
        if target.is_file() and target.read_text(encoding="utf-8") == text:
            continue
        drifted.append(path)
        if not check:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
    for path in drifted:
        print(f"{'differs' if check else 'wrote'}: {path}")
    return drifted


if __name__ == "__main__":
    sys.exit(main())
