"""Decoded descs: immutable records with their schemas."""

from __future__ import annotations

import struct as _struct
from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ..abi.schema import FieldSchema, OperatorSchema, Role, StructSchema
from ..api import enums
from ..api.schema_data import OPERATORS, STRUCTS
from ..late import lazy, loading
from .data_types import data_type_of, type_name
from .format import format_value
from .tensor import TensorDesc
from .types_by_name import member_name

if TYPE_CHECKING:
    from ..text.html import HTML


class Scalar(NamedTuple):
    """A DML_SCALAR_UNION with the data type that selects its member."""

    data_type: int
    raw: bytes

    @property
    def value(self) -> int | float | None:
        """The number; None if the data type is unknown."""
        code = data_type_of(self.data_type).code
        if not code:
            return None
        number: int | float = _struct.unpack_from(f"={code}", self.raw)[0]
        return number

    def __repr__(self) -> str:
        return f"{type_name(self.data_type)} {self.value}"


def exact(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """``values`` with every float replaced by its bits."""
    return tuple(
        _struct.pack("=d", value)
        if isinstance(value, float)
        else exact(value)
        if type(value) is tuple
        else value
        for value in values
    )


RecordT = TypeVar("RecordT", bound="Record")


class Record:
    """An immutable struct: its fields are attributes with the C names.

    Pointers to structs and tensors become the value itself or None, arrays tuples, enums their members (or plain
    numbers if unknown), BOOLs bools.
    """

    __slots__ = ("__dict__", "_values", "struct")

    struct: StructSchema
    _values: tuple[Any, ...]

    def __init__(self, struct: StructSchema, values: tuple[Any, ...]) -> None:
        object.__setattr__(self, "struct", struct)
        object.__setattr__(self, "_values", values)
        # Fields are read far more often than records are created.
        self.__dict__.update(zip(struct.index, values))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        raise AttributeError(f"{self.struct.name} has no field {name}")

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"{self.struct.name} is immutable")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"{self.struct.name} is immutable")

    @lazy
    def _key(self) -> tuple[Any, ...]:
        """The key for equality and hashing: floats compare by their bits, so that 0.0 != -0.0 and NaN == NaN."""
        return exact(self._values) if self.struct.has_floats else self._values

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self.struct.name == other.struct.name and self._key == other._key

    def __hash__(self) -> int:
        return self._hash

    @lazy
    def _hash(self) -> int:
        return hash((self.struct.name, self._key))

    def __reduce__(self) -> tuple[Any, ...]:
        return _plain_record, (self.struct.name, self._values)

    def __copy__(self: RecordT) -> RecordT:
        return self

    def __deepcopy__(self: RecordT, memo: object) -> RecordT:
        return self

    def replace(self: RecordT, **changes: Any) -> RecordT:
        """A copy with some fields replaced, by values in any form that the graph builder takes.

        Counts follow from their arrays. Raises ``TypeError`` and ``ValueError`` that name the field.
        """
        with loading:
            from .build import replaced
        return replaced(self, changes)

    __replace__ = replace

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        """The fields as (name, value), in C order."""
        return zip(self.struct.index, self._values)

    def __repr__(self) -> str:
        return _text(self)

    def _repr_html_(self) -> str:
        return _html(self)


class TensorSlot(NamedTuple):
    """One tensor of an operator desc: its path (``InputTensors[1]``), its field and its desc (None if absent)."""

    path: str
    field: str
    tensor: TensorDesc | None


class OperatorDesc(Record):
    """A decoded operator desc."""

    __slots__ = ("schema",)

    schema: OperatorSchema

    def __init__(self, schema: OperatorSchema, values: tuple[Any, ...]) -> None:
        super().__init__(schema.struct, values)
        object.__setattr__(self, "schema", schema)

    def __reduce__(self) -> tuple[Any, ...]:
        return _operator_desc, (self.schema.value, self._values)

    @property
    def type(self) -> enums.DML_OPERATOR_TYPE:
        return enums.DML_OPERATOR_TYPE(self.schema.value)

    @property
    def name(self) -> str:
        return self.schema.name

    @lazy
    def inputs(self) -> tuple[TensorSlot, ...]:
        """The input tensors in desc order, absent optional ones included, arrays flattened."""
        return self._slots("input")

    @lazy
    def outputs(self) -> tuple[TensorSlot, ...]:
        """The output tensors in desc order, absent optional ones included, arrays flattened."""
        return self._slots("output")

    def _slots(self, role: Role) -> tuple[TensorSlot, ...]:
        slots: list[TensorSlot] = []
        for entry in self.struct.tensors:
            if entry.role != role:
                continue
            value = self.__dict__[entry.name]
            if isinstance(value, tuple):
                slots += (TensorSlot(f"{entry.name}[{i}]", entry.name, t) for i, t in enumerate(value))
            else:
                slots.append(TensorSlot(entry.name, entry.name, value))
        return tuple(slots)


def _text(record: Record) -> str:
    """``DML_JOIN_OPERATOR_DESC(InputTensors=[FLOAT32 {1,1,2,3}], OutputTensor=…, Axis=3)``; counts are omitted."""
    counts = {entry.counted_by for entry in record.struct.fields if entry.counted_by}
    parts = [
        f"{member_name(entry, value)}={format_value(entry, value)}"
        for entry, (_, value) in zip(record.struct.fields, record)
        if entry.name not in counts
    ]
    return f"{record.struct.name}({', '.join(parts)})"


def summary(desc: OperatorDesc) -> str:
    """``JOIN FLOAT32 {1,2}, FLOAT32 {1,3} -> FLOAT32 {1,5}``: the operator and its tensors."""
    inputs, outputs = (
        ", ".join(str(slot.tensor) for slot in slots if slot.tensor is not None)
        for slots in (desc.inputs, desc.outputs)
    )
    return " ".join(part for part in (desc.name, inputs, f"-> {outputs}" if outputs else "") if part)


def _html(record: Record) -> HTML:
    """One row per field; tensors take one line, nested records a nested table."""
    with loading:
        from ..text.html import FIELD_VALUE, table
    counts = {entry.counted_by for entry in record.struct.fields if entry.counted_by}
    rows = [
        row
        for entry, (_, value) in zip(record.struct.fields, record)
        if entry.name not in counts
        for row in _rows(entry, value)
    ]
    return table(record.struct.name, rows, FIELD_VALUE)


def _rows(entry: FieldSchema, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, tuple) and any(hasattr(element, "_repr_html_") for element in value):
        for index, element in enumerate(value):
            yield f"{entry.name}[{index}]", _cell(entry, element)
    else:
        yield entry.name, _cell(entry, value)


def _cell(entry: FieldSchema, value: Any) -> str:
    if value is None:
        return "null"
    # A tensor's repr fits one line.
    if hasattr(value, "struct"):
        return _html(value)
    return value.name if isinstance(value, Enum) and value.name else format_value(entry, value)


def _plain_record(name: str, values: tuple[Any, ...]) -> Record:
    return Record(STRUCTS[name], values)


def _operator_desc(operator: int, values: tuple[Any, ...]) -> OperatorDesc:
    return OperatorDesc(OPERATORS[operator], values)
