"""HTML tables of decoded values, for notebooks."""

from __future__ import annotations

from collections.abc import Iterator
from enum import Enum
from typing import TYPE_CHECKING, Any

from ..abi.schema import FieldSchema
from ..text.html import HTML, join, table
from .data_types import type_name
from .format import braces, format_value

if TYPE_CHECKING:
    from .operator_desc import Record
    from .tensor import TensorDesc

HEADER = ("Field", "Value")


def tensor_html(tensor: TensorDesc) -> HTML:
    """The fields of the DML_BUFFER_TENSOR_DESC, and derived values."""
    strides = "none: packed" if tensor.strides is None else braces(tensor.strides)
    least = (
        "" if tensor.total_size == tensor.minimum_size else f" (at least {tensor.minimum_size:,} are needed)"
    )
    rows = [
        ("DataType", type_name(tensor.data_type)),
        ("Sizes", f"{braces(tensor.sizes)}: {tensor.element_count:,} elements"),
        ("Strides", strides),
        ("Flags", getattr(tensor.flags, "name", None) or str(int(tensor.flags))),
        ("TotalTensorSizeInBytes", f"{tensor.total_size:,}{least}"),
        ("GuaranteedBaseOffsetAlignment", f"{tensor.alignment:,}"),
    ]
    return table("DML_BUFFER_TENSOR_DESC", rows, HEADER)


def record_html(record: Record, caption: str = "") -> HTML:
    """One row per field; tensors take one line, nested records a nested table."""
    counts = {entry.counted_by for entry in record.struct.fields if entry.counted_by}
    rows = [
        row
        for entry, (_, value) in zip(record.struct.fields, record)
        if entry.name not in counts
        for row in _rows(entry, value)
    ]
    return table(caption or record.struct.name, rows, HEADER)


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
        return record_html(value)
    return value.name if isinstance(value, Enum) and value.name else format_value(entry, value)


def with_faults(html: HTML, faults: tuple[Any, ...]) -> HTML:
    """``html`` followed by the decoding faults."""
    if not faults:
        return html
    return join([html, table("What cannot be read", [(fault.path, fault.text) for fault in faults])])
