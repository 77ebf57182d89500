"""Build digests: whether compiled C code has the declarations of the Python package, which calls it by address and
layout.

A cffi module knows its declarations: types with their fields, functions with their parameters, constants. Their digest
is written to the Python package when the declarations change; a module with a different digest was built from other
sources.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Any

REINSTALL = "install the package again, from a clone with: pip install -e ."


def digest(lines: Iterable[str]) -> str:
    """A number for the declarations, independent of their order and of spelling variants in C."""
    text = "\n".join(sorted(line.replace("struct ", "") for line in lines))
    return f"{zlib.crc32(text.replace(' const', '').replace('(void)', '()').encode()):08x}"


def declared_by(ffi: Any, lib: Any) -> str:
    """The digest of a compiled module's declarations."""
    lines = []
    for name in dir(lib):
        value = getattr(lib, name)
        lines.append(f"{name} {value}" if isinstance(value, int) else f"{name} {ffi.typeof(value).cname}")
    return digest([*lines, *types_of(ffi)])


def types_of(ffi: Any) -> Iterable[str]:
    """The types declared under a name, structs with their fields."""
    for name in ffi.list_types()[0]:
        kind = ffi.typeof(name)
        fields = kind.fields if kind.kind == "struct" else None
        members = [f"{field} {entry.type.cname}" for field, entry in fields] if fields else [kind.cname]
        yield f"{name} {'; '.join(members)}"
