"""Attention: a softmax over products of queries and keys weighs the values."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .backend import backend
from .launch import NativeRun
from .native_arrays import Array, address

FLOAT32, INT32 = np.dtype(np.float32), np.dtype(np.int32)
# As many scores as are held at a time, at least those of one query: few enough to stay in a nearer cache.
SCORES = 1 << 18
# A thread's scores in the native kernel, which has scratch memory for so many threads.
QUERIES_PER_BLOCK = 32
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
    """Write ``softmax(scale * queries x keys^T + bias, masked) x values`` into ``output``, {queries, value size}.

    ``bias`` and ``masked``, the keys to which ``mask_value`` is added, broadcast to {queries, keys}. To a query all
    of whose keys are masked they are as if none were: its softmax is the same, but sums with a large number would lose
    the digits of the scores. With ``past`` the queries follow that many keys, and none sees what comes later. Without
    any keys the output is 0.
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
    """Which keys come after each of the queries, the first of which stands behind ``past`` keys."""
    return np.arange(keys) > past + np.arange(queries)[:, np.newaxis]


class Added(NamedTuple):
    """What is added to scores: FLOAT32 of ``others``, and ``mask_value`` where ``marks``, INT32, are 0, unless all of a
    query are. All are {heads, queries, keys} or None."""

    others: tuple[Array | None, Array | None] = (None, None)
    marks: Array | None = None
    mask_value: float = 0.0


def attend_heads(
    queries: Array,
    keys: Array,
    values: Array,
    output: Array,
    scale: float,
    added: Added,
    scratch: Array,
) -> None:
    """``attend`` of all heads of a batch in the native kernel: {heads, queries, size}, {heads, keys, size} for keys and
    values, all FLOAT32, and the output in rows.

    ``scratch`` is what ``scratch_for`` says for as many heads of these sizes.
    """
    task = backend.native.ffi.new("dml_attention *")
    task.heads, task.queries, task.size = queries.shape
    task.keys, task.value_size = values.shape[1:]
    task.scale, task.mask_value = scale, added.mask_value
    for matrix, x in ((task.q, queries), (task.k, keys), (task.v, values), (task.out, output)):
        matrix.memory = address(x)
        matrix.batch[0], matrix.row, matrix.column = x.strides
    rows = [near(tensor, FLOAT32) for tensor in added.others] + [near(added.marks, INT32)]
    for number, tensor in enumerate(rows):
        if tensor is not None:
            task.head_strides[number], task.row_strides[number], _ = tensor.strides
    task.biases[0:2] = [address_of(tensor) for tensor in rows[:2]]
    task.key_mask = address_of(rows[2])
    task.workers, task.scratch = workers_of(task.heads, task.queries), address(scratch)
    with np.errstate(all="ignore"):
        NativeRun("dml_attention_run", task, keepalive=(queries, keys, values, output, rows, scratch))()


def near(x: Array | None, dtype: np.dtype[Any]) -> Array | None:
    """What lies next to each other along the last dimension."""
    if x is None or (x.dtype == dtype and x.strides[-1] == x.itemsize and x.flags.aligned):
        return x
    return np.ascontiguousarray(x, dtype)


def address_of(x: Array | None) -> int:
    return 0 if x is None else address(x)


def workers_of(heads: int, queries: int) -> int:
    """How many threads are worth scratch memory of their own."""
    return min(MAX_WORKERS, heads * -(-queries // QUERIES_PER_BLOCK))


def scratch_for(heads: int, queries: int, keys: int, size: int, value_size: int) -> int:
    """The bytes of scratch memory that ``attend_heads`` takes."""
    workers = workers_of(heads, queries)
    return int(backend.native.lib.dml_attention_scratch(heads, queries, keys, size, value_size, workers))


def added_by(masked: Array, mask_value: float) -> Array:
    """What is added to scores, {..., queries, keys}: ``mask_value`` where they are ``masked``, nothing where all keys
    of a query are."""
    value = np.where(masked.all(-1, keepdims=True), np.float32(0), np.float32(mask_value))
    return np.asarray(np.where(masked, value, np.float32(0)))
