"""Generate every file that is derived from the API catalog in ``tools/api``.

``python tools/generate.py`` computes everything, then writes; if something is missing, it says what, and writes
nothing. ``--check`` writes nothing and fails if a file differs.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))

from building import build_outputs
from generators import (
    com_interfaces,
    enums,
    every_kernel,
    expected_digest,
    exports,
    from_package,
    git_attributes,
    header,
    iids,
    schema,
    structs,
    stubs,
)
from generators.catalog import Catalog
from generators.incomplete import Incomplete

ROOT = Path(__file__).resolve().parents[1]
GENERATORS = (header, enums, structs, stubs, iids, schema, com_interfaces, expected_digest, every_kernel)


def formatted(files: dict[str, str]) -> dict[str, str]:
    """The files, with Python formatted by ``ruff``, so that generated files follow the project's style."""
    return {
        path: formatted_python(path, text) if path.endswith((".py", ".pyi")) else text
        for path, text in files.items()
    }


def formatted_python(path: str, text: str) -> str:
    for arguments in (["check", "--fix-only", "--quiet", "--select", "I,F401"], ["format"]):
        command = [sys.executable, "-m", "ruff", *arguments, "--stdin-filename", path, "-"]
        text = subprocess.run(
            command, input=text, text=True, capture_output=True, check=True, cwd=ROOT
        ).stdout
    return text


def generated_files() -> dict[str, str]:
    """The content of every generated file, by path relative to the repository. Raises ``Incomplete``."""
    catalog = Catalog()
    files: dict[str, str] = {}
    for generator in GENERATORS:
        files.update(generator.generate(catalog))
    files.update(exports.generate(ROOT, files))
    files = formatted(files)
    files.update(formatted(from_package.generate(ROOT, files)))
    files.update(git_attributes.generate(files))
    return files


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="fail if a generated file differs; write nothing"
    )
    check = parser.parse_args(argv).check
    try:
        files = generated_files()
    except Incomplete as incomplete:
        print(f"{incomplete}\nNothing was written.", file=sys.stderr)
        return 2
    drifted = [path for path, text in files.items() if build_outputs.differs(ROOT / path, text)]
    for path in drifted:
        print(f"{'differs' if check else 'wrote'}: {path}")
        if not check:
            (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
            (ROOT / path).write_text(files[path], encoding="utf-8")
    if not check:
        # An install builds these too, but this clone may be installed in editable mode.
        build_outputs.write(ROOT / "directml_py", ROOT / "include")
    return int(check and bool(drifted))


if __name__ == "__main__":
    sys.exit(main())
