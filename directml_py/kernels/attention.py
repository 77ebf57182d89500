"""Scaled dot-product attention."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .backend import backend
from .launch import NativeRun
from .native_arrays import Array, Run, address

FLOAT32, INT32 = np.dtype(np.float32), np.dtype(np.int32)
# The number of scores held at a time, at least those of one query: few enough to stay in a near cache.
SCORES = 1 << 18
MAX_WORKERS = 16


def attend(
    queries: Array,
    keys: Array,
    values: Array,
    output: Array,
    scale: float,
    bias: Array | None = None,
    masked: Array | None = None,
    mask_value: float = 0.0,
    past: int | None = None,
) -> None:
    """Store ``softmax(scale * queries x keys^T + bias, masked) x values`` in ``output``, {queries, value size}.

    ``bias`` and ``masked``, the keys to which ``mask_value`` is added, broadcast to {queries, keys}. A query all of
    whose keys are masked is computed as if none were: its softmax is the same, but adding a large number would lose
    digits of the scores. With ``past``, the queries follow that many keys, and each is causally masked from later keys.
    Without any keys the output is 0.
    """
    count, total = len(queries), len(keys)
    if not total:
        output[...] = 0
        return
    sizes = (count, total)
    bias = None if bias is None else np.broadcast_to(bias, sizes)
    masked = None if masked is None else np.broadcast_to(masked, sizes)
    rows = max(1, SCORES // total)
    for start in range(0, count, rows):
        block = slice(start, start + rows)
        scores = np.matmul(queries[block], keys.T)
        scores *= scale
        if bias is not None:
            scores += bias[block]
        later = None if past is None else later_keys(past + start, *scores.shape)
        if masked is not None:
            hidden = masked[block] if later is None else masked[block] | later
            np.add(scores, mask_value, out=scores, where=masked[block] & ~hidden.all(1, keepdims=True))
        if later is not None:
            scores[later] = -np.inf
        scores -= scores.max(1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(1, keepdims=True)
        output[block] = np.matmul(scores, values)


def later_keys(past: int, queries: int, keys: int) -> Array:
    """The causal mask: which keys come after each query, the first of which follows ``past`` keys."""
    return np.arange(keys) > past + np.arange(queries)[:, np.newaxis]


class Added(NamedTuple):
    """The addends of scores: FLOAT32 ``others``, and ``mask_value`` where ``marks`` (INT32) are 0, unless they are 0
    for all keys of a query. All are {heads, queries, keys} or None."""

    others: tuple[Array | None, Array | None] = (None, None)
    marks: Array | None = None
    mask_value: float = 0.0


def bound_heads(
    queries: Array,
    keys: Array,
    values: Array,
    output: Array,
    scale: float,
    added: Added,
    scratch: Array,
) -> Run:
    """The call of ``attend`` for all heads of a batch in the native kernel, as often as wanted if what is added is
    ``near``: {heads, queries, size}, {heads, keys, size} for keys and values, all FLOAT32, and an output with
    contiguous rows.

    ``scratch`` has the size that ``scratch_for`` returns for as many heads of these sizes.
    """
    task = backend.native.ffi.new("dml_attention *")
    task.heads, task.queries, task.size = queries.shape
    task.keys, task.value_size = values.shape[1:]
    task.scale, task.mask_value = scale, added.mask_value
    for matrix, x in ((task.q, queries), (task.k, keys), (task.v, values), (task.out, output)):
        matrix.memory = address(x)
        matrix.batch[0], matrix.row, matrix.column = x.strides
    with np.errstate(all="ignore"):
        rows = [near(tensor, FLOAT32) for tensor in added.others] + [near(added.marks, INT32)]
    for number, tensor in enumerate(rows):
        if tensor is not None:
            task.head_strides[number], task.row_strides[number], _ = tensor.strides
    task.biases[0:2] = [address_of(tensor) for tensor in rows[:2]]
    task.key_mask = address_of(rows[2])
    task.workers, task.scratch = workers_of(task.heads, task.queries), address(scratch)
    return NativeRun("dml_attention_run", task, keepalive=(queries, keys, values, output, rows, scratch))


def near(x: Array | None, dtype: np.dtype[Any]) -> Array | None:
    """The array with a contiguous last dimension, copied if necessary."""
    if x is None or (x.dtype == dtype and x.strides[-1] == x.itemsize and x.flags.aligned):
        return x
    return np.ascontiguousarray(x, dtype)


def address_of(x: Array | None) -> int:
    return 0 if x is None else address(x)


def workers_of(heads: int, queries: int) -> int:
    """The number of threads that are worth scratch memory of their own."""
    blocks = -(-queries // int(backend.native.lib.DML_ATTENTION_MC))
    return min(MAX_WORKERS, heads * blocks)


def scratch_for(heads: int, queries: int, keys: int, size: int, value_size: int) -> int:
    """The bytes of scratch memory that ``bound_heads`` needs."""
    workers = workers_of(heads, queries)
    return int(backend.native.lib.dml_attention_scratch(heads, queries, keys, size, value_size, workers))


def added_by(masked: Array, mask_value: float) -> Array:
    """The addends of scores, {..., queries, keys}: ``mask_value`` where they are ``masked``, 0 where all keys of a
    query are masked."""
    value = np.where(masked.all(-1, keepdims=True), np.float32(0), np.float32(mask_value))
    return np.asarray(np.where(masked, value, np.float32(0)))
