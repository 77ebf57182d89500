"""Direct3D's headers from elsewhere than the system's package: newer ones, of which a program needs no library."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from toolchain import missing, need_d3d12_headers

from .building import config, config_path, library

SNIPPET = Path(__file__).resolve().parent / "snippets" / "d3dx12_first.cpp"
GUIDS = "-lDirectX-Guids"


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A folder of headers as a clone of microsoft/DirectX-Headers has it: nothing is built there."""
    need_d3d12_headers()
    folder = tmp_path / "clone" / "include"
    folder.mkdir(parents=True)
    for name in ("directx", "dxguids", "wsl"):
        (folder / name).symlink_to(Path("/usr/include") / name)
    return folder


def test_a_clone_of_the_headers_needs_no_library(clone: Path, tmp_path: Path) -> None:
    library()
    options = config("--cflags", "--libs", "--direct3d", str(clone))
    assert GUIDS not in options
    assert str(clone) in options
    subprocess.run(["g++", "-std=c++17", str(SNIPPET), *options, "-o", str(tmp_path / "program")], check=True)
    subprocess.run([str(tmp_path / "program")], check=True, timeout=120)


@pytest.mark.parametrize("folder", ["lib", "lib64"])
def test_a_library_beside_the_headers_is_linked(clone: Path, folder: str) -> None:
    place = clone.parent / folder
    place.mkdir()
    (place / "libDirectX-Guids.a").touch()
    assert config("--libs", "--direct3d", str(clone))[-2:] == [f"-L{place}", GUIDS]


def test_the_systems_library_is_linked() -> None:
    need_d3d12_headers()
    assert config("--libs")[-1] == GUIDS


@pytest.mark.slow
def test_cmake_finds_a_clone_of_the_headers(clone: Path, tmp_path: Path) -> None:
    if shutil.which("cmake") is None:
        missing("cmake")
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.16)\n"
        "project(snippet CXX)\n"
        "set(CMAKE_CXX_STANDARD 17)\n"
        # As on a machine where the library is not installed.
        "set(CMAKE_FIND_LIBRARY_PREFIXES none)\n"
        "find_package(DirectML REQUIRED)\n"
        f"add_executable(snippet {SNIPPET})\n"
        "target_link_libraries(snippet DirectML::DirectML)\n",
        encoding="utf-8",
    )
    configure = [
        "cmake",
        "-B",
        "build",
        f"-DCMAKE_PREFIX_PATH={config_path('--cmake')}",
        f"-DDirectML_HEADERS_DIR={clone}",
        f"-DDirectML_LIBRARY={library()}",
    ]
    for command in (configure, ["cmake", "--build", "build"], ["build/snippet"]):
        run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=300)
        assert run.returncode == 0, run.stdout + run.stderr
    assert "Guids" not in (tmp_path / "build/CMakeFiles/snippet.dir/link.txt").read_text(encoding="utf-8")
