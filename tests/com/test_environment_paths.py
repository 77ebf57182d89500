"""The environment that Python starts in, wherever it lies and whatever its .pth files contain."""

from __future__ import annotations

import shutil
import venv
from pathlib import Path

import numpy as np
import pytest

from .building import library
from .test_hosts import Hosts, hosts, succeeds

__all__ = ["hosts"]


@pytest.fixture
def environment(tmp_path: Path) -> Path:
    """A virtual environment with a copy of the package; its path has letters that are not ASCII, and a space."""
    folder = tmp_path / "ä ü"
    venv.create(folder, symlinks=True)
    package = Path(library()).parents[2]
    shutil.copytree(package, folder / package.name, ignore=shutil.ignore_patterns("__pycache__"))
    # NumPy and cffi by a path that is not ASCII either.
    (folder / "ö").symlink_to(Path(np.__file__).parents[1])
    _pth(folder).write_text(f"{folder / 'ö'}\n", encoding="utf-8")
    return folder


def _pth(environment: Path) -> Path:
    (packages,) = environment.glob("lib/python*/site-packages")
    return packages / "paths.pth"


def _library(environment: Path) -> Path:
    return environment / "directml_py" / "com" / "lib" / "libdirectml.so"


@pytest.mark.parametrize("topic", ["load", "threads"])
def test_letters_that_are_not_ascii(hosts: Hosts, environment: Path, topic: str) -> None:
    """A program that sets no locale has one in which they cannot be read."""
    codes = succeeds(hosts.run(_library(environment), topic))
    assert set(codes) == {"00000000"}


def test_the_locale_of_the_starting_thread_stays(hosts: Hosts, environment: Path) -> None:
    assert succeeds(hosts.run(_library(environment), "locale", LC_ALL="C")) == ["00000000", "C"]


@pytest.mark.parametrize("topic", ["load", "threads"])
def test_a_python_that_does_not_start_blocks_nobody(hosts: Hosts, environment: Path, topic: str) -> None:
    """Its start fails while it holds the GIL, which the next thread must not wait for."""
    _pth(environment).write_bytes(b"\xff\n")
    run = hosts.run(_library(environment), topic)
    assert (run.returncode, set(run.stdout.split())) == (3, {"80004005"}), run
    assert run.stderr == "libdirectml.so: Python does not start: Failed to import the site module\n"
