"""What Microsoft's library (DirectML 1.13) computed of random descs, recorded: a JSON object a line.

``fields`` has floats in hexadecimal and tensors by data type, sizes, strides and total size; ``inputs`` and ``outputs``
have the elements in C order, in base64. ``refused`` is there instead of ``outputs`` where the library took no desc.
"""

from __future__ import annotations

import base64
import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from directml_py.api.enums import DML_TENSOR_DATA_TYPE, DML_TENSOR_FLAGS
from directml_py.descs import TensorDesc
from directml_py.descs.build import build_operator_desc
from directml_py.descs.values import Scalar
from directml_py.operators import SCHEMAS

FILE = Path(__file__).parent / "directml_1_13_cases.jsonl.gz"
# The recording filled outputs with this byte: it is still there where the library wrote nothing.
UNWRITTEN = 0xCD


class Case(NamedTuple):
    name: str
    operator: str
    desc: Any
    inputs: list[Any]
    outputs: list[Any] | None
    refused: str


def cases(file: Path = FILE) -> Iterator[Case]:
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        for line in lines:
            entry = json.loads(line)
            outputs = None if "outputs" not in entry else [_array(one) for one in entry["outputs"]]
            yield Case(
                f"{entry['operator']}-{entry['seed']}-{entry['i']}",
                entry["operator"],
                _desc(entry["operator"], entry["fields"]),
                [_array(one) for one in entry["inputs"]],
                outputs,
                entry.get("refused", ""),
            )


def _array(entry: Any) -> Any:
    if entry is None:
        return None
    data = np.frombuffer(base64.b64decode(entry["data"]), entry["dtype"])
    return data.reshape(entry["shape"])


def _desc(operator: str, fields: dict[str, Any]) -> Any:
    return build_operator_desc(SCHEMAS[operator], {name: _value(one) for name, one in fields.items()})


def _value(entry: Any) -> Any:
    if isinstance(entry, list):
        return [_value(one) for one in entry]
    if not isinstance(entry, dict):
        return entry
    if "float" in entry:
        return float.fromhex(entry["float"]) if "0x" in entry["float"] else float(entry["float"])
    if "operator" in entry:
        return _desc(entry["operator"], entry["fields"])
    if "struct" in entry and "raw" in entry["struct"]:
        return Scalar(entry["struct"]["data_type"], bytes(entry["struct"]["raw"]))
    if "struct" in entry:
        return tuple(map(_value, entry["struct"].values()))
    tensor = entry["tensor"]
    strides = tensor.get("strides")
    return TensorDesc(
        DML_TENSOR_DATA_TYPE[f"DML_TENSOR_DATA_TYPE_{tensor['data_type']}"],
        tuple(tensor["sizes"]),
        None if strides is None else tuple(strides),
        DML_TENSOR_FLAGS(tensor.get("flags", 0)),
        tensor["total_size"],
        tensor.get("alignment", 0),
    )
