"""The C and C++ headers in ``include``: DirectML's, and that of DXGI.

What depends on the catalog is generated; what does not (the Windows types, the explanations) stands in
``parts`` as it appears in the headers.
"""

from __future__ import annotations

from ..catalog import Catalog
from . import declarations, dxgi, interfaces, sizes
from .text import part


def directml(catalog: Catalog) -> str:
    sections = [
        part("about"),
        declarations.constants(catalog.constants),
        part("target"),
        part("windows"),
        part("helpers"),
        declarations.enums(catalog.enums),
        interfaces.forward_declarations(catalog.interfaces),
        declarations.structs([*catalog.structs, *(op.struct for op in catalog.operators)]),
        interfaces.identifiers(catalog.interfaces),
        interfaces.interfaces(catalog.interfaces),
        declarations.functions(catalog.functions),
        sizes.tensor_size(catalog.enums),
        part("end"),
    ]
    return "\n\n".join(sections) + "\n"


def generate(catalog: Catalog) -> dict[str, str]:
    return {"include/DirectML.h": directml(catalog), **dxgi.generate(catalog)}
