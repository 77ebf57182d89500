"""Recorded cases: descs with their inputs and a real library's results, as JSON Lines.

``fields`` has floats in hexadecimal and tensors by data type, sizes, strides and total size; ``inputs`` and ``outputs``
have the elements in C order, in base64. ``refused`` replaces ``outputs`` if the library rejected the desc.
"""

from __future__ import annotations

import base64
import gzip
import json
import zlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..api.enums import DML_TENSOR_DATA_TYPE, DML_TENSOR_FLAGS
from ..descs.build import build_operator_desc
from ..descs.data_types import PREFIX, type_name
from ..descs.operator_desc import OperatorDesc, Record, Scalar
from ..descs.tensor import TensorDesc
from ..operators import SCHEMAS
from ..text.json_reading import read_json

Array = npt.NDArray[Any]


class Case(NamedTuple):
    """A recorded case. ``refused`` is text such as ``0x80070057 at stage 1 CreateOperator``; if empty, there are
    ``outputs``."""

    name: str
    desc: OperatorDesc
    inputs: list[Array | None]
    outputs: list[Array | None] | None
    refused: str = ""


def read_cases(path: str | Path) -> Iterator[Case]:
    """The cases in a file, which may be compressed (``.gz``). Raises ``OSError``, and ``ValueError`` for an invalid
    case."""
    open_file = gzip.open if str(path).endswith(".gz") else open
    with open_file(path, "rb") as lines:
        try:
            for number, line in enumerate(lines, 1):
                yield _case(path, number, line)
        except (EOFError, zlib.error) as error:
            raise ValueError(f"{path}: is damaged ({error})") from None


def _case(path: str | Path, number: int, line: bytes) -> Case:
    try:
        entry = read_json(line)
        if type(entry) is not dict:
            raise ValueError("it must be an object")
        return _decode(entry, number)
    except KeyError as error:
        raise ValueError(f"{path}, line {number}: not a case: {error} is missing or unknown") from None
    except (TypeError, AttributeError, ValueError, OverflowError) as error:
        raise ValueError(f"{path}, line {number}: not a case: {error}") from None


def write_cases(path: str | Path, cases: Iterable[Case]) -> None:
    """Write ``cases`` in the format of ``read_cases``. Raises ``OSError``."""
    open_file = gzip.open if str(path).endswith(".gz") else open
    with open_file(path, "wt", encoding="utf-8") as file:
        for case in cases:
            print(json.dumps(_encode(case)), file=file)


def _decode(entry: dict[str, Any], number: int) -> Case:
    operator, outputs = entry["operator"], entry.get("outputs")
    return Case(
        f"{operator}-{entry.get('seed', 0)}-{entry.get('i', number)}",
        _desc(operator, entry["fields"]),
        [_array(item) for item in entry["inputs"]],
        None if outputs is None else [_array(item) for item in outputs],
        entry.get("refused", ""),
    )


def _array(entry: dict[str, Any] | None) -> Array | None:
    if entry is None:
        return None
    flat: Array = np.frombuffer(base64.b64decode(entry["data"]), entry["dtype"])
    array: Array = flat.reshape(entry["shape"])
    return array


def _desc(operator: str, fields: dict[str, Any]) -> OperatorDesc:
    return build_operator_desc(SCHEMAS[operator], {name: _value(item) for name, item in fields.items()})


def _value(entry: Any) -> Any:
    if isinstance(entry, list):
        return [_value(item) for item in entry]
    if not isinstance(entry, dict):
        return entry
    if "float" in entry:
        return float.fromhex(entry["float"])
    if "operator" in entry:
        return _desc(entry["operator"], entry["fields"])
    if "struct" in entry:
        members = entry["struct"]
        if "raw" in members:
            return Scalar(members["data_type"], bytes(members["raw"]))
        return tuple(map(_value, members.values()))
    tensor = entry["tensor"]
    strides = tensor.get("strides")
    return TensorDesc(
        DML_TENSOR_DATA_TYPE[PREFIX + tensor["data_type"]],
        tuple(tensor["sizes"]),
        None if strides is None else tuple(strides),
        DML_TENSOR_FLAGS(tensor.get("flags", 0)),
        tensor["total_size"],
        tensor.get("alignment", 0),
    )


def _encode(case: Case) -> dict[str, Any]:
    operator, seed, number = case.name.rsplit("-", 2)
    entry: dict[str, Any] = {"operator": operator, "seed": int(seed), "i": int(number)}
    entry["fields"] = _plain(case.desc)["fields"]
    entry["inputs"] = [_plain_array(item) for item in case.inputs]
    if case.outputs is not None:
        entry["outputs"] = [_plain_array(item) for item in case.outputs]
    if case.refused:
        entry["refused"] = case.refused
    return entry


def _plain_array(array: Array | None) -> dict[str, Any] | None:
    if array is None:
        return None
    data = base64.b64encode(np.ascontiguousarray(array).tobytes()).decode()
    return {"dtype": str(array.dtype), "shape": list(array.shape), "data": data}


def _plain(value: Any) -> Any:
    if isinstance(value, TensorDesc):
        tensor = {
            "data_type": type_name(value.data_type),
            "sizes": list(value.sizes),
            "total_size": value.total_size,
        }
        if value.strides is not None:
            tensor["strides"] = list(value.strides)
        for name, number in (("flags", int(value.flags)), ("alignment", value.alignment)):
            if number:
                tensor[name] = number
        return {"tensor": tensor}
    if isinstance(value, OperatorDesc):
        counts = {entry.counted_by for entry in value.struct.fields}
        fields = {name: _plain(item) for name, item in value if name not in counts}
        return {"operator": value.name, "fields": fields}
    if isinstance(value, Scalar):
        return {"struct": {"data_type": int(value.data_type), "raw": list(value.raw)}}
    if isinstance(value, Record):
        return {"struct": {name: _plain(item) for name, item in value}}
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if isinstance(value, bool):
        return value
    return (
        {"float": value.hex()}
        if isinstance(value, float)
        else (int(value) if isinstance(value, int) else value)
    )
