"""``DMLCalcBufferTensorSize``: its data types come from the catalog."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby
from pathlib import Path

from ..catalog import Enum, EnumValue
from .gate import gated

TEMPLATE = Path(__file__).with_name("parts") / "tensor_size.h"


def bits(value: EnumValue) -> int:
    """The width at the end of a data type's name; 0 for a type without one."""
    match = re.search(r"\d+$", value.name)
    return int(match[0]) if match else 0


def tensor_size(enums: Iterable[Enum]) -> str:
    data_types = next(enum for enum in enums if enum.name == "DML_TENSOR_DATA_TYPE")
    sized = sorted((value for value in data_types.values if bits(value)), key=bits, reverse=True)
    cases = []
    for (width, since), group in groupby(sized, key=lambda value: (bits(value), value.since)):
        labels = "\n".join(f"    case {value.name}:" for value in group)
        cases.append((since, f"{labels}\n        bits = {width};\n        break;"))
    return TEMPLATE.read_text(encoding="utf-8").rstrip().replace("    @cases@", gated(cases))
