"""Recipes for valid descs: matrix."""

from __future__ import annotations

from ...api.enums import (
    DML_MATRIX_TRANSFORM_TRANSPOSE,
    DML_MULTIHEAD_ATTENTION_MASK_TYPE_BOOLEAN,
    DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_QUERY_SEQUENCE_LENGTH_START_END,
    DML_MULTIHEAD_ATTENTION_MASK_TYPE_NONE,
    DML_TENSOR_DATA_TYPE_FLOAT16,
    DML_TENSOR_DATA_TYPE_FLOAT32,
    DML_TENSOR_DATA_TYPE_INT32,
)
from ...operators.matrix.attention import Attention
from ..desc_generator import DescGenerator, Fields
from ..recipes import recipe

ZERO_POINTS = ("AZeroPointTensor", "BZeroPointTensor")
# The tensors of an attention with inferred sizes but a free number of leading ones.
PRESENT = ("OutputPresentKeyTensor", "OutputPresentValueTensor")
LED = (
    "BiasTensor",
    "RelativePositionBiasTensor",
    "OutputPresentKeyTensor",
    "OutputPresentValueTensor",
    "PastKeyTensor",
    "PastSequenceLengthsTensor",
    "MaskTensor",
    "OutputTensor",
)
# The usual value, and some that leave masked keys a nonzero weight.
MASK_VALUES = (-10000.0, -1.5, 0.0, 2.0)
# A mask has 3 * batch + 2 numbers, other tensors of an attention stack three parts at most.
ATTENTION_GROWTH = 6


def factors(make: DescGenerator) -> tuple[list[int], list[int]]:
    """The sizes of two matrices, or batches of them, that can be multiplied."""
    *batch, rows, depth, columns = make.shape(make.rank("ATensor") + 1)
    return [*batch, rows, depth], [*batch, depth, columns]


@recipe("GEMM")
def gemm(make: DescGenerator) -> Fields:
    a, b = factors(make)
    fields: Fields = {"ATensor": a, "BTensor": b, "present": make.some("CTensor")}
    for sizes, name in ((a, "TransA"), (b, "TransB")):
        fields[name] = make.enumerator(name)
        if fields[name] == DML_MATRIX_TRANSFORM_TRANSPOSE:
            sizes[-2:] = reversed(sizes[-2:])
    return fields


@recipe("MATRIX_MULTIPLY_INTEGER")
def matrix_multiply_integer(make: DescGenerator) -> Fields:
    a, b = factors(make)
    return {"ATensor": a, "BTensor": b, "present": make.some(*ZERO_POINTS), "any_rank": ZERO_POINTS}


@recipe("MATRIX_MULTIPLY_INTEGER_TO_FLOAT")
def matrix_multiply_integer_to_float(make: DescGenerator) -> Fields:
    """The scales have the output's type."""
    a, b = factors(make)
    table = make.table()
    assert table is not None
    data_type = make.source.choice(table.tensors["OutputTensor"].types)
    return {
        "ATensor": a,
        "BTensor": b,
        **scales(make, a[-2], b[-1]),
        "present": make.some(*ZERO_POINTS, "BiasTensor"),
        "types": dict.fromkeys(("AScaleTensor", "BScaleTensor", "BiasTensor", "OutputTensor"), data_type),
    }


def scales(make: DescGenerator, rows: int, columns: int, *names: str) -> Fields:
    """Scales of both factors, and of ``names`` by rows, all of one rank."""
    rank = make.rank("AScaleTensor")
    by_row = [1] if rank == 1 else [*[1] * (rank - 2), rows, 1]
    return {
        **{name: make.broadcast(by_row) for name in ("AScaleTensor", *names)},
        "BScaleTensor": make.broadcast([*[1] * (rank - 1), columns]),
    }


@recipe("MULTIHEAD_ATTENTION", "MULTIHEAD_ATTENTION1")
def multihead_attention(make: DescGenerator) -> Fields:
    stack = make.source.choice(("", "QueryKey", "KeyValue", "QueryKeyValue"))
    sizes = attention(make, stack)
    heads = {"HeadCount": sizes.heads, "QueryHeadCount": sizes.heads, "KeyValueHeadCount": sizes.key_heads}
    present = {*make.some(*LED[:4])}
    fields = {**heads, **operands(make, sizes, stack), **mask(make, sizes)}
    if "HeadCount" in make.schema.struct.index:
        floats = [entry.name for entry in make.schema.struct.tensors if entry.name != "MaskTensor"]
        kind = make.source.choice((DML_TENSOR_DATA_TYPE_FLOAT16, DML_TENSOR_DATA_TYPE_FLOAT32))
        fields["types"] = dict.fromkeys(floats, kind)
        if not sizes.keys:
            present.discard("BiasTensor")
    fields["MaskFilterValue"] = make.source.choice(MASK_VALUES)
    if sizes.past:
        state = (sizes.batch, sizes.key_heads, sizes.past, sizes.value_head_size)
        fields["PastValueTensor"] = make.led("PastValueTensor", *state)
        present.add("PastKeyTensor")
    if "PastSequenceLengthsTensor" in make.schema.struct.index and make.source.chance(50):
        fields |= past_lengths(make, sizes, present)
    if fields["MaskType"] != DML_MULTIHEAD_ATTENTION_MASK_TYPE_NONE:
        present.update(make.some("MaskTensor"))
    by_starts = DML_MULTIHEAD_ATTENTION_MASK_TYPE_KEY_QUERY_SEQUENCE_LENGTH_START_END
    if fields["MaskType"] == by_starts and sizes.past and not present & set(PRESENT):
        # Without a mask it would not compile.
        present.add("MaskTensor")
    return {**fields, "present": present, "any_rank": LED}


def attention(make: DescGenerator, stack: str) -> Attention:
    """Sizes that agree with the stacking; sometimes the past has all keys and values."""
    source = make.source
    batch, heads, queries, keys, past, head_size, value_size = make.shape(7, ATTENTION_GROWTH)
    key_heads = heads
    if "Query" in stack:
        queries = keys = min(queries, keys)
    elif "KeyValueHeadCount" in make.schema.struct.index:
        key_heads = source.choice([count for count in range(1, heads + 1) if heads % count == 0])
    if "Value" in stack:
        head_size = value_size = min(head_size, value_size)
    past *= source.chance(50)
    keys *= not (past and not stack and source.chance(30))
    return Attention(batch, heads, key_heads, queries, keys, past, head_size, value_size)


def operands(make: DescGenerator, sizes: Attention, stack: str) -> Fields:
    """The new queries, keys and values; those in ``stack`` share one tensor."""
    batch, key_hidden = sizes.batch, sizes.key_heads * sizes.head_size
    alone = {"Query": (sizes.queries, sizes.heads * sizes.head_size)}
    if sizes.keys:
        alone["Key"] = (sizes.keys, key_hidden)
        alone["Value"] = (sizes.keys, sizes.key_heads * sizes.value_head_size)
    ranks = {name: make.rank(f"{name}Tensor", 3) for name in alone}
    if "HeadCount" in make.schema.struct.index:
        ranks = dict.fromkeys(alone, ranks["Query"])
    fields: Fields = {
        f"{name}Tensor": [1] * (ranks[name] - 3) + [batch, *rest]
        for name, rest in alone.items()
        if name not in stack
    }
    if stack:
        parts = sum(name in stack for name in alone)
        fields[f"Stacked{stack}Tensor"] = [batch, sizes.keys, sizes.key_heads, parts, sizes.head_size]
    return fields


def past_lengths(make: DescGenerator, sizes: Attention, present: set[str]) -> Fields:
    """PastSequenceLengths, with present keys and values of the maximum length.

    Without past tensors there are none, since the present ones would have to contain the past already.
    """
    room = make.source.integer(max(1, sizes.keys), sizes.total)
    widths = {"OutputPresentKeyTensor": sizes.head_size, "OutputPresentValueTensor": sizes.value_head_size}
    present.add("PastSequenceLengthsTensor")
    kind = make.source.choice((DML_TENSOR_DATA_TYPE_FLOAT16, DML_TENSOR_DATA_TYPE_FLOAT32))
    types = {
        "OutputTensor": kind,
        "PastSequenceLengthsTensor": make.source.choice((kind, DML_TENSOR_DATA_TYPE_INT32)),
    }
    tensors = {
        name: make.led(name, sizes.batch, sizes.key_heads, room, width)
        for name, width in widths.items()
        if name in present
    }
    return {**tensors, "types": types}


def mask(make: DescGenerator, sizes: Attention) -> Fields:
    """A mask type and its tensor; sometimes a mask of the new keys only, where that is possible."""
    kind = make.enumerator("MaskType")
    if "HeadCount" in make.schema.struct.index:
        return {"MaskType": kind}
    if kind != DML_MULTIHEAD_ATTENTION_MASK_TYPE_BOOLEAN or not sizes.keys or make.source.chance(50):
        return {"MaskType": kind}
    return {"MaskType": kind, "MaskTensor": make.led("MaskTensor", sizes.keys)}
