"""``libdirectml.so`` in a wheel: found by compilers, finding its package, and doing without a compiler."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from toolchain import missing, need_d3d12_headers
from wheels import build_wheel, install, shared_wheel

pytestmark = pytest.mark.slow

PROGRAM = r"""
#include <wrl/client.h>
#include <DirectML.h>
#include <cstdio>
#include <dlfcn.h>
int main()
{
    Microsoft::WRL::ComPtr<ID3D12Device> direct3d;
    Microsoft::WRL::ComPtr<IDMLDevice> device;
    HRESULT result = D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&direct3d));
    if (SUCCEEDED(result))
        result = DMLCreateDevice(direct3d.Get(), DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&device));
    auto run = reinterpret_cast<int (*)(const char*)>(dlsym(RTLD_DEFAULT, "PyRun_SimpleString"));
    auto ensure = reinterpret_cast<int (*)()>(dlsym(RTLD_DEFAULT, "PyGILState_Ensure"));
    ensure();
    run("import sys, directml_py; print(sys.prefix, directml_py.__file__, flush=True)");
    std::printf("%08X\n", static_cast<unsigned>(result));
}
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The interpreter of a virtual environment with a wheel that was built here."""
    if not sys.platform.startswith("linux") or shutil.which("g++") is None:
        missing("g++ on Linux")
    need_d3d12_headers()
    return install(shared_wheel(tmp_path_factory), tmp_path_factory.mktemp("library") / "env")


def config(python: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [str(python), "-m", "directml_py", "config", *options]
    return subprocess.run(
        command, capture_output=True, text=True, cwd=python.parent, env={"PATH": os.defpath}
    )


def test_a_program_finds_the_environment_that_the_library_lies_in(environment: Path, tmp_path: Path) -> None:
    """Whatever the shell's PATH and environment are: nothing of them is there."""
    (tmp_path / "program.cpp").write_text(PROGRAM, encoding="utf-8")
    options = config(environment, "--cflags", "--libs").stdout.split()
    assert f"-I{environment.parents[1]}" in options[0]
    build = ["g++", "-std=c++17", "program.cpp", "-o", "program", *options]
    subprocess.run(build, check=True, cwd=tmp_path)
    result = subprocess.run(["./program"], cwd=tmp_path, capture_output=True, text=True, env={})
    prefix, module, code = result.stdout.split()
    assert code == "00000000", result.stderr
    assert Path(prefix) == environment.parents[1]
    assert Path(module).is_relative_to(environment.parents[1])


def test_pkg_config_and_cmake_files_lie_where_config_says(environment: Path, tmp_path: Path) -> None:
    folder = Path(config(environment, "--pkgconfig").stdout.strip())
    assert folder == Path(config(environment, "--cmake").stdout.strip())
    assert (folder / "DirectMLConfig.cmake").exists()
    if shutil.which("pkg-config") is None:
        missing("pkg-config")
    (tmp_path / "program.cpp").write_text(PROGRAM, encoding="utf-8")
    build = "g++ -std=c++17 program.cpp -o program $(pkg-config --cflags --libs directml)"
    variables = {**os.environ, "PKG_CONFIG_PATH": str(folder)}
    subprocess.run(build, shell=True, check=True, cwd=tmp_path, env=variables)
    result = subprocess.run(["./program"], cwd=tmp_path, capture_output=True, text=True)
    assert result.stdout.endswith("00000000\n")


def test_a_running_interpreter_is_used(environment: Path) -> None:
    """Loaded into Python the library must not start another one, and must release what it holds."""
    code = (
        "import ctypes, directml_py as dml\n"
        "from directml_py.cli.config_command import LIBRARY\n"
        "library, device = ctypes.CDLL(str(LIBRARY)), ctypes.c_void_p()\n"
        "iid = dml.IID_ID3D12Device\n"
        "result = library.D3D12CreateDevice(None, 0xB000, ctypes.byref(iid), ctypes.byref(device))\n"
        "found = dml.ID3D12Device.from_handle(device.value)\n"
        "print(result, type(found).__name__, found.GetNodeCount())\n"
        "release = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_void_p)(\n"
        "    ctypes.cast(ctypes.cast(device, ctypes.POINTER(ctypes.c_void_p))[0],\n"
        "                ctypes.POINTER(ctypes.c_void_p))[2])\n"
        # As long as Python holds the object, it keeps its address.
        "print(release(device), dml.ID3D12Device.from_handle(device.value) is found)\n"
        "del found\n"
        "print(dml.ID3D12Device.from_handle(device.value))\n"
    )
    result = subprocess.run([str(environment), "-c", code], capture_output=True, text=True)
    assert result.stdout.split() == ["0", "ID3D12Device9", "1", "0", "True", "None"], result.stderr


def test_without_a_compiler_the_package_installs_and_config_says_what_is_missing(tmp_path: Path) -> None:
    wheel = build_wheel(tmp_path, CC="/bin/false", CXX="/bin/false")
    assert not [name for name in zipfile.ZipFile(wheel).namelist() if name.endswith(".so")]
    python = install(wheel, tmp_path / "env")
    probe = "import directml_py as dml; print(dml.validate(dml.DML_JOIN_OPERATOR_DESC())[0].rule)"
    assert subprocess.run([str(python), "-c", probe], capture_output=True, text=True, check=True).stdout
    found = config(python, "--libs")
    assert found.returncode == 2
    assert "a C compiler" in found.stderr
    assert "Python.h" in found.stderr
    assert config(python, "--includedir").returncode == 0


def test_a_copy_finds_the_package_that_exec_names(environment: Path, tmp_path: Path) -> None:
    """Without its own folder above it, the library would start the Python that built it."""
    folder = Path(config(environment, "--libdir").stdout.strip())
    shutil.copy(folder / "libdirectml.so", tmp_path)
    (tmp_path / "program.cpp").write_text(PROGRAM, encoding="utf-8")
    options = config(environment, "--cflags").stdout.split()
    links = [str(tmp_path / "libdirectml.so"), "-lDirectX-Guids"]
    subprocess.run(
        ["g++", "-std=c++17", "program.cpp", "-o", "program", *options, *links], check=True, cwd=tmp_path
    )
    command = [
        str(environment),
        "-m",
        "directml_py",
        "exec",
        "/usr/bin/env",
        "--unset=LD_PRELOAD",
        f"LD_LIBRARY_PATH={tmp_path}",
        "./program",
    ]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, env={})
    _, module, code = result.stdout.split()
    assert code == "00000000", result.stderr
    assert Path(module).is_relative_to(environment.parents[1])
