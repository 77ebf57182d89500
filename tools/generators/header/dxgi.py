"""``include/dxgi1_6.h``, and the headers of older versions, which include it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from ..catalog import Catalog, Interface
from . import declarations, interface_vtables
from .declarations import part

OLDER = ("dxgi", "dxgi1_2", "dxgi1_3", "dxgi1_4", "dxgi1_5")


def of_dxgi(name: str) -> bool:
    """Without DXCore, which the DirectX headers declare."""
    return name.startswith(("DXGI_", "IDXGI", "CreateDXGI"))


def undeclared(values: Iterable[Interface], known: Iterable[str]) -> list[str]:
    """The structs and interfaces that methods have pointers to, but that are declared nowhere here."""
    text = " ".join(kind for i in values for method in i.methods for kind, _ in method.params)
    return sorted(set(re.findall(r"\bI?DXGI\w+(?=\*)", text)) - set(known))


def header(catalog: Catalog) -> str:
    enums = [enum for enum in catalog.dxgi_enums if of_dxgi(enum.name)]
    structs = [struct for struct in catalog.dxgi_structs if of_dxgi(struct.name)]
    dxgi_interfaces: Sequence[Interface] = [i for i in catalog.dxgi_interfaces if of_dxgi(i.name)]
    functions = [function for function in catalog.d3d12_functions if of_dxgi(function.name)]
    declared = [value.name for values in (enums, structs, dxgi_interfaces) for value in values]
    incomplete = [f"typedef struct {name} {name};" for name in undeclared(dxgi_interfaces, declared)]
    sections = [
        part("dxgi_about"),
        part("dxgi_windows"),
        part("helpers"),
        part("uuids"),
        declarations.enums(enums),
        "\n".join(incomplete),
        interface_vtables.forward_declarations(dxgi_interfaces),
        declarations.structs(structs),
        interface_vtables.identifiers(dxgi_interfaces),
        interface_vtables.interfaces(dxgi_interfaces),
        declarations.functions(functions),
        part("dxgi_end"),
    ]
    return "\n\n".join(sections) + "\n"


def generate(catalog: Catalog) -> dict[str, str]:
    older = part("dxgi_older") + "\n"
    return {
        "include/dxgi1_6.h": header(catalog),
        **{f"include/{name}.h": older.replace("@NAME@", name) for name in OLDER},
    }
