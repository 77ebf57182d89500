"""Attention: a softmax over products of queries and keys weighs the values."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from math import prod

import numpy as np

from .binding import Array
from .map import map_elements
from .product import multiply
from .row_loops import softmax

# As many scores as are held at a time, at least those of one query: few enough to stay in a nearer cache.
SCORES = 1 << 18
# The same of several heads at a time: enough for all threads.
SCORES_OF_HEADS = 1 << 18
Finish = Callable[..., Array]


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


def finish_scores(scale: float) -> Finish:
    """What becomes of products before their softmax: a function of these, the bias and what masks add."""

    def finish(products: Array, bias: Array | None, added: Array | None) -> Array:
        scores = products * scale
        if bias is not None:
            scores = scores + bias
        return scores if added is None else scores + added

    return finish


def attend_heads(
    queries: Array,
    keys: Array,
    values: Array,
    output: Array,
    finish: Finish,
    bias: Array | None,
    added: Array | None,
    scratch: Array,
) -> None:
    """``attend`` of all heads of a batch: {heads, queries, size}, {heads, keys, size} for keys and values.

    There are at least two keys. ``bias`` and ``added`` are {heads, queries, keys}; ``scratch`` is what ``scores_for``
    says.
    """
    heads, count, total = len(queries), queries.shape[1], keys.shape[1]
    together, rows = block_of(heads, count, total)
    memory = scratch[: 8 * together * rows * total].view(np.float32).reshape(2, -1)
    for head, row in product(range(0, heads, together), range(0, count, rows)):
        some = slice(head, head + together)
        place = some, slice(row, row + rows)
        shape = (min(together, heads - head), min(rows, count - row), total)
        scores, weights = memory[:, : prod(shape)].reshape(2, *shape)
        multiply(queries[place], keys[some].swapaxes(1, 2), scores)()
        others = [None if one is None else one[place] for one in (bias, added)]
        map_elements(finish, [scores, *others], [scores])()
        weigh = softmax(scores, weights, [2])
        assert weigh is not None
        weigh()
        multiply(weights, values[some], output[place])()


def block_of(heads: int, queries: int, keys: int) -> tuple[int, int]:
    """How many heads are worked on at a time, and how many queries of each."""
    rows = min(queries, max(1, SCORES_OF_HEADS // keys))
    return min(heads, max(1, SCORES_OF_HEADS // (rows * keys))), rows


def scores_for(heads: int, queries: int, keys: int) -> int:
    """The bytes of scratch memory that ``attend_heads`` takes."""
    return 8 * prod((*block_of(heads, queries, keys), keys))


def added_by(masked: Array, mask_value: float) -> Array:
    """What is added to scores, {..., queries, keys}: ``mask_value`` where they are ``masked``, nothing where all keys
    of a query are."""
    value = np.where(masked.all(-1, keepdims=True), np.float32(0), np.float32(mask_value))
    return np.asarray(np.where(masked, value, np.float32(0)))
