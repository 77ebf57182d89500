"""The values of a model under translation, and ONNX's element types as DirectML's."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ..api.enums import DML_TENSOR_DATA_TYPE
from ..descs.data_types import BY_NAME
from ..graph import Expression
from .errors import Refusal

Array: TypeAlias = npt.NDArray[Any]
Sizes: TypeAlias = tuple[int, ...]
# Types that no graph computes with, but as which bytes can be moved.
MOVED_AS = {"FLOAT64": "UINT64"}


@dataclass(eq=False)
class OnnxValue:
    """A tensor with concrete sizes.

    ``array`` has its contents if the host knows them; ``expression`` is packed memory in the graph with as many
    elements. ``inputs`` names the model inputs that it depends on.
    """

    name: str
    dtype: np.dtype[Any]
    shape: Sizes
    array: Array | None = None
    expression: Expression | None = None
    inputs: frozenset[str] = frozenset()
    # For a constant, the graph input that is not OWNED_BY_DML.
    bound: Expression | None = None
    # The tensors of a sequence, which has no elements itself.
    items: tuple[OnnxValue, ...] | None = None
    # Whether this is an optional without an element; one with an element is that element.
    is_nothing: bool = False

    @property
    def is_known(self) -> bool:
        return self.array is not None

    @property
    def size(self) -> int:
        return math.prod(self.shape)


def sequence(items: Iterable[OnnxValue]) -> OnnxValue:
    """A sequence of tensors."""
    return OnnxValue("sequence", np.dtype(object), (), items=tuple(items))


def nothing() -> OnnxValue:
    """An optional without an element."""
    return OnnxValue("optional", np.dtype(object), (), is_nothing=True)


def known(name: str, array: Array) -> OnnxValue:
    return OnnxValue(name, array.dtype, array.shape, array)


@cache
def data_type(dtype: np.dtype[Any]) -> DML_TENSOR_DATA_TYPE:
    """The DirectML type of the elements; booleans are UINT8. Raises ``Refusal`` for types that DirectML lacks."""
    name = "UINT8" if dtype == np.bool_ else dtype.name.upper()
    if name not in BY_NAME:
        # NumPy has ONNX's strings as objects.
        kind = "string" if dtype.hasobject else dtype.name
        raise Refusal(f"DirectML has no tensors of type {kind}")
    return DML_TENSOR_DATA_TYPE(BY_NAME[name])


def in_memory(array: Array) -> Array:
    """``array`` in the NumPy type of its DirectML type: bytes for booleans and 4-bit integers."""
    if array.dtype == np.bool_:
        return array.view(np.uint8)
    if array.dtype.isbuiltin != 1 and array.dtype.name in ("int4", "uint4"):
        return array.astype(array.dtype.name.replace("4", "8"))
    return array


def tensor_sizes(shape: Sizes) -> Sizes:
    """The sizes as a DirectML tensor: a scalar has one dimension."""
    return shape or (1,)


def unique_slices(array: Array, axis: int | None, is_sorted: bool) -> tuple[Array, Array, Array]:
    """Of the slices along an axis that differ, or elements (None): the index of each one's first, which of them each
    slice is, and how often each is there; sorted by their values, or in the order in which they first appear."""
    _, first, inverse, counts = np.unique(array, True, True, True, axis=axis)
    inverse = inverse.reshape(-1)
    if is_sorted:
        return first, inverse, counts
    order = np.argsort(first)
    return first[order], np.argsort(order)[inverse], counts[order]
