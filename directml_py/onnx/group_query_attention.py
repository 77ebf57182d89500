"""What MULTIHEAD_ATTENTION1 does not compute of GroupQueryAttention: products around a softmax."""

from __future__ import annotations

import numpy as np

from ..api.enums import DML_MATRIX_TRANSFORM_NONE, DML_MATRIX_TRANSFORM_TRANSPOSE
from ..graph import Expression
from .movement import sliced
from .node import OnnxNode
from .values import Sizes

BIAS, SINK = 10, 11


def is_composed(node: OnnxNode) -> bool:
    """Whether scores are capped or biased, of keys that are near alone or of later ones, or a share is no key's."""
    attributes = {"softcap": 0.0, "local_window_size": -1, "causal": 1}
    has_others = any(node.get(name, default) != default for name, default in attributes.items())
    return has_others or node.get("smooth_softmax", -1) > 0 or node.has(BIAS) or node.has(SINK)


def composed_attention(
    node: OnnxNode, query: Expression, keys: Expression, values: Expression, before: Expression, scale: float
) -> Expression:
    """The attention of queries, of sizes {batch, length, elements}, to past and new keys and values, of sizes
    {batch, groups, length, elements}; the first query is behind ``before`` keys of its batch."""
    graph, heads = node.graph, node.get("num_heads")
    (batch, new, width), groups = query.desc.sizes, keys.desc.sizes[1]
    size, total = width // heads, int(node.known(6, "total_sequence_length").reshape(-1)[0])
    query, keys, values = (node.cast(x, np.float32) for x in (query, keys, values))
    if keys.desc.sizes[2] > total:
        keys, values = (sliced(node, x, 2, 0, total) for x in (keys, values))
    # The queries of all heads of a group have the same keys.
    grouped = (batch, groups, heads // groups * new, size)
    rows = graph.reinterpret(node.transposed(query, (batch, new, heads, size), (0, 2, 1, 3)), sizes=grouped)
    scores = _product(node, rows, keys, DML_MATRIX_TRANSFORM_TRANSPOSE, scale)
    shares = _shares(node, graph.reinterpret(scores, sizes=(batch, heads, new, total)), before)
    results = _product(
        node,
        graph.reinterpret(shares, sizes=(*grouped[:3], total)),
        values,
        DML_MATRIX_TRANSFORM_NONE,
    )
    return graph.reinterpret(
        node.transposed(results, (batch, heads, new, size), (0, 2, 1, 3)), sizes=(batch, new, width)
    )


def _product(node: OnnxNode, a: Expression, b: Expression, trans_b: int, alpha: float = 1.0) -> Expression:
    return node.graph.gemm(a, b, trans_a=DML_MATRIX_TRANSFORM_NONE, trans_b=trans_b, alpha=alpha, beta=1.0)


def _shares(node: OnnxNode, scores: Expression, before: Expression) -> Expression:
    """The softmax of the scores, of sizes {batch, heads, queries, keys}, of the keys that a query sees."""
    graph, sizes = node.graph, scores.desc.sizes
    cap = node.get("softcap", 0.0)
    if cap:
        tanh = graph.activation_tanh(graph.identity(scores, scale_bias=(1 / cap, 0.0)))
        scores = graph.identity(tanh, scale_bias=(cap, 0.0))
    if node.has(BIAS):
        bias = node.spread(node.tensor(BIAS), node.shape(BIAS), sizes)
        scores = graph.add(scores, node.cast(bias, np.float32))
    is_attended = _attended(node, before, sizes)
    scores = graph.if_(is_attended, scores, node.scalar(np.finfo(np.float32).min, scores))
    column = (*sizes[:3], 1)
    if node.has(SINK):
        sink = node.spread(node.cast(node.tensor(SINK), np.float32), (sizes[1], 1, 1), column)
        scores = graph.join([scores, node.packed(sink)], axis=3)
    elif node.get("smooth_softmax", -1) > 0:
        zero = node.constant(np.zeros((1, 1, 1, 1)), np.float32)
        scores = graph.join([scores, node.repeated(zero, column)], axis=3)
    shares = graph.activation_softmax1(scores, axes=[3])
    return shares if shares.desc.sizes == sizes else sliced(node, shares, 3, 0, sizes[3])


def _attended(node: OnnxNode, before: Expression, sizes: Sizes) -> Expression:
    """Whether a query sees a key: one that is not later, unless all are seen, and of a window only if there is one."""
    graph, (batch, _, new, total) = node.graph, sizes
    plane, window = (batch, 1, new, total), node.get("local_window_size", -1)
    is_causal = node.get("causal", 1)
    last_keys = np.arange(new) if is_causal else np.full(new, new - 1)
    last = graph.add(
        node.spread(node.cast(before, np.int32), (batch, 1, 1, 1), plane),
        node.spread(node.constant(last_keys, np.int32), (new, 1), plane),
    )
    keys = node.spread(node.constant(np.arange(total), np.int32), (total,), plane)
    is_attended = graph.logical_less_than_or_equal(keys, last, output_data_type=np.uint8)
    if window > 0:
        first = graph.subtract(last, node.scalar(window, last))
        is_attended = graph.logical_and(
            is_attended, graph.logical_greater_than(keys, first, output_data_type=np.uint8)
        )
    return node.spread(is_attended, plane, sizes)
