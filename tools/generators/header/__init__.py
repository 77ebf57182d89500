"""The C and C++ headers in ``include``: DirectML's, and DXGI's.

Declarations from the catalog are generated; the rest (the Windows types, the explanations) is in ``parts`` as it
appears in the headers.
"""

from __future__ import annotations

from ..catalog import Catalog
from . import declarations, dxgi, interface_vtables
from .declarations import part


def directml(catalog: Catalog) -> str:
    sections = [
        part("about"),
        declarations.constants(catalog.constants),
        part("target"),
        part("windows"),
        part("helpers"),
        part("uuids"),
        part("uuids_once"),
        declarations.enums(catalog.enums),
        interface_vtables.forward_declarations(catalog.interfaces),
        declarations.structs([*catalog.structs, *(op.struct for op in catalog.operators)]),
        interface_vtables.identifiers(catalog.interfaces),
        interface_vtables.interfaces(catalog.interfaces),
        declarations.functions(catalog.functions),
        declarations.tensor_size(catalog.enums),
        part("end"),
    ]
    return "\n\n".join(sections) + "\n"


def uuids(catalog: Catalog) -> str:
    named = (
        f"struct {i.name};\nDML_UUID({i.name}, {interface_vtables.guid_arguments(i.iid)})"
        for i in catalog.interfaces
    )
    return "\n\n".join([part("uuids_about"), part("uuids"), *named, part("uuids_end")]) + "\n"


def generate(catalog: Catalog) -> dict[str, str]:
    return {
        "include/DirectML.h": directml(catalog),
        "include/directml_uuids.h": uuids(catalog),
        **dxgi.generate(catalog),
    }
