"""Builds that several tests share, made once per run by whichever worker comes first."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

try:
    import fcntl
except ImportError:
    # On Windows, where a run must make do with one worker.
    fcntl = None


def shared_folder(factory: pytest.TempPathFactory, name: str) -> Path:
    """The same temporary folder in every worker of a run."""
    base = factory.getbasetemp()
    # A worker of pytest-xdist has a folder of its own in that of the run.
    folder = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / name
    folder.mkdir(exist_ok=True)
    return folder


def built_once(folder: Path, build: Callable[[Path], None]) -> Path:
    """``folder``, filled by ``build``. Others that ask for it meanwhile wait; after a failure the next one tries."""
    done = folder.with_name(f"{folder.name}.done")
    with folder.with_name(f"{folder.name}.lock").open("w") as lock:
        if fcntl is not None:
            fcntl.flock(lock, fcntl.LOCK_EX)
        if not done.exists():
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
            build(folder)
            done.touch()
    return folder


@contextmanager
def lent(folder: Path, build: Callable[[Path], None]) -> Iterator[Path]:
    """``built_once``'s folder, for one that is too large to be left behind: its last user removes it."""
    with folder.with_name(f"{folder.name}.users").open("w") as users:
        fcntl.flock(users, fcntl.LOCK_SH)
        yield built_once(folder, build)
        try:
            fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return
        folder.with_name(f"{folder.name}.done").unlink()
        shutil.rmtree(folder, ignore_errors=True)
