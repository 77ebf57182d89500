"""Value semantics of ctypes structs: repr, equality, deep copies and pickling.

A struct's value is what it decodes to; structs with decoding faults are neither copied nor pickled.
"""

from __future__ import annotations

import copy
import ctypes
from functools import cache
from typing import Any

from ..abi.interface import IUnknown
from ..abi.structure import Structure, layout_of
from ..text.html import HTML, join, table, text
from .decode import Decoded, decode_struct
from .encode import encode, encode_tensor
from .operator_desc import Record
from .tensor import TensorDesc
from .types_by_name import ctypes_class, struct_schema

FOLLOWED = frozenset({"pointer", "array", "variant", "bytes", "string"})


class StructValues:
    """The implementation behind ``Structure``'s methods."""

    def describe(self, struct: Structure) -> str:
        """The ``repr``: that of the decoded struct, with its faults."""
        decoded = _decoded(struct)
        if decoded is None:
            return f"<{type(struct).__name__}>"
        text = f"<{type(struct).__name__}>" if decoded.desc is None else repr(decoded.desc)
        return f"{text} <{_text(decoded)}>" if decoded.faults else text

    def html(self, struct: Structure) -> str:
        decoded = _decoded(struct)
        if decoded is None or decoded.desc is None:
            return text(self.describe(struct))
        shown = HTML(decoded.desc._repr_html_())
        if not decoded.faults:
            return shown
        rows = [(fault.path, fault.text) for fault in decoded.faults]
        return join([shown, table("What cannot be read", rows)])

    def alike(self, struct: Structure, other: Structure) -> bool:
        """Equality of decoded values; floats compare by their bits."""
        return bytes(struct) == bytes(other) or (
            struct_schema(layout_of(type(struct)).__name__) is not None
            and _decoded(struct) == _decoded(other)
        )

    def duplicate(self, struct: Structure) -> Structure:
        """A deep copy; interfaces, and addresses of memory without a size, are copied as they are."""
        decoded = _decoded(struct)
        name = layout_of(type(struct)).__name__
        if decoded is None or not _follows(name):
            return copy.copy(struct)
        return _checked(struct, decoded, "copied")

    def reduce(self, struct: Structure) -> tuple[Any, ...]:
        """For pickling. Raises ``TypeError``, which names the field, for values tied to this process."""
        decoded = _decoded(struct)
        if decoded is None:
            raise TypeError(f"{type(struct).__name__} cannot be pickled")
        _check_portable(decoded.desc, type(struct).__name__)
        _checked(struct, decoded, "pickled")
        return restored, (type(struct), decoded.desc)


VALUES = StructValues()


def restored(kind: type[Structure], value: Any) -> Structure:
    """The struct of type ``kind`` that decodes to ``value``."""
    struct = kind.__new__(kind)
    struct._take(_encoded(layout_of(kind), value))
    return struct


def _encoded(kind: type[Any], value: Any) -> Any:
    if value is None:
        return kind()
    if isinstance(value, TensorDesc):
        return encode_tensor(value)
    struct = encode(value)
    return struct if isinstance(struct, kind) else kind(value.schema.value, struct)


def _decoded(struct: Structure) -> Decoded | None:
    """None for a struct that no schema describes."""
    # A subclass, such as a helper of d3dx12.h, has the schema of its base struct.
    kind: Any = layout_of(type(struct))
    if struct_schema(kind.__name__) is None:
        return None
    return decode_struct(ctypes.cast(ctypes.byref(struct), ctypes.POINTER(kind)), kind.__name__)


def _checked(struct: Structure, decoded: Decoded, done: str) -> Structure:
    """A copy encoded from the decoded struct. Raises ``TypeError`` if there are faults."""
    copy: Structure = _encoded(layout_of(type(struct)), decoded.desc)
    if decoded.faults and _decoded(copy) != decoded:
        raise TypeError(f"{type(struct).__name__} cannot be {done}: {_text(decoded)}")
    return copy


def _text(decoded: Decoded) -> str:
    return "; ".join(map(str, decoded.faults))


@cache
def _follows(name: str) -> bool:
    """Whether decoding the struct ``name`` follows pointers."""
    schema = struct_schema(name)
    assert schema is not None, name
    return any(
        entry.kind in FOLLOWED or (entry.kind in ("struct", "union") and _follows(entry.type))
        for entry in schema.fields
    )


def _check_portable(value: Any, path: str) -> None:
    if isinstance(value, tuple):
        for index, item in enumerate(value):
            _check_portable(item, f"{path}[{index}]")
    if not isinstance(value, Record):
        return
    for entry, (name, item) in zip(value.struct.fields, value):
        where = f"{path}.{name}"
        if isinstance(item, IUnknown):
            raise TypeError(f"{where} is an {type(item).__name__}, which cannot be pickled")
        if (entry.kind == "address" and item) or (
            entry.kind == "union" and isinstance(item, bytes) and _has_addresses(entry.type) and any(item)
        ):
            raise TypeError(f"{where} holds an address, which cannot be pickled")
        _check_portable(item, where)


@cache
def _has_addresses(name: str) -> bool:
    """Whether the struct or union ``name`` has pointers, those to interfaces included."""
    kind = ctypes_class(name)
    return bool(getattr(kind, "_interfaces_", ())) or any(
        hasattr(ctype, "contents")
        or (issubclass(ctype, (ctypes.Structure, ctypes.Union)) and _has_addresses(ctype.__name__))
        for _, ctype, *_ in kind._fields_
    )
