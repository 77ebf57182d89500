"""Wine with a prefix for the tests, and programs that MinGW builds for it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pytest
from building import windows_dlls
from com.building import MINGW, WARNINGS, Builder
from sharing import built_once, lent, shared_folder
from toolchain import INCLUDE, missing

from directml_py.wine.loader import WineError, dll_path, find_loader
from directml_py.wine.prefix import end

PROGRAMS = Path(__file__).resolve().parent / "programs"
LIBRARIES = ("-ldxguid", "-luuid", "-lversion", "-lpsapi", "-lpthread")
PATIENCE = 120


def need_wine() -> str:
    """Wine's loader."""
    if not dll_path(windows_dlls.BRIDGE).exists():
        missing("gcc-mingw-w64-x86-64")
    try:
        return find_loader()
    except WineError:
        missing("wine64")
        raise


class Wine:
    """``python -m directml_py wine``, with a cache folder of the tests' own."""

    def __init__(self, loader: str, cache: Path) -> None:
        self.loader = loader
        self.cache = cache
        self.prefix = cache / "directml-py" / "wine"

    def command(self, *words: str | Path) -> list[str]:
        return [sys.executable, "-m", "directml_py", "wine", *map(str, words)]

    def environment(self, **variables: str) -> dict[str, str]:
        return {**os.environ, "XDG_CACHE_HOME": str(self.cache), **variables}

    def run(
        self, *words: str | Path, stdin: str = "", cwd: Path | None = None, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        # By files: what Wine leaves running in the background holds pipes open.
        return subprocess.run(
            self.command(*words),
            input=stdin,
            capture_output=True,
            encoding="utf-8",
            cwd=cwd,
            timeout=PATIENCE,
            env=self.environment(**variables),
        )

    def end(self) -> None:
        """End what Wine has left running in the prefix."""
        end(self.prefix)


def _create(folder: Path, loader: str) -> None:
    run = Wine(loader, folder).run("--environment")
    assert run.returncode == 0, run.stderr


@pytest.fixture(scope="session")
def wine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wine]:
    loader = need_wine()
    with lent(shared_folder(tmp_path_factory, "wine") / "cache", partial(_create, loader=loader)) as cache:
        found = Wine(loader, cache)
        yield found
        found.end()


@pytest.fixture
def copied(wine: Wine, tmp_path: Path) -> Iterator[Path]:
    """A prefix of the user's, without this package's DLLs. Its files are links, which are replaced, never written."""
    prefix = tmp_path / "prefix"
    shutil.copytree(wine.prefix, prefix, symlinks=True, copy_function=os.link)
    run = wine.run("--uninstall", prefix)
    assert run.returncode == 0, run.stderr
    yield prefix
    shutil.rmtree(prefix)


@pytest.fixture(scope="session")
def builder(tmp_path_factory: pytest.TempPathFactory) -> Builder:
    return Builder(shared_folder(tmp_path_factory, "com"))


@pytest.fixture(scope="session")
def program(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """``program(name)``: what MinGW makes of a source in ``programs``."""

    def build(folder: Path, source: Path) -> None:
        compiler = MINGW["object_model" if source.suffix == ".cpp" else "c_program"]
        if shutil.which(compiler) is None:
            missing(compiler)
        is_dll = "__declspec(dllexport)" in source.read_text(encoding="utf-8")
        dlls = [] if is_dll else [str(dll_path(name)) for name in windows_dlls.DLLS]
        options = ["-O1", *(["-shared"] if is_dll else ["-municode", "-static"]), *WARNINGS, f"-I{INCLUDE}"]
        command = [
            compiler,
            *options,
            str(source),
            *dlls,
            *LIBRARIES,
            "-o",
            str(folder / f"{source.stem}.exe"),
        ]
        run = subprocess.run(command, capture_output=True, text=True)
        assert run.returncode == 0, run.stderr

    def built(name: str) -> Path:
        need_wine()
        folder = shared_folder(tmp_path_factory, "wine") / name
        (source,) = PROGRAMS.glob(f"{name}.*")
        return built_once(folder, partial(build, source=source)) / f"{name}.exe"

    return built
