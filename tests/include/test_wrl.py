"""wrl/implements.h and wil/wrl.h, and interfaces that a program declares with identifiers of its own."""

from __future__ import annotations

import pytest
from programs import CPP, Programs
from toolchain import later

CASES = ["classes", "identifiers", "initialization", "wil_throws"]
# clang++ knows __declspec(uuid) as Visual C++ does.
FLAGS = {"g++": (), "clang++": ("-fms-extensions",)}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("compiler", CPP)
def test_case(programs: Programs, compiler: str, case: str) -> None:
    assert programs.cases(compiler, "wrl.cpp", *FLAGS[compiler]) == CASES
    run = programs.run(compiler, "wrl.cpp", case, *FLAGS[compiler])
    assert run.returncode == 0, run.stderr


OWN = 'MIDL_INTERFACE("0d2f4ae3-2b1d-4d0d-9f0d-3a1f9b6c1a11") IMine : public IUnknown { virtual void Do() = 0; };\n'
USE = """\
HRESULT get(IUnknown* a, IMine** b);
HRESULT get(IUnknown* a, IMine** b) { return a->QueryInterface(IID_PPV_ARGS(b)); }
"""


@pytest.mark.parametrize("before", ["", "#include <directx/d3d12.h>\n", "#include <d3d12.h>\n"])
@pytest.mark.parametrize("after", ["", "#include <DirectML.h>\n"])
@pytest.mark.parametrize("compiler", later("clang++"))
def test_an_own_interface_beside_the_others(toolchain, compiler, before, after):
    text = f"#include <windows.h>\n#include <unknwn.h>\n{before}{after}{OWN}{USE}"
    flags = ("-fms-extensions", "-Wno-undefined-internal", "-Wno-undefined-inline", "-Wno-non-virtual-dtor")
    assert toolchain.errors(compiler, text, *flags, d3d12=True) == ""
