"""The queries, keys and values of an attention, unstacked."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from typing import Any, Protocol

import numpy as np

from ...kernels.native_arrays import Array

OPERANDS = ("QueryTensor", "KeyTensor", "ValueTensor")
# The operands that each stacked tensor holds, in order.
STACKS = {
    "StackedQueryKeyTensor": (0, 1),
    "StackedKeyValueTensor": (1, 2),
    "StackedQueryKeyValueTensor": (0, 1, 2),
}
Tensors = Mapping[str, "Array | None"]


class Heads(Protocol):
    """Head counts of queries and of keys and values, the head size of queries and keys, and their row lengths."""

    @property
    def heads(self) -> int: ...
    @property
    def key_heads(self) -> int: ...
    @property
    def head_size(self) -> int: ...
    @property
    def hidden(self) -> int: ...
    @property
    def key_hidden(self) -> int: ...


def operands(tensors_by_field: Tensors, sizes: Heads) -> list[Any]:
    """The queries, new keys and new values, {batch, sequence, heads, size}, bias added; None where absent."""
    parts: list[Any] = [None, None, None]
    for name, numbers in STACKS.items():
        stack = tensors_by_field[name]
        if stack is not None:
            for index, number in enumerate(numbers):
                parts[number] = stack[..., index, :]
    for number, (name, heads) in enumerate(zip(OPERANDS, (sizes.heads, sizes.key_heads, sizes.key_heads))):
        alone = tensors_by_field[name]
        if alone is not None:
            row = alone if name == "ValueTensor" else alone[..., : heads * sizes.head_size]
            parts[number] = row.reshape(*row.shape[-3:-1], heads, -1)
    bias = tensors_by_field["BiasTensor"]
    if bias is None:
        return parts
    shares = np.split(bias.reshape(-1), [sizes.hidden, sizes.hidden + sizes.key_hidden])
    with np.errstate(all="ignore"):
        return [
            None if part is None else part + share[: prod(part.shape[2:])].reshape(part.shape[2:])
            for part, share in zip(parts, shares)
        ]


def placed(past: Any, new: Any, present: Array | None) -> tuple[Array, list[tuple[Array, Array]]] | None:
    """``joined`` without lengths, as a view, and the copies, outputs and inputs, that make it: in the memory of
    ``present``, or, of what is not joined, where it lies. None where there is no memory for both."""
    past = None if past is None else past.reshape(past.shape[-4:])
    new = None if new is None else new.swapaxes(1, 2)
    known = [operand for operand in (past, new) if operand is not None]
    if present is None:
        return (known[0], []) if len(known) == 1 else None
    whole = present.reshape(present.shape[-4:])
    starts = np.cumsum([0, *(operand.shape[2] for operand in known)])
    return whole, [(whole[:, :, start:][:, :, : part.shape[2]], part) for start, part in zip(starts, known)]


def joined(past: Any, new: Any, room: int, lengths: Any) -> Any:
    """The present keys or values, {batch, heads, sequence, size}: the past followed by the new ones.

    With ``lengths`` the past of each batch ends at its length, and the present has sequence length ``room``, whose
    remainder keeps the elements of the past, or is 0.
    """
    past = None if past is None else past.reshape(past.shape[-4:])
    new = None if new is None else new.swapaxes(1, 2)
    known = [operand for operand in (past, new) if operand is not None]
    if lengths is None:
        return known[0] if len(known) == 1 else np.concatenate(known, axis=2)
    batch, heads, _, size = known[0].shape
    present = np.zeros((batch, heads, room, size), known[0].dtype)
    if past is not None:
        common = min(room, past.shape[2])
        present[:, :, :common] = past[:, :, :common]
    if new is not None:
        for target, part, length in zip(present, new, lengths):
            target[:, length : length + part.shape[1]] = part
    return present
