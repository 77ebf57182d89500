"""Tensors, layouts and random data for the tests of operators."""

from __future__ import annotations

import zlib

import numpy as np

import directml_py as dml
from directml_py.testing.decision_source import RandomSource

FLOATS = ("FLOAT32", "FLOAT16")
SIGNED = ("INT8", "INT16", "INT32", "INT64")
UNSIGNED = ("UINT8", "UINT16", "UINT32", "UINT64")
DATA_TYPES = ("FLOAT64", *FLOATS, *SIGNED, *UNSIGNED)
INDEX_TYPES = ("INT32", "INT64", "UINT32", "UINT64")
INCREASING = dml.DML_AXIS_DIRECTION_INCREASING
DECREASING = dml.DML_AXIS_DIRECTION_DECREASING
# Zeros, what is no number, the limits of FLOAT16 and of integers, and what rounds.
SPECIAL = [
    0.0,
    -0.0,
    np.inf,
    -np.inf,
    np.nan,
    1,
    -1,
    0.5,
    -2.5,
    65504,
    6e-8,
    1e-42,
    3e38,
    2.0**31,
    -129.7,
    300,
]


def data_type(name):
    """The DML_TENSOR_DATA_TYPE by the suffix of its name."""
    return dml.DML_TENSOR_DATA_TYPE[f"DML_TENSOR_DATA_TYPE_{name}"]


def numpy_type(name):
    return np.dtype(name.lower())


def tensor(name, sizes, strides=None, **rest):
    return dml.tensor_desc(data_type(name), list(sizes), strides, **rest)


def tensor_of(array, strides=None):
    """The desc of a tensor that holds ``array``."""
    return tensor(array.dtype.name.upper(), array.shape, strides)


def function(name):
    return dml.DML_REDUCE_FUNCTION[f"DML_REDUCE_FUNCTION_{name}"]


class PreferringFloats(RandomSource):
    """Chooses a data type that is added up, where there is one, in ``share`` percent of the cases."""

    def __init__(self, seed, share=90):
        super().__init__(seed)
        self.share = share

    def choice(self, options):
        floats = [
            option
            for option in options
            if isinstance(option, dml.DML_TENSOR_DATA_TYPE) and option in map(data_type, FLOATS)
        ]
        return super().choice(floats if floats and self.chance(self.share) else options)


def padded_strides(sizes, gap=1):
    """Row-major strides with ``gap`` unused elements after every row of every dimension."""
    strides, step = [], 1 + gap
    for size in reversed(sizes):
        strides.append(step)
        step = step * size + gap
    return strides[::-1]


def transposed_strides(sizes):
    """Packed strides with the first dimension innermost."""
    strides, step = [], 1
    for size in sizes:
        strides.append(step)
        step *= size
    return strides


LAYOUTS = {
    "packed": lambda sizes: None,
    "padded": padded_strides,
    "transposed": transposed_strides,
}


def generator(*key):
    """A random generator that depends on ``key`` alone."""
    return np.random.default_rng(zlib.crc32(repr(key).encode()))


def random_sizes(rng, rank, most=600):
    """``rank`` sizes of 1 to 5 whose product is at most ``most``."""
    sizes = []
    for _ in range(rank):
        sizes.append(int(rng.integers(1, max(1, min(5, most)) + 1)))
        most //= sizes[-1]
    return [int(size) for size in rng.permutation(sizes)]


def random_values(rng, name, sizes):
    """Any values of a data type: the full range of integers, or normally distributed floats."""
    kind = numpy_type(name)
    if kind.kind == "f":
        return rng.normal(0, 4, sizes).astype(kind)
    limits = np.iinfo(kind)
    return rng.integers(limits.min, limits.max, sizes, kind, endpoint=True)


def reduce(name, array, axes, *, output_type=None, strides=None, output_strides=None):
    """REDUCE's result for one function."""
    return dml.evaluate(*reduction(name, array, axes, output_type, strides, output_strides))[0]


def reduction(name, array, axes, output_type=None, strides=None, output_strides=None):
    """The REDUCE desc for ``array`` and the inputs to evaluate it with."""
    sizes = [1 if axis in axes else size for axis, size in enumerate(array.shape)]
    desc = dml.DML_REDUCE_OPERATOR_DESC(
        Function=function(name),
        InputTensor=tensor_of(array, strides),
        OutputTensor=tensor(output_type or array.dtype.name.upper(), sizes, output_strides),
        Axes=list(axes),
    )
    return desc, [array]


def arg(
    struct, array, axes, direction=INCREASING, *, output_type="UINT32", strides=None, output_strides=None
):
    """The result of ARGMIN or ARGMAX, whose desc is ``struct``."""
    sizes = [1 if axis in axes else size for axis, size in enumerate(array.shape)]
    desc = struct(
        InputTensor=tensor_of(array, strides),
        OutputTensor=tensor(output_type, sizes, output_strides),
        Axes=list(axes),
        AxisDirection=direction,
    )
    return dml.evaluate(desc, [array])[0]


def gather(array, indices, axis, index_dimensions, output_sizes, *, strides=(None, None, None)):
    """GATHER's result; ``strides`` are those of the input, the indices and the output."""
    desc = dml.DML_GATHER_OPERATOR_DESC(
        InputTensor=tensor_of(array, strides[0]),
        IndicesTensor=tensor_of(indices, strides[1]),
        OutputTensor=tensor(array.dtype.name.upper(), output_sizes, strides[2]),
        Axis=axis,
        IndexDimensions=index_dimensions,
    )
    return dml.evaluate(desc, [array, indices])[0]
