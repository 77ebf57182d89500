"""Python hosts of the library: what environments lack, what paths contain, and what has run before."""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path

import cffi
import pytest

from .building import library

PROGRAM = """\
import ctypes, sys, uuid
library, device = ctypes.CDLL(sys.argv[1]), ctypes.c_void_p()
iid = uuid.UUID("189819f1-1db6-4b57-be54-1821339b85f7").bytes_le
for _ in range(2):
    print(hex(library.D3D12CreateDevice(None, 0xB000, iid, ctypes.byref(device)) & 0xFFFFFFFF))
"""


@pytest.fixture(scope="module")
def bare(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a virtual environment without packages."""
    folder = tmp_path_factory.mktemp("bare")
    venv.create(folder, symlinks=True)
    return folder / "bin" / "python"


def run(python: Path, **environment: str) -> list[str]:
    """The lines on standard error, after two calls that failed."""
    command = [str(python), "-c", PROGRAM, library()]
    found = subprocess.run(command, capture_output=True, text=True, env=environment, timeout=120)
    assert found.stdout.split() == ["0x80004005"] * 2, found.stderr
    return found.stderr.splitlines()


def test_the_missing_packages_are_named_once(bare: Path) -> None:
    wanted = "libdirectml.so: {0} lacks the package {1}, which directml_py needs; "
    wanted += "install it with: {0} -m pip install {1}"
    assert run(bare) == [wanted.format(bare, "cffi"), wanted.format(bare, "numpy")]


def test_a_host_that_has_looked_at_a_capsule() -> None:
    """As PyTorch does: the type of capsules has a version tag then, which cffi's start would take for a lock."""
    looked = "import datetime\nfor _ in range(3):\n    datetime.datetime_CAPI.__doc__\n"
    found = subprocess.run(
        [sys.executable, "-c", looked + PROGRAM, library()], capture_output=True, text=True, timeout=120
    )
    assert found.stdout.split() == ["0x0"] * 2, found.stderr


def test_what_is_there_is_not_named(bare: Path, tmp_path: Path) -> None:
    for backend in Path(cffi.__file__).parents[1].glob("_cffi_backend*"):
        (tmp_path / backend.name).symlink_to(backend)
    (line,) = run(bare, PYTHONPATH=str(tmp_path))
    assert "lacks the package numpy" in line
