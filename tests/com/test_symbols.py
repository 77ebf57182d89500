"""The names by which programs find the functions of the libraries."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest
from sharing import built_once, shared_folder
from toolchain import need_d3d12_headers

from .building import config, library

DIRECT3D = (
    "D3D12CreateDevice",
    "D3D12CreateRootSignatureDeserializer",
    "D3D12CreateVersionedRootSignatureDeserializer",
    "D3D12EnableExperimentalFeatures",
    "D3D12GetDebugInterface",
    "D3D12GetInterface",
    "D3D12SerializeRootSignature",
    "D3D12SerializeVersionedRootSignature",
)


def found(file: str, name: str, version: str | None) -> int | None:
    """The address that dlvsym gives for the name in the library, or dlsym if there is no version."""
    loaded = ctypes.CDLL(str(Path(library()).with_name(file)))
    process = ctypes.CDLL(None)
    function = process.dlsym if version is None else process.dlvsym
    function.restype = ctypes.c_void_p
    values = [name.encode(), *([] if version is None else [version.encode()])]
    address: int | None = function(ctypes.c_void_p(loaded._handle), *values)
    return address


@pytest.mark.parametrize("name", DIRECT3D)
@pytest.mark.parametrize("file", ["libdirectml.so", "libd3d12.so", "libdirectml_preload.so"])
def test_direct3d_has_the_version_node_of_microsofts_library(file: str, name: str) -> None:
    """A lookup without a version finds the same function."""
    address = found(file, name, "VER_1")
    assert address is not None
    assert found(file, name, None) == address
    assert found(file, name, "VER_2") is None


@pytest.mark.parametrize("file", ["libdirectml.so", "libdirectml_preload.so"])
@pytest.mark.parametrize("name", ["DMLCreateDevice", "DMLCreateDevice1", "DXCoreCreateAdapterFactory"])
def test_directml_and_dxcore_have_none(file: str, name: str) -> None:
    assert found(file, name, None) is not None
    assert found(file, name, "VER_1") is None


NOT_EMULATED = """\
import ctypes, sys
library, iid = ctypes.CDLL(sys.argv[1]), (ctypes.c_uint32 * 4)()
made = ctypes.c_void_p(7)
print("%08X" % (library.D3D12GetInterface(iid, iid, ctypes.byref(made)) & 0xFFFFFFFF), made.value)
print("%08X" % (library.D3D12EnableExperimentalFeatures(1, iid, None, None) & 0xFFFFFFFF))
"""


def test_what_is_not_emulated_says_so() -> None:
    run = subprocess.run(
        [sys.executable, "-c", NOT_EMULATED, str(Path(library()).with_name("libd3d12.so"))],
        capture_output=True,
        text=True,
        timeout=120,
    )
    # E_NOTIMPL.
    assert run.stdout.splitlines() == ["80004001 None", "80004001"], run
    names = ("D3D12GetInterface", "D3D12EnableExperimentalFeatures")
    said = run.stderr.splitlines()
    assert len(said) == len(names)
    for line, name in zip(said, names):
        assert f"{name}: not emulated; the call does nothing (E_NOTIMPL" in line


# A framework's backend, linked to libd3d12.so and libdirectml.so; its wheel brings the latter.
BACK_END = """\
#include <DirectML.h>
extern "C" HRESULT create()
{
    ID3D12Device* direct3d = nullptr;
    IDMLDevice* directml = nullptr;
    HRESULT result = D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&direct3d));
    if (SUCCEEDED(result))
        result = DMLCreateDevice(direct3d, DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&directml));
    return result;
}
"""
BROUGHT = "int DMLCreateDevice(void) { return 0x1234; }\n"
# As torch_directml/__init__.py does.
LOADER = """\
import ctypes, sys
ctypes.CDLL(sys.argv[1] + "/wheel/libdirectml.so", mode=ctypes.RTLD_GLOBAL)
print("%08X" % (ctypes.CDLL(sys.argv[1] + "/back_end.so").create() & 0xFFFFFFFF))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """That of the backend, and of a wheel whose libdirectml.so creates nothing."""
    need_d3d12_headers()
    library()

    def build(folder: Path) -> None:
        wheel = folder / "wheel"
        wheel.mkdir()
        (folder / "brought.c").write_text(BROUGHT, encoding="utf-8")
        (folder / "back_end.cpp").write_text(BACK_END, encoding="utf-8")
        brought = ["gcc", "-shared", "-fPIC", "-Wl,-soname,libdirectml.so", "brought.c"]
        subprocess.run([*brought, "-o", "wheel/libdirectml.so"], check=True, cwd=folder)
        back_end = ["g++", "-std=c++17", "-shared", "-fPIC", *config("--cflags"), "back_end.cpp"]
        links = [f"-L{wheel}", "-ldirectml", f"-L{Path(library()).parent}", "-ld3d12", "-lDirectX-Guids"]
        subprocess.run([*back_end, *links, "-o", "back_end.so"], check=True, cwd=folder)

    return built_once(shared_folder(tmp_path_factory, "brought"), build)


def started(*command: str) -> list[str]:
    run = subprocess.run(
        [sys.executable, "-m", "directml_py", "exec", *command], capture_output=True, text=True, timeout=120
    )
    assert (run.returncode, run.stderr) == (0, ""), run
    return run.stdout.splitlines()


def test_exec_comes_before_a_library_that_is_loaded_by_its_path(folder: Path) -> None:
    assert started(sys.executable, "-c", LOADER, str(folder)) == ["00000000"]


def test_exec_gives_a_program_that_calls_nothing_no_python() -> None:
    library()
    maps = "".join(started("cat", "/proc/self/maps"))
    assert "/libdirectml_preload.so" in maps
    assert "libpython" not in maps
