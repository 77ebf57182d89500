"""Attention of one head: a softmax over products of queries and keys weighs the values."""

from __future__ import annotations

import numpy as np

from .binding import Array

# As many scores as are held at a time, at least those of one query: few enough to stay in a nearer cache.
SCORES = 1 << 18


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
