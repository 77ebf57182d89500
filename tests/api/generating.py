"""``tools/generate.py`` in a copy of the repository."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from toolchain import need_package

ROOT = Path(__file__).resolve().parents[2]


def generate(root, *arguments):
    # It formats what it writes.
    need_package("ruff")
    command = [sys.executable, str(root / "tools" / "generate.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def contents(root):
    """Every file but those that Python compiles."""
    return {
        path.relative_to(root): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.suffix != ".pyc"
    }
