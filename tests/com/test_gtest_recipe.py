"""The recipe for C++ users: CMake, GoogleTest, and a library of theirs that builds descs."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from toolchain import missing, need_d3d12_headers

from .building import config_path, facts, library

RECIPE = Path(__file__).resolve().parent / "gtest_recipe"


@pytest.fixture(scope="module")
def build(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the built tests."""
    need_d3d12_headers()
    library()
    if shutil.which("cmake") is None:
        missing("cmake")
    if not Path("/usr/include/gtest/gtest.h").is_file():
        missing("libgtest-dev")
    folder = tmp_path_factory.mktemp("recipe")
    prefix = config_path("--cmake")
    _run("cmake", "-S", str(RECIPE), "-B", str(folder), f"-DCMAKE_PREFIX_PATH={prefix}")
    _run("cmake", "--build", str(folder))
    return folder


def _run(*command: str) -> None:
    run = subprocess.run(command, capture_output=True, text=True, timeout=600)
    assert run.returncode == 0, run.stdout + run.stderr


def test_suite_passes(build: Path) -> None:
    lines = facts([build / "builder_test"])
    assert "[  PASSED  ] 14 tests." in lines, lines


def test_listing_the_tests_starts_no_python(build: Path) -> None:
    """CMake's gtest_discover_tests does it in each build. The loader names the files that it loads."""
    loaded = {
        option: subprocess.run(
            [str(build / "builder_test"), option],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
            env={**os.environ, "LD_DEBUG": "files"},
        ).stderr
        for option in ("--gtest_list_tests", "--gtest_filter=Gather.Valid")
    }
    assert ["_multiarray_umath" in files for files in loaded.values()] == [False, True]


def test_ctest(build: Path) -> None:
    _run("ctest", "--test-dir", str(build), "--output-on-failure")


def test_fixture(build: Path, tmp_path: Path) -> None:
    """``build`` has checked that the tools are there."""
    flags = [option for kind in ("--cflags", "--libs") for option in shlex.split(config_path(kind))]
    source, program = RECIPE.parent / "gtest_fixture.cpp", tmp_path / "fixture"
    _run(
        "g++",
        "-std=c++17",
        "-Wall",
        "-Wextra",
        "-Werror",
        str(source),
        "-o",
        str(program),
        *flags,
        "-lgtest_main",
        "-lgtest",
        "-lpthread",
    )
    assert "[  PASSED  ] 3 tests." in facts([program])
