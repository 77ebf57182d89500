"""windows.h and what it includes, on Linux: events, waiting, errors, time, debugging, modules."""

from __future__ import annotations

import pytest
from programs import CPP, Programs
from toolchain import later


@pytest.mark.parametrize("compiler", CPP)
def test_cases(programs: Programs, compiler: str) -> None:
    programs.check(compiler, "win32.cpp", "debug_output", "modules")


@pytest.mark.parametrize("compiler", CPP)
def test_debug_output_is_utf8_whatever_the_locale(programs: Programs, compiler: str) -> None:
    """And it leaves the stream's orientation alone: what the program writes through wcerr arrives, too."""
    run = programs.run(compiler, "win32.cpp", "debug_output", LC_ALL="C")
    assert run.returncode == 0
    assert run.stderr == "wide narrow default é✓😀 " + "€" * 1000 + "|wide"


@pytest.mark.parametrize("compiler", CPP)
def test_dlls_are_found_in_the_library(programs: Programs, compiler: str) -> None:
    answer = 'extern "C" int Answer() { return 42; }\n'
    folder = programs.shared_library(compiler, "libdirectml.so", answer)
    run = programs.run(compiler, "win32.cpp", "modules", LD_LIBRARY_PATH=str(folder))
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("standard", ["c11", *later("gnu11", "c17")])
@pytest.mark.parametrize(("c", "cpp"), [("gcc", "g++"), *later(("clang", "clang++"))])
def test_c_and_cpp_share_handles_and_errors(programs: Programs, c: str, cpp: str, standard: str) -> None:
    objects = [
        programs.object(c, "win32.c", f"-std={standard}"),
        programs.object(cpp, "win32_from_c.cpp"),
    ]
    run = programs.link_and_run(cpp, *objects)
    assert (run.returncode, run.stderr) == (0, "from C")


@pytest.mark.parametrize("standard", ["c++17", *later("c++20")])
@pytest.mark.parametrize("compiler", CPP)
def test_a_program_for_windows_compiles(programs: Programs, compiler: str, standard: str) -> None:
    programs.object(compiler, "windows_program.cpp", f"-std={standard}")


@pytest.mark.parametrize(
    "before", ["", "d3d12.h", "DirectML.h", "directx/dxcore.h", "dxgi1_6.h", "wrl/client.h"]
)
@pytest.mark.parametrize("after", ["d3d12.h", "DirectML.h"])
@pytest.mark.parametrize("compiler", CPP)
def test_identifiers_of_dxcore_and_d3d12(toolchain, compiler: str, before: str, after: str) -> None:
    """Whatever is included first, __uuidof is declared; a missing one would only show when linking."""
    first = f"#include <{before}>\n" if before else ""
    text = (
        first
        + f"#include <dxcore.h>\n#include <{after}>\n"
        + (
            "static_assert(__uuidof(IDXCoreAdapterFactory).Data1 == 0x78ee5945);\n"
            "static_assert(__uuidof(IDXCoreAdapterList).Data1 == 0x526c7776);\n"
            "static_assert(__uuidof(IDXCoreAdapter*).Data1 == 0xf0db4c7f);\n"
            "static_assert(__uuidof(ID3D12Device).Data1 == 0x189819f1);\n"
        )
    )
    assert toolchain.errors(compiler, text, d3d12=True) == ""


@pytest.mark.parametrize("compiler", CPP)
def test_what_is_missing_is_named(toolchain, compiler: str) -> None:
    """Without the DirectX headers on the include path the error says how to get them."""
    errors = toolchain.errors(compiler, "#include <windows.h>\n")
    assert "directx-headers-dev" in errors
    assert "pkg-config --cflags DirectX-Headers" in errors
