"""Multi-head attention, of the domain com.microsoft."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from itertools import pairwise
from typing import Any

import numpy as np

from ..api.enums import (
    DML_MATRIX_TRANSFORM_NONE,
    DML_MULTIHEAD_ATTENTION_MASK_TYPE_BOOLEAN,
    DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_SEQUENCE_END_START,
    DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_SEQUENCE_LENGTH,
    DML_MULTIHEAD_ATTENTION_MASK_TYPE_NONE,
)
from ..graph import Expression
from .element_wise import like_input
from .errors import Refusal
from .group_query_attention import SINK, composed_attention, is_composed
from .movement import sliced
from .node import OnnxNode
from .translators import MICROSOFT, Results, Rows, operator, outputs
from .values import OnnxValue, Sizes

FILTER = -10000.0


def masked(node: OnnxNode, index: int, sizes: Sizes) -> dict[str, Any]:
    """The mask for scores of ``sizes`` {batch, heads, queries, keys}: key lengths, key ends and starts, or a boolean
    per key."""
    settings: dict[str, Any] = {"mask_filter_value": node.get("mask_filter_value", FILTER)}
    if not node.has(index):
        return {**settings, "mask_type": DML_MULTIHEAD_ATTENTION_MASK_TYPE_NONE}
    shape, batch = node.shape(index), sizes[0]
    if len(shape) == 1 and shape[0] in (batch, 2 * batch):
        kinds = (
            DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_SEQUENCE_LENGTH,
            DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_SEQUENCE_END_START,
        )
        rows = shape[0] // batch
        mask = node.tensor(index, (rows, batch))
        return {**settings, "mask": mask, "mask_type": kinds[rows - 1]}
    if len(shape) not in (2, 3) or shape[0] != batch or shape[-1] != sizes[3]:
        raise Refusal(f"has sizes {list(shape)} beside scores of {list(sizes)}", f"input {index}")
    aligned = (batch, 1, 1 if len(shape) == 2 else shape[1], shape[-1])
    mask = node.spread(node.tensor(index, aligned), aligned, sizes)
    return {**settings, "mask": mask, "mask_type": DML_MULTIHEAD_ATTENTION_MASK_TYPE_BOOLEAN}


def scale_of(node: OnnxNode, head_size: int) -> float:
    return float(node.get("scale", 0.0) or 1 / math.sqrt(head_size))


def causal_bias(node: OnnxNode, sizes: Sizes, past: int, like: Expression) -> Expression:
    """The causal mask as a bias: the lowest number for keys behind a query, which is behind ``past`` keys."""
    _, _, queries, keys = sizes
    node.check_room(queries, keys, itemsize=16)
    later = np.triu(np.full((queries, keys), np.finfo(like.desc.dtype).min), past + 1)
    # ONNX Runtime takes the last query for the last of the keys, even where there are more keys.
    later[-1] = 0
    return node.spread(node.constant(later, like.desc.dtype), (queries, keys), sizes)


def _score_bias(node: OnnxNode, scores: Sizes, past: int, like: Expression) -> Expression | None:
    """The bias of the scores among the inputs and, if attention is causal, of the causal mask."""
    bias = node.broadcast(5, scores) if node.has(5) else None
    if not node.get("unidirectional", 0):
        return bias
    causal = causal_bias(node, scores, past, like)
    return causal if bias is None else node.graph.add(bias, causal)


@outputs("MultiHeadAttention", domain=MICROSOFT)
def attended_values(node: OnnxNode) -> Rows:
    query, heads, dtype = node.shape(0), node.get("num_heads"), node.input().dtype
    batch, length = query[:2]
    key = node.shape(1) if node.has(1) else query
    value = node.shape(2) if node.has(2) else key
    past = node.shape(6)[2] if node.has(6) else 0
    sizes = [shape[-1] if len(shape) > 3 else shape[2] // heads for shape in (key, value)]
    total = past + (key[2] if len(key) == 4 else key[1])
    presents = [(dtype, (batch, heads, total, size)) for size in sizes]
    return [(dtype, (batch, length, heads * sizes[1])), *presents]


@operator("MultiHeadAttention", domain=MICROSOFT)
def multi_head_attention(node: OnnxNode) -> Results:
    """Separate queries, keys and values, stacked keys and values, or all three stacked; past ones may precede the
    keys."""
    for index, name in ((8, "past_sequence_length"), (9, "cache_indirection")):
        if node.has(index):
            raise Refusal("MULTIHEAD_ATTENTION has no such input", f"input {name}")
    if node.as_provider:
        node.attributes["unidirectional"] = 0
    heads, query = node.get("num_heads"), node.shape(0)
    is_stacked = len(query) == 5
    key = node.shape(1) if node.has(1) else ()
    head_size = query[-1] if is_stacked else query[2] // heads
    past = node.shape(6)[2] if node.has(6) else 0
    new = query[1] if is_stacked else key[2] if len(key) == 4 else key[1]
    scores = (query[0], heads, query[1], past + new)
    operands: dict[str, Any] = {
        "stacked_query_key_value" if is_stacked else "query": node.tensor(0),
        "bias": node.tensor(3) if node.has(3) else None,
        "relative_position_bias": _score_bias(node, scores, past, node.tensor(0)),
        "past_key": node.tensor(6) if node.has(6) else None,
        "past_value": node.tensor(7) if node.has(7) else None,
        **masked(node, 4, scores),
    }
    if len(key) == 4:
        operands |= {"past_key": node.tensor(1), "past_value": node.tensor(2)}
    elif len(key) == 5:
        operands["stacked_key_value"] = node.tensor(1)
    elif key:
        operands |= {"key": node.tensor(1), "value": node.tensor(2)}
    results = node.graph.multihead_attention(
        **operands,
        scale=scale_of(node, head_size),
        head_count=heads,
        output_present_key=node.wants(1),
        output_present_value=node.wants(2),
        output_data_type=node.input().dtype,
    )
    return list(results)


def _parts(node: OnnxNode) -> list[int]:
    """The sizes of queries, keys and values beside one another."""
    hidden_sizes = [int(size) for size in node.get("qkv_hidden_sizes", [])]
    return hidden_sizes or [node.shape(1)[-1] // 3] * 3


@outputs("Attention", "QAttention", domain=MICROSOFT)
def attended_products(node: OnnxNode) -> Rows:
    if len(node.shape(0)) != 3:
        raise Refusal(f"has {len(node.shape(0))} dimensions, not 3", "input 0")
    is_quantized = node.kind == "QAttention"
    (batch, length, _), parts, heads = node.shape(0), _parts(node), node.get("num_heads")
    dtype, past = node.input(3 if is_quantized else 0).dtype, 8 if is_quantized else 4
    total = length + (node.shape(past)[3] if node.has(past) else 0)
    return [
        (dtype, (batch, length, parts[2])),
        (dtype, (2, batch, heads, total, parts[1] // heads)),
    ]


@operator("Attention", domain=MICROSOFT)
def attention(node: OnnxNode) -> Results:
    """One product for queries, keys and values, which are then those of MULTIHEAD_ATTENTION."""
    for name in ("do_rotary", "past_present_share_buffer"):
        node.only(name, 0, "MULTIHEAD_ATTENTION does not support it")
    if node.has(6):
        raise Refusal("MULTIHEAD_ATTENTION has no such input", "input past_sequence_length")
    batch, length, width = node.shape(0)
    whole = node.shape(1)[1]
    parts = _parts(node)
    rows = batch * length
    products = node.graph.gemm(
        node.tensor(0, (rows, width)),
        node.tensor(1),
        node.broadcast(2, (rows, whole)) if node.has(2) else None,
        trans_a=DML_MATRIX_TRANSFORM_NONE,
        trans_b=DML_MATRIX_TRANSFORM_NONE,
        alpha=1.0,
        beta=1.0,
    )
    return attended(node, products, (batch, length), parts)


def attended(node: OnnxNode, products: Expression, batch_and_length: Sizes, parts: Sequence[int]) -> Results:
    """The attention of queries, keys and values that are beside one another in ``products``, of sizes ``parts``.

    The inputs from 3 on are a mask, past keys and values, and a bias of the scores.
    """
    (batch, length), heads = batch_and_length, node.get("num_heads")
    starts = (0, parts[0], parts[0] + parts[1])
    query, key, value = (
        node.graph.reinterpret(sliced(node, products, 1, start, size), sizes=(batch, length, size))
        for start, size in zip(starts, parts)
    )
    past = node.shape(4)[3] if node.has(4) else 0
    scores = (batch, heads, length, past + length)
    bias = _score_bias(node, scores, past, query)
    pasts = _pasts(node) if past else {}
    results = node.graph.multihead_attention(
        query,
        key,
        value,
        relative_position_bias=bias,
        scale=scale_of(node, parts[0] // heads),
        head_count=heads,
        output_present_key=node.wants(1),
        output_present_value=node.wants(1),
        output_data_type=products.desc.data_type,
        **pasts,
        **masked(node, 3, scores),
    )
    return [results.output, _joined(node, results) if node.wants(1) else None]


def _pasts(node: OnnxNode) -> dict[str, Any]:
    """Past keys and values, which ONNX Runtime stacks in one tensor."""
    x, sizes = node.tensor(4), node.shape(4)[1:]
    names = ("past_key", "past_value")
    return {
        name: node.graph.reinterpret(sliced(node, x, 0, index, 1), sizes=sizes)
        for index, name in enumerate(names)
    }


def _joined(node: OnnxNode, results: Any) -> Expression:
    both = [
        node.graph.reinterpret(value, sizes=(1, *value.desc.sizes))
        for value in (results.output_present_key, results.output_present_value)
    ]
    return node.graph.join(both, axis=0)


# Attributes of GroupQueryAttention that are not translated, with the values that disable them.
UNGROUPED = {"kv_cache_bit_width": 0, "qk_output": 0, "sliding_window_cache": 0}


@outputs("GroupQueryAttention", domain=MICROSOFT)
def attended_groups(node: OnnxNode) -> Rows:
    dtype, shape = node.input().dtype, node.shape()
    groups, total = node.get("kv_num_heads"), int(node.known(6, "total_sequence_length").reshape(-1)[0])
    past = node.shape(3)[2] if node.has(3) else 0
    count = node.get("num_heads") + (0 if node.has(1) else 2 * groups)
    size = shape[2] // count
    present = (_cache_type(node), (shape[0], groups, max(past, total), size))
    return [(dtype, (*shape[:2], node.get("num_heads") * size)), present, present]


def _cache_type(node: OnnxNode) -> np.dtype[Any]:
    """The type of past and present keys and values."""
    return node.input(3 if node.has(3) else 0).dtype


@operator("GroupQueryAttention", domain=MICROSOFT)
def group_query_attention(node: OnnxNode) -> Results:
    """Grouped-query attention; new keys and values are written after the past ones.

    ONNX Runtime passes, for each batch, the length of past and new keys minus one; MULTIHEAD_ATTENTION1 takes the past
    length.
    """
    for name, default in UNGROUPED.items():
        node.only(name, default, "which is not translated")
    extra = [index for index in range(SINK + 1, len(node.inputs)) if node.has(index)]
    if extra:
        raise Refusal("is not translated", f"input {extra[0]}")
    batch, new, _ = node.shape(0)
    heads = node.get("num_heads")
    past = node.shape(3)[2] if node.has(3) else 0
    total = int(node.known(6, "total_sequence_length").reshape(-1)[0])
    lengths = node.tensor(5, (batch,))
    before = node.graph.add(lengths, node.scalar(1 - new, lengths))
    # Past keys and values may have another type than new ones.
    dtype = np.result_type(node.input().dtype, _cache_type(node))
    names = ("past_key", "past_value") if past else ()
    operands: dict[str, Any] = {
        name: node.cast(node.tensor(index), dtype) for index, name in enumerate(names, 3)
    }
    if not past:
        before = node.packed(node.scalar(0, lengths))
    query, key, value = _projections(node)
    if node.get("do_rotary", 0) and not node.as_provider:
        query, key = (
            _rotated(node, x, before, count) for x, count in ((query, heads), (key, node.get("kv_num_heads")))
        )
    scale = scale_of(node, query.shape[2] // heads)
    results = node.graph.multihead_attention1(
        query=node.cast(node.tensor(query), dtype),
        key=node.cast(node.tensor(key), dtype),
        value=node.cast(node.tensor(value), dtype),
        past_sequence_lengths=before,
        scale=scale,
        mask_filter_value=FILTER,
        query_head_count=heads,
        key_value_head_count=node.get("kv_num_heads"),
        mask_type=DML_MULTIHEAD_ATTENTION_MASK_TYPE_NONE,
        present_length=max(past, total),
        output_data_type=dtype,
        # With past lengths, the operator requires tensors for the present keys and values.
        output_present_key=True,
        output_present_value=True,
        **operands,
    )
    found = list(results)
    if is_composed(node):
        present = found[1:]
        found[0] = composed_attention(node, node.tensor(query), present[0], present[1], before, scale)
    return [
        node.cast(result, node.inferred[node.outputs[index]][0]) if node.wants(index) else None
        for index, result in enumerate(found)
    ]


def _projections(node: OnnxNode) -> list[OnnxValue]:
    """Queries, keys and values; without keys all three are beside one another in the first input."""
    if node.has(1):
        return [node.input(index) for index in range(3)]
    batch, new, width = node.shape(0)
    heads, groups = node.get("num_heads"), node.get("kv_num_heads")
    size = width // (heads + 2 * groups)
    starts = (0, heads * size, (heads + groups) * size, width)
    return [
        node.value(
            sliced(node, node.tensor(0), 2, start, end - start), node.input().dtype, (batch, new, end - start)
        )
        for start, end in pairwise(starts)
    ]


def _rotated(node: OnnxNode, value: OnnxValue, before: Expression, heads: int) -> OnnxValue:
    """Queries or keys of tokens behind ``before`` others of each batch, as RotaryEmbedding turns them."""
    batch, new = value.shape[:2]
    part = copy(node)
    part.attributes = {"interleaved": node.get("rotary_interleaved", 0), "num_heads": heads}
    if node.has(9):
        positions = node.input(9)
    else:
        offsets = node.cast(node.constant(np.arange(new), np.int64), before.desc.dtype)
        rows = [node.spread(x, shape, (batch, new)) for x, shape in ((before, (batch, 1)), (offsets, (new,)))]
        positions = node.value(node.graph.add(*rows), before.desc.dtype, (batch, new))
    part.inputs = [value, positions, node.input(7), node.input(8)]
    y = rotary_embedding(part)
    assert isinstance(y, Expression)
    return node.value(y, value.dtype, value.shape)


outputs("RotaryEmbedding", domain=MICROSOFT)(like_input)


@operator("RotaryEmbedding", domain=MICROSOFT)
def rotary_embedding(node: OnnxNode) -> Results:
    """Pairs of elements rotated by angles from a table, by position; what the table leaves of each head is kept.

    That batches are packed only says that there may be more tokens than the table has positions.
    """
    shape, graph = node.shape(), node.graph
    half = node.shape(2)[1]
    batch, length = (shape[0], shape[2]) if len(shape) == 4 else shape[:2]
    heads = node.get("num_heads", 0) or math.prod(shape) // (batch * length * 2 * half)
    if len(shape) == 4:
        whole = node.transposed(node.tensor(), shape, (0, 2, 1, 3))
    else:
        whole = node.tensor(sizes=(batch, length, heads, shape[2] // heads))
    size = whole.desc.sizes[3]
    if size < 2 * half:
        raise Refusal(f"turns {2 * half} elements of heads of {size}", "input cos_cache")
    x = whole if size == 2 * half else sliced(node, whole, 3, 0, 2 * half)
    sizes = x.desc.sizes
    positions = _positions(node, batch, length)
    cosines, sines = (
        node.spread(
            graph.gather(node.tensor(index, (1, *node.shape(index))), positions, axis=1, index_dimensions=1),
            (batch, length, 1, half),
            (*sizes[:3], half),
        )
        for index in (2, 3)
    )
    if node.get("interleaved", 0):
        x = node.transposed(x, (*sizes[:3], half, 2), (0, 1, 2, 4, 3))
        x = graph.reinterpret(x, sizes=sizes)
    first, second = (sliced(node, x, 3, start, half) for start in (0, half))
    rotated = [
        graph.subtract(graph.multiply(first, cosines), graph.multiply(second, sines)),
        graph.add(graph.multiply(first, sines), graph.multiply(second, cosines)),
    ]
    y = graph.join(rotated, axis=3)
    if node.get("interleaved", 0):
        y = node.transposed(y, (*sizes[:3], 2, half), (0, 1, 2, 4, 3))
        y = graph.reinterpret(y, sizes=sizes)
    if size > 2 * half:
        y = graph.join([y, sliced(node, whole, 3, 2 * half, size - 2 * half)], axis=3)
    if len(shape) == 4:
        y = node.transposed(y, y.desc.sizes, (0, 2, 1, 3))
    return graph.reinterpret(y, sizes=shape)


def _positions(node: OnnxNode, batch: int, length: int) -> Expression:
    """The position of each token: given, or counted from a given first position."""
    count = batch * length
    if node.input(1).size == count:
        return node.tensor(1, (1, 1, count))
    node.check_room(length, itemsize=8)
    offsets = node.constant(np.arange(length), np.int64)
    first, row = node.broadcast(1, (batch, length)), node.spread(offsets, (length,), (batch, length))
    return node.graph.reinterpret(node.graph.add(first, row), sizes=(1, 1, count))
