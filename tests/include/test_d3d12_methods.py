"""The catalog's interfaces of Direct3D 12 are those of d3d12.h: every method, in the order of the tables."""

from __future__ import annotations

import pytest
from generators.header.interface_vtables import IUNKNOWN, every_method
from toolchain import later

C_HEADERS = """
#include <stddef.h>
#include <wsl/winadapter.h>
#include <directx/d3d12.h>
#include <directx/d3d12sdklayers.h>
"""
# ID3DBlob is a second name of this one.
C_NAMES = {"ID3DBlob": "ID3D10Blob"}
CPP_HEADERS = C_HEADERS + "#include <type_traits>\n"


def tables(catalog):
    """Interface name -> all its methods, those of its bases first."""
    known = {IUNKNOWN.name: IUNKNOWN, **{i.name: i for i in catalog.d3d12_interfaces}}
    return {i.name: every_method(i, known) for i in catalog.d3d12_interfaces}


@pytest.mark.parametrize("compiler", ["gcc", *later("clang")])
def test_order_of_the_tables(toolchain, catalog, compiler):
    """A method that is missing makes the table too short, one that is elsewhere has another offset."""
    checks = []
    for interface, methods in tables(catalog).items():
        name = C_NAMES.get(interface, interface)
        checks += [
            f'_Static_assert(offsetof({name}Vtbl, {method.name}) == {slot} * sizeof(void*), "");'
            for slot, method in enumerate(methods)
        ]
        checks.append(f'_Static_assert(sizeof({name}Vtbl) == {len(methods)} * sizeof(void*), "");')
    assert toolchain.errors(compiler, "\n".join([C_HEADERS, *checks, ""]), d3d12=True) == ""


@pytest.mark.parametrize("compiler", ["g++", *later("clang++")])
def test_types_of_the_methods(toolchain, catalog, compiler):
    """Return types and parameters, those that d3d12.h writes as arrays being pointers as C has it."""
    checks = []
    for interface in catalog.d3d12_interfaces:
        name = interface.name
        for method in interface.methods:
            kinds = ", ".join(kind for kind, _ in method.params)
            kind = f"{method.returns} ({name}::*)({kinds})"
            checks.append(
                f'static_assert(std::is_same<decltype(&{name}::{method.name}), {kind}>::value, "");'
            )
        checks.append(f'static_assert(std::is_base_of<{interface.base}, {name}>::value, "");')
    assert toolchain.errors(compiler, "\n".join([CPP_HEADERS, *checks, ""]), d3d12=True) == ""
