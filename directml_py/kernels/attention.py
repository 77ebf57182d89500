"""Attention: a softmax over products of queries and keys weighs the values."""

from __future__ import annotations

from math import ceil, prod

import numpy as np

from .backend import backend
from .binding import Array, address
from .product import multiply

# As many scores as are held at a time, at least those of one query: few enough to stay in a nearer cache.
SCORES = 1 << 18
# The same of several heads at a time: enough for all threads.
SCORES_OF_HEADS = 1 << 19


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
        some = slice(start, start + rows)
        scores = np.matmul(queries[some], keys.T)
        scores *= scale
        if bias is not None:
            scores += bias[some]
        later = None if past is None else later_keys(past + start, *scores.shape)
        if masked is not None:
            hidden = masked[some] if later is None else masked[some] | later
            np.add(scores, mask_value, out=scores, where=masked[some] & ~hidden.all(1, keepdims=True))
        if later is not None:
            scores[later] = -np.inf
        scores -= scores.max(1, keepdims=True)
        np.exp(scores, out=scores)
        scores /= scores.sum(1, keepdims=True)
        output[some] = np.matmul(scores, values)


def later_keys(past: int, queries: int, keys: int) -> Array:
    """Which keys come after each of the queries, the first of which stands behind ``past`` keys."""
    return np.arange(keys) > past + np.arange(queries)[:, np.newaxis]


def attend_heads(
    queries: Array,
    keys: Array,
    values: Array,
    output: Array,
    scale: float,
    bias: Array | None,
    added: Array | None,
    scratch: Array,
) -> None:
    """``attend`` of all heads of a batch: {heads, queries, size}, {heads, keys, size} for keys and values.

    ``bias`` and ``added`` are {heads, queries, keys}; ``scratch`` is what ``scores_for`` says.
    """
    heads, count, total = len(queries), queries.shape[1], keys.shape[1]
    number, rows = block_of(heads, count, total)
    memory = scratch[: 4 * number * rows * total].view(np.float32)
    for head_block, row_block in np.ndindex(ceil(heads / number), ceil(count / rows)):
        head, row = head_block * number, row_block * rows
        some = slice(head, head + number)
        place = some, slice(row, row + rows)
        shape = (min(number, heads - head), min(rows, count - row), total)
        scores = memory[: prod(shape)].reshape(shape)
        multiply(queries[place], keys[some].swapaxes(1, 2), scores)()
        weigh(scores, scale, *(None if one is None else one[place] for one in (bias, added)))
        multiply(scores, values[some], output[place])()


def weigh(scores: Array, scale: float, bias: Array | None, added: Array | None) -> None:
    """The softmax of scaled scores {heads, queries, keys} in their place, with FLOAT32 added to them."""
    ffi, lib = backend.native.ffi, backend.native.lib
    task = ffi.new("dml_weights *")
    task.heads, task.rows, task.count = scores.shape
    task.scores, task.scale = address(scores), scale
    others = [None if one is None else together(one) for one in (bias, added)]
    for number, one in enumerate(others):
        if one is not None:
            task.others[number] = address(one)
            task.head_steps[number], task.row_steps[number], _ = one.strides
    lib.dml_weights_run(task)


def together(x: Array) -> Array:
    """What lies next to each other along the last dimension."""
    is_near = x.dtype == np.float32 and x.strides[-1] == x.itemsize and x.flags.aligned
    return x if is_near else np.ascontiguousarray(x, np.float32)


def block_of(heads: int, queries: int, keys: int) -> tuple[int, int]:
    """How many heads are worked on at a time, and how many queries of each."""
    rows = min(queries, max(1, SCORES_OF_HEADS // keys))
    return min(heads, max(1, SCORES_OF_HEADS // (rows * keys))), rows


def scores_for(heads: int, queries: int, keys: int) -> int:
    """The bytes of scratch memory that ``attend_heads`` takes."""
    return 4 * prod((*block_of(heads, queries, keys), keys))


def added_by(masked: Array, mask_value: float) -> Array:
    """What is added to scores, {..., queries, keys}: ``mask_value`` where they are ``masked``, nothing where all keys
    of a query are."""
    value = np.where(masked.all(-1, keepdims=True), np.float32(0), np.float32(mask_value))
    return np.asarray(np.where(masked, value, np.float32(0)))
