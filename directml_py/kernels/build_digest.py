"""Whether C code that was compiled is that of the Python beside it, which calls it by address and layout.

A module of cffi's knows its declarations: types with their fields, functions with their parameters, constants. A digest
of them is written beside Python when the declarations change; a module of another digest was built from other sources.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from typing import Any

REINSTALL = "install the package again, from a clone with: pip install -e ."


def digest(lines: Iterable[str]) -> str:
    """A number for the declarations, in whatever order they come and however C writes them."""
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
    """The types that are declared by a name, structs with their fields."""
    for name in ffi.list_types()[0]:
        kind = ffi.typeof(name)
        fields = kind.fields if kind.kind == "struct" else None
        members = [f"{field} {entry.type.cname}" for field, entry in fields] if fields else [kind.cname]
        yield f"{name} {'; '.join(members)}"
