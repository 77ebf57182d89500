"""Files derived from the package and its tests, which must already see the new generated files.

The repository is copied, the new files are written into the copy, and a child process imports the package from there:
nothing is written into the repository before everything is known.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory

from .incomplete import Incomplete

ROOMS = ("directml_py", "docs/_static", "tests", "tools")
# The exit code of the child if something is missing, which it has printed.
INCOMPLETE = 3


def generate(root: Path, files: Mapping[str, str]) -> dict[str, str]:
    """Paths and texts; ``files`` are newer than what ``root`` has. Raises ``Incomplete``."""
    with TemporaryDirectory() as folder:
        copy = Path(folder)
        for room in ROOMS:
            shutil.copytree(root / room, copy / room)
        for path, text in files.items():
            (copy / path).parent.mkdir(parents=True, exist_ok=True)
            (copy / path).write_text(text, encoding="utf-8")
        places = os.pathsep.join(str(place) for place in (copy / "tools", copy, copy / "tests"))
        done = subprocess.run(
            [sys.executable, "-m", f"{__package__}.from_package"],
            cwd=copy,
            env={**os.environ, "PYTHONPATH": places},
            capture_output=True,
            encoding="utf-8",
        )
    if done.returncode == INCOMPLETE:
        raise Incomplete(done.stdout.rstrip())
    if done.returncode:
        raise Incomplete(f"{done.stderr.rstrip()}\nThe package or its tests fail with what was generated.")
    generated: dict[str, str] = json.loads(done.stdout)
    return generated


def main() -> int:
    """In the copy: print the files as JSON."""
    from . import bug_page, directmlx, examples, graph_functions, operator_classes, readme_picture

    try:
        operator_classes.check()
    except Incomplete as incomplete:
        print(incomplete)
        return INCOMPLETE
    root = Path.cwd()
    files = {
        **graph_functions.generate(),
        **directmlx.generate(),
        **examples.generate(root),
        **bug_page.generate(),
        **readme_picture.generate(root),
    }
    sys.stdout.write(json.dumps(files))
    return 0


if __name__ == "__main__":
    sys.exit(main())
