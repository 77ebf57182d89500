"""Attention masks: the keys that MaskTensor masks, by its DML_MULTIHEAD_ATTENTION_MASK_TYPE."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from ...api.enums import (
    DML_MULTIHEAD_ATTENTION_MASK_TYPE_BOOLEAN,
    DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_SEQUENCE_END_START,
)
from ...kernels.attention import added_by
from ...kernels.native_arrays import Array


class Scores(Protocol):
    """The sizes of the scores to be masked, and the count of new keys."""

    @property
    def batch(self) -> int: ...
    @property
    def heads(self) -> int: ...
    @property
    def queries(self) -> int: ...
    @property
    def keys(self) -> int: ...


class Marks:
    """BOOLEAN: one element per score, of which only 0 masks; the page has 0 and 1.

    A mask as long as the new keys applies to those, which follow the past keys.
    """

    def __init__(self, mask: Array, sizes: Scores) -> None:
        columns = mask.shape[-1]
        scores = (sizes.batch, sizes.heads, sizes.queries, columns)
        self.marks = np.broadcast_to(mask.reshape(mask.shape[-4:]), scores)
        self.new_keys = columns if columns == sizes.keys else None

    def masked(self, batch: int, head: int, keys: int) -> Array:
        """Which of the first ``keys`` keys are masked from a head's queries: {queries, keys} or {queries, 1}."""
        marks: Array = self.marks[batch, head, :, :keys] == 0
        if self.new_keys is None or self.new_keys == keys:
            return marks
        masked = np.zeros((len(marks), keys), bool)
        masked[:, keys - self.new_keys :] = marks
        return masked

    def added(self, batch: int, keys: int, value: float) -> Array | None:
        """The addend to the scores of all heads of a batch, {1 or heads, queries, keys}; None where ``of_all`` gives
        the mask."""
        if self.of_all(batch, keys) is not None:
            return None
        # All heads often have the same mask.
        heads = range(len(self.marks[batch]) if self.marks.strides[1] else 1)
        return added_by(np.stack([self.masked(batch, head, keys) for head in heads]), value)

    def of_all(self, batch: int, keys: int) -> Array | None:
        """The mask of a batch, {heads, queries, keys}, 0 where masked; None if it covers only some keys."""
        marks: Array = self.marks[batch]
        return marks if keys == marks.shape[-1] else None


class Bounds:
    """The other types: the end of each batch's keys, and for KEY_SEQUENCE_END_START their start.

    For KEY_QUERY_SEQUENCE_LENGTH_START_END the page names the parts but not their effect. ONNX Runtime, whose format it
    is, masks by key length; its starts and ends locate each batch in the concatenated rows of all batches, which the
    tensor sizes already give here.
    """

    def __init__(self, kind: int, mask: Array, batch: int) -> None:
        bounds = mask.reshape(-1)
        self.ends = bounds[:batch]
        has_starts = kind == DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_SEQUENCE_END_START
        self.starts = bounds[batch:] if has_starts else np.zeros_like(self.ends)

    def masked(self, batch: int, head: int, keys: int) -> Array:
        """Which of the first ``keys`` keys are masked from all queries of the batch."""
        indices = np.arange(keys)
        return np.asarray((indices < self.starts[batch]) | (indices >= self.ends[batch]))

    def added(self, batch: int, keys: int, value: float) -> Array:
        """The addend to the scores of all heads and queries of a batch, {keys}."""
        return added_by(self.masked(batch, 0, keys), value)

    def of_all(self, batch: int, keys: int) -> None:
        """None: there is no mask per score."""


def mask_of(kind: int, mask: Array | None, sizes: Scores) -> Marks | Bounds | None:
    """MaskTensor decoded by its type; None without one."""
    if mask is None:
        return None
    if kind == DML_MULTIHEAD_ATTENTION_MASK_TYPE_BOOLEAN:
        return Marks(mask, sizes)
    return Bounds(kind, mask, sizes.batch)
