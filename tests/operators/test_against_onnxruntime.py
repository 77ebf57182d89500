"""Random cases against ONNX Runtime's CPU results: types, ranks 1 to 8, axes, and strides on every tensor.

Where a result is a copy of elements or an index, it must be equal. Floats are computed by ONNX Runtime in
FLOAT64 and then rounded to the tensor's type: our result may be the other neighbour of a value near the middle,
so it is within one unit in the last place (two for L2, which ONNX Runtime before 1.20 is not as exact about).
Integers are kept below 2^24, beyond which some of ONNX Runtime's integer reductions round or saturate, and must
be equal; full ranges are for test_reduce_integers.
"""

from __future__ import annotations

import numpy as np
import pytest

import directml_py as dml

from .helpers import (
    DATA_TYPES,
    DECREASING,
    FLOATS,
    INCREASING,
    INDEX_TYPES,
    SIGNED,
    UNSIGNED,
    arg,
    gather,
    generator,
    numpy_type,
    random_layout,
    random_sizes,
    random_strides,
    random_values,
    reduction,
    tensor_of,
)
from .onnx_runner import run

RANKS = range(1, 9)
CASES = 2
SUM_TYPES = (*FLOATS, "INT32", "INT64", "UINT32", "UINT64")
REDUCTIONS = {
    "AVERAGE": ("ReduceMean", FLOATS),
    "L1": ("ReduceL1", SUM_TYPES),
    "L2": ("ReduceL2", FLOATS),
    "LOG_SUM": ("ReduceLogSum", FLOATS),
    "LOG_SUM_EXP": ("ReduceLogSumExp", FLOATS),
    "MAX": ("ReduceMax", (*FLOATS, *SIGNED, *UNSIGNED)),
    "MIN": ("ReduceMin", (*FLOATS, *SIGNED, *UNSIGNED)),
    "SUM": ("ReduceSum", SUM_TYPES),
    "SUM_SQUARE": ("ReduceSumSquare", SUM_TYPES),
}


def same(result, expected):
    assert result.dtype == expected.dtype
    assert result.shape == expected.shape
    assert result.tobytes() == expected.tobytes()


def some_axes(rng, rank):
    """One or more different axes, in any order."""
    return [int(axis) for axis in rng.permutation(rank)[: rng.integers(1, rank + 1)]]


@pytest.mark.parametrize("rank", RANKS)
@pytest.mark.parametrize("name", DATA_TYPES)
def test_identity(name, rank):
    rng = generator("identity", name, rank)
    for _ in range(CASES):
        x, strides = random_layout(rng, random_values(rng, name, random_sizes(rng, rank)))
        desc = dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(
            InputTensor=tensor_of(x, strides), OutputTensor=tensor_of(x, random_strides(rng, x.shape))
        )
        same(dml.evaluate(desc, [x])[0], run("Identity", [x])[0])


@pytest.mark.parametrize("rank", RANKS)
@pytest.mark.parametrize("name", DATA_TYPES)
def test_join(name, rank):
    rng = generator("join", name, rank)
    for _ in range(CASES):
        sizes, axis = random_sizes(rng, rank), int(rng.integers(rank))
        parts, descs = [], []
        for _ in range(rng.integers(1, 5)):
            sizes[axis] = int(rng.integers(1, 5))
            x, strides = random_layout(rng, random_values(rng, name, sizes))
            parts.append(x)
            descs.append(tensor_of(x, strides))
        (expected,) = run("Concat", parts, (parts[0].dtype.name,), axis=axis)
        desc = dml.DML_JOIN_OPERATOR_DESC(
            InputTensors=descs,
            OutputTensor=tensor_of(expected, random_strides(rng, expected.shape)),
            Axis=axis,
        )
        same(dml.evaluate(desc, parts)[0], expected)


@pytest.mark.parametrize("rank", RANKS)
@pytest.mark.parametrize("name", DATA_TYPES)
def test_split(name, rank):
    rng = generator("split", name, rank)
    for _ in range(CASES):
        sizes, axis = random_sizes(rng, rank), int(rng.integers(rank))
        pieces = [int(piece) for piece in rng.integers(1, 5, rng.integers(1, 5))]
        sizes[axis] = sum(pieces)
        x, strides = random_layout(rng, random_values(rng, name, sizes))
        expected = run("Split", [x, np.array(pieces, np.int64)], (x.dtype.name,) * len(pieces), axis=axis)
        desc = dml.DML_SPLIT_OPERATOR_DESC(
            InputTensor=tensor_of(x, strides),
            OutputTensors=[tensor_of(part, random_strides(rng, part.shape)) for part in expected],
            Axis=axis,
        )
        results = dml.evaluate(desc, [x])
        assert len(results) == len(expected)
        for result, part in zip(results, expected):
            same(result, part)


@pytest.mark.parametrize("index_type", INDEX_TYPES)
@pytest.mark.parametrize("rank", RANKS)
def test_gather(index_type, rank):
    """Input and indices have fewer dimensions of their own, and leading ones up to DimensionCount."""
    rng = generator("gather", index_type, rank)
    for name in DATA_TYPES:
        own = int(rng.integers(1, rank + 1))
        index_rank = int(rng.integers(0, min(rank, rank - own + 1) + 1))
        axis = int(rng.integers(own))
        x, strides = random_layout(rng, random_values(rng, name, random_sizes(rng, own, 200)))
        count = x.shape[axis]
        lowest = -count if index_type in SIGNED else 0
        index_sizes = random_sizes(rng, index_rank, 30)
        drawn = rng.integers(lowest, count, index_sizes).astype(numpy_type(index_type))
        indices, index_strides = random_layout(rng, np.asarray(drawn))
        (expected,) = run("Gather", [x, indices.astype(np.int64)], axis=axis)

        def lead(sizes):
            return (1,) * (rank - len(sizes)) + tuple(sizes)

        def lead_strides(own_strides):
            return [1] * (rank - len(own_strides)) + own_strides if own_strides else None

        result = gather(
            x.reshape(lead(x.shape)),
            indices.reshape(lead(indices.shape)),
            axis + rank - own,
            index_rank,
            lead(expected.shape),
            strides=(
                lead_strides(strides),
                lead_strides(index_strides),
                random_strides(rng, lead(expected.shape)),
            ),
        )
        same(result, expected.reshape(lead(expected.shape)))


def exact_integers(rng, name, data_type, sizes):
    """Integers of a type whose reduction, like every step to it, stays below 2^24."""
    largest = {"SUM_SQUARE": 100, "MULTIPLY": 1}.get(name, 10_000)
    if name in ("MIN", "MAX"):
        largest = min(1 << 24, np.iinfo(numpy_type(data_type)).max)
    lowest = 0 if data_type in UNSIGNED else -largest
    x = rng.integers(lowest, largest + 1, sizes)
    if name == "MULTIPLY":
        x[x == 0] = 1
        x.flat[rng.integers(x.size, size=12)] = rng.integers(2, 4, 12)
    return x.astype(numpy_type(data_type))


def reduced(node, x, axes):
    """ONNX Runtime's result of a reduction in the type wider than ``x``'s, in ``x``'s type."""
    wide = np.float64 if x.dtype.kind == "f" else np.int64
    return run(node, [x.astype(wide), np.array(axes, np.int64)], keepdims=1)[0].astype(x.dtype)


def units_off(result, expected):
    """How many units in the last place two arrays of floats differ at most."""
    return np.max(
        np.abs(result.astype(np.float64) - expected) / np.spacing(np.abs(expected)).astype(np.float64)
    )


@pytest.mark.parametrize("rank", RANKS)
@pytest.mark.parametrize(
    ("name", "data_type"), [(name, kind) for name, (_, kinds) in REDUCTIONS.items() for kind in kinds]
)
def test_reduce(name, data_type, rank):
    rng = generator("reduce", name, data_type, rank)
    for _ in range(CASES):
        sizes = random_sizes(rng, rank)
        floats = data_type in FLOATS
        x = random_values(rng, data_type, sizes) if floats else exact_integers(rng, name, data_type, sizes)
        if name == "LOG_SUM":
            x = np.abs(x) + x.dtype.type(0.5)
        x, strides = random_layout(rng, x)
        axes = some_axes(rng, rank)
        expected = reduced(REDUCTIONS[name][0], x, axes)
        desc, inputs = reduction(
            name, x, axes, strides=strides, output_strides=random_strides(rng, expected.shape)
        )
        (result,) = dml.evaluate(desc, inputs)
        if floats and name not in ("MIN", "MAX"):
            assert result.dtype == expected.dtype
            assert result.shape == expected.shape
            assert units_off(result, expected) <= (2 if name == "L2" else 1)
        else:
            same(result, expected)


@pytest.mark.parametrize("rank", RANKS)
@pytest.mark.parametrize("data_type", SUM_TYPES)
def test_multiply(data_type, rank):
    """ONNX Runtime multiplies floats in FLOAT32 too: each of n products may be off by half a unit, in both."""
    rng = generator("multiply", data_type, rank)
    for _ in range(CASES):
        sizes, axes = random_sizes(rng, rank), some_axes(rng, rank)
        if data_type in FLOATS:
            # The logarithms' sum stays within what FLOAT16 holds.
            signs = rng.choice([-1, 1], sizes)
            x = (signs * np.exp(rng.uniform(-0.15, 0.15, sizes))).astype(numpy_type(data_type))
        else:
            x = exact_integers(rng, "MULTIPLY", data_type, sizes)
        x, strides = random_layout(rng, x)
        wide = x.astype(np.float32 if data_type in FLOATS else np.int64)
        (product,) = run("ReduceProd", [wide, np.array(axes, np.int64)], keepdims=1)
        expected = product.astype(x.dtype)
        desc, inputs = reduction(
            "MULTIPLY", x, axes, strides=strides, output_strides=random_strides(rng, expected.shape)
        )
        (result,) = dml.evaluate(desc, inputs)
        if data_type in FLOATS:
            count = x.size // expected.size
            assert result.dtype == expected.dtype
            assert units_off(result, expected) <= (count if data_type == "FLOAT32" else 1)
        else:
            same(result, expected)


ARGS = {"ARGMAX": dml.DML_ARGMAX_OPERATOR_DESC, "ARGMIN": dml.DML_ARGMIN_OPERATOR_DESC}


def flattened(x, axes):
    """``x`` with the axes made one, the last: in increasing order, whatever the order they are named in."""
    axes = sorted(axes)
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    return x.transpose(kept + axes).reshape([x.shape[axis] for axis in kept] + [-1])


@pytest.mark.parametrize("rank", RANKS)
@pytest.mark.parametrize("data_type", [*FLOATS, *SIGNED, *UNSIGNED])
@pytest.mark.parametrize("name", ARGS)
def test_arg(name, data_type, rank):
    """Few different values, so that there are ties; the operators and REDUCE's functions."""
    rng = generator(name, data_type, rank)
    for direction in (INCREASING, DECREASING):
        sizes, axes = random_sizes(rng, rank), some_axes(rng, rank)
        lowest = 0 if data_type in UNSIGNED else -3
        x, strides = random_layout(rng, rng.integers(lowest, 4, sizes).astype(numpy_type(data_type)))
        wide = flattened(x, axes).astype(np.float32 if data_type in FLOATS else np.int32)
        node = {"ARGMAX": "ArgMax", "ARGMIN": "ArgMin"}[name]
        last = int(direction == DECREASING)
        (indices,) = run(node, [wide], ("int64",), axis=-1, keepdims=0, select_last_index=last)
        output_sizes = [1 if axis in axes else size for axis, size in enumerate(sizes)]
        output_type = INDEX_TYPES[int(rng.integers(4))]
        expected = indices.reshape(output_sizes).astype(numpy_type(output_type))
        output_strides = random_strides(rng, output_sizes)
        result = arg(
            ARGS[name],
            x,
            axes,
            direction,
            output_type=output_type,
            strides=strides,
            output_strides=output_strides,
        )
        same(result, expected)
        if direction == INCREASING:
            desc, inputs = reduction(name, x, axes, output_type, strides, output_strides)
            same(dml.evaluate(desc, inputs)[0], expected)


def test_layouts_occur():
    """The random layouts are packed, gapped, transposed and broadcast, as the cases above need."""
    rng = generator("layouts")
    sizes = (2, 3, 4)
    found = [random_layout(rng, random_values(rng, "INT32", sizes))[1] for _ in range(100)]
    kinds = {
        "packed": sum(strides is None for strides in found),
        "broadcast": sum(strides is not None and 0 in strides for strides in found),
        "transposed": sum(strides is not None and 0 < strides[0] < strides[-1] for strides in found),
    }
    assert min(kinds.values()) > 5
