"""Headers that programs bring along or expect: each compiles, and the programs' own identifiers are welcome."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from building import build_outputs
from programs import CPP, Programs
from toolchain import D3D12_HEADERS, INCLUDE, STANDARD, STRICT, Toolchain, later, missing, need_d3d12_headers

IN_BOTH = [
    "combaseapi.h",
    "d3d11.h",
    "directml.h",
    "initguid.h",
    "objbase.h",
    "objidl.h",
    "synchapi.h",
    "wincodec.h",
]
IN_CPP = [
    *IN_BOTH,
    "WinPixEventRuntime/pix3.h",
    "atlbase.h",
    "d3dx12.h",
    "directml_uuids.h",
    "dxgidebug.h",
    "pix3.h",
    "wil/com.h",
    "wil/wrl.h",
    "winrt/Windows.Foundation.h",
    "winrt/base.h",
    "wrl.h",
    "wrl/event.h",
    "wrl/implements.h",
    "wrl/wrappers/corewrappers.h",
]
DEVICE = "0x6dbd6437, 0x96fd, 0x423f, 0xa9, 0x8c, 0xae, 0x5e, 0x7c, 0x2a, 0x57, 0x3f"
OWN = f"WINADAPTER_IID(IDMLDevice, {DEVICE})\n"
KNOWN = (
    "static_assert(__uuidof(IDMLDevice).Data1 == 0x6dbd6437);\n"
    "static_assert(__uuidof(IDMLDevice*).Data2 == 0x96fd);\n"
    "static_assert(__uuidof(IDMLCompiledOperator).Data1 == 0x6b15e56a);\n"
)
# A DirectML.h like Microsoft's outside of Windows: it declares nothing that __uuidof could use.
FOREIGN = """\
#ifndef DIRECTML_H
#define DIRECTML_H
#include "d3d12.h"
interface IDMLDevice;
interface IDMLCompiledOperator;
interface DECLSPEC_UUID("6dbd6437-96fd-423f-a98c-ae5e7c2a573f") DECLSPEC_NOVTABLE IDMLDevice : IUnknown {};
interface DECLSPEC_UUID("6b15e56a-bf5c-4902-92d8-da3a650afea4") DECLSPEC_NOVTABLE IDMLCompiledOperator : IUnknown {};
#endif
"""


@pytest.mark.parametrize("compiler", CPP)
def test_cases(programs: Programs, compiler: str) -> None:
    programs.check(compiler, "clients.cpp")


@pytest.mark.slow
@pytest.mark.parametrize("compiler", ["g++", "clang++"])
def test_headers_alone(toolchain: Toolchain, compiler: str) -> None:
    for header in IN_CPP:
        assert toolchain.errors(compiler, f"#include <{header}>\n", d3d12=True) == "", header


@pytest.mark.parametrize("compiler", CPP)
def test_headers_in_any_order(toolchain: Toolchain, compiler: str) -> None:
    for headers in (IN_CPP, IN_CPP[::-1]):
        text = "".join(f"#include <{header}>\n" for header in headers)
        assert toolchain.errors(compiler, text + KNOWN, d3d12=True) == ""


@pytest.mark.parametrize("compiler", ["gcc", *later("clang")])
def test_headers_in_c(toolchain: Toolchain, compiler: str) -> None:
    for header in IN_BOTH:
        assert toolchain.errors(compiler, f"#include <{header}>\n", d3d12=True) == "", header


def test_names_that_differ_in_case_have_one_content() -> None:
    """Some file systems treat them as one file."""
    for made, original in build_outputs.SPELLINGS.items():
        text = (INCLUDE / original).read_text(encoding="utf-8")
        expected = build_outputs.spelled(made, text, original)
        assert (INCLUDE / made).read_text(encoding="utf-8") == expected, f"{made}: install again"


@pytest.mark.parametrize(
    "first", ["d3d12.h", "wsl/winadapter.h>\n#include <directx/d3d12.h", "dxgi1_6.h", "DirectML.h"]
)
@pytest.mark.parametrize("compiler", CPP)
def test_a_programs_own_identifiers(toolchain: Toolchain, compiler: str, first: str) -> None:
    """As in DxDispatch's directml_guids.h."""
    head = f"#include <{first}>\n#include <dxguids/dxguids.h>\n"
    assert toolchain.errors(compiler, f"{head}#include <DirectML.h>\n{OWN}{KNOWN}", d3d12=True) == ""
    before = f"{head}struct IDMLDevice;\n{OWN}#include <DirectML.h>\n{KNOWN}"
    if first != "DirectML.h":
        assert toolchain.errors(compiler, before, d3d12=True) == ""


@pytest.mark.parametrize("compiler", CPP)
def test_other_identifiers_are_an_error(toolchain: Toolchain, compiler: str) -> None:
    """A type without an identifier is an error of the compiler, not of the linker."""
    text = (
        "#include <DirectML.h>\nstruct Other {};\nGUID other();\nGUID other() { return __uuidof(Other); }\n"
    )
    assert "DMLUuidOf<Other>" in toolchain.errors(compiler, text, d3d12=True)


@pytest.mark.parametrize("before", ["", "#include <DirectML.h>\n", "#include <wrl.h>\n"])
@pytest.mark.parametrize("compiler", CPP)
def test_blobs_have_an_identifier(toolchain: Toolchain, compiler: str, before: str) -> None:
    """IID_PPV_ARGS takes pointers to them; d3dcommon.h has their number for INITGUID alone."""
    same = "static_assert(__uuidof(ID3DBlob).Data1 == 0x8ba5fb08 && __uuidof(ID3DBlob).Data4[7] == 0x02);\n"
    assert toolchain.errors(compiler, f"{before}#include <d3d12.h>\n{same}", d3d12=True) == ""


@pytest.mark.parametrize("compiler", CPP)
def test_a_programs_own_constants(toolchain: Toolchain, compiler: str) -> None:
    text = f"#include <DirectML.h>\nextern const GUID IID_IDMLDevice;\nconst GUID IID_IDMLDevice = {{}};\n{KNOWN}"
    assert toolchain.errors(compiler, text, "-DDIRECTML_NO_IIDS", d3d12=True) == ""
    assert "IID_IDMLDevice" in toolchain.errors(compiler, text, d3d12=True)


@pytest.mark.parametrize("own", ["", OWN])
@pytest.mark.parametrize("compiler", CPP)
def test_a_directml_h_of_the_programs_own(tmp_path: Path, compiler: str, own: str) -> None:
    """It is found first; what else it includes is here, and __uuidof links, also beside a part that has ours."""
    if shutil.which(compiler) is None:
        missing(compiler)
    need_d3d12_headers()
    folder = tmp_path / "official"
    folder.mkdir()
    (folder / "DirectML.h").write_text(FOREIGN, encoding="utf-8")
    (tmp_path / "main.cpp").write_text(
        f"#include <DirectML.h>\n{own}{KNOWN}const GUID& ours();\n"
        "int main() { return __uuidof(IDMLDevice) == ours() ? 0 : 1; }\n",
        encoding="utf-8",
    )
    (tmp_path / "ours.cpp").write_text(
        "#include <DirectML.h>\nconst GUID& ours();\nconst GUID& ours() { return __uuidof(IDMLDevice); }\n",
        encoding="utf-8",
    )
    options = [STANDARD[compiler], *STRICT, *D3D12_HEADERS]
    for name, flags in (("main", [f"-I{folder}"]), ("ours", [])):
        command = [
            compiler,
            *flags,
            *options,
            "-c",
            str(tmp_path / f"{name}.cpp"),
            "-o",
            str(tmp_path / f"{name}.o"),
        ]
        subprocess.run(command, check=True)
    program = tmp_path / "program"
    subprocess.run(
        [compiler, *(str(tmp_path / f"{n}.o") for n in ("main", "ours")), "-o", program], check=True
    )
    subprocess.run([program], check=True)


@pytest.mark.parametrize("compiler", ["gcc", "g++", *later("clang", "clang++")])
def test_initguid_defines_in_every_part(toolchain: Toolchain, compiler: str) -> None:
    define = "DEFINE_GUID(GUID_Some, 0x12345678, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10);\n"
    extern = 'extern "C" int other(void);\n' if "++" in compiler else "int other(void);\n"
    first = f"#include <initguid.h>\n{define}{extern}int other(void) {{ return GUID_Some.Data2; }}\n"
    second = (
        f"#include <initguid.h>\n{define}{extern}"
        "int main(void) { return GUID_Some.Data1 == 0x12345678 && other() == 1 ? 0 : 1; }\n"
    )
    objects = [
        toolchain.object(compiler, text, name=name, d3d12=True)
        for name, text in (("a", first), ("b", second))
    ]
    toolchain.run(compiler, *objects)
