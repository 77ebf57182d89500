"""One operator's corner cases: rows of inputs and, last, the expected output."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..helpers import numpy_type


class Limit(NamedTuple):
    """The smallest or largest finite value of a row's type."""

    name: str


LEAST, MOST = Limit("min"), Limit("max")


class Corner(NamedTuple):
    """``rows`` hold for each of ``kinds``, the types of all tensors but those in ``types``, by position: inputs, then
    the output."""

    operator: str
    kinds: Sequence[str]
    rows: Sequence[Sequence[Any]]
    attributes: Mapping[str, Any] = {}
    types: Mapping[int, str] = {}

    def columns(self, kind: str) -> list[Any]:
        """An array for each input and for the output."""
        types = [self.types.get(position, kind) for position in range(len(self.rows[0]))]
        return [column(name, values) for name, values in zip(types, zip(*self.rows))]


def column(name: str, values: Sequence[Any]) -> Any:
    dtype = numpy_type(name)
    limits = np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype)
    with np.errstate(over="ignore", under="ignore"):
        return np.array(
            [getattr(limits, one.name) if isinstance(one, Limit) else one for one in values], dtype
        )
