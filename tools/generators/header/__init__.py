"""``include/DirectML.h``: the C and C++ header.

What depends on the catalog is generated; what does not (the Windows types, the explanations) stands in
``parts`` as it appears in the header.
"""

from __future__ import annotations

from pathlib import Path

from ..catalog import Catalog
from . import declarations, interfaces, sizes

PARTS = Path(__file__).with_name("parts")


def part(name: str) -> str:
    return (PARTS / f"{name}.h").read_text(encoding="utf-8").rstrip()


def generate(catalog: Catalog) -> dict[str, str]:
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
    return {"include/DirectML.h": "\n\n".join(sections) + "\n"}
