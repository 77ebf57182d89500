"""Tensors, layouts and random data for the tests of operators."""

from __future__ import annotations

import zlib

import numpy as np

import directml_py as dml
from directml_py.descs import decode_operator_desc
from directml_py.descs.operator_desc import OperatorDesc
from directml_py.operators import SCHEMAS, operator_of
from directml_py.operators.operator import computing_kernel
from directml_py.testing.decision_source import RandomSource
from directml_py.testing.desc_changes import change_tensor

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


def values_for(rng, tensor, low=-4.0, high=4.0):
    """Random elements of a tensor: floats from ``low`` to ``high``, integers of all sizes.

    Elements that share memory are equal.
    """
    dtype = tensor.dtype
    if dtype.kind == "f":
        array = rng.uniform(low, high, tensor.sizes).astype(dtype)
    elif tensor.is_nibbles:
        array = rng.integers(0, 16, tensor.sizes).astype(dtype)
        array = array if dtype.kind == "u" else (array - 8).astype(dtype)
    else:
        limits = np.iinfo(dtype)
        wide = rng.integers(limits.min, limits.max, tensor.sizes, dtype, endpoint=True)
        small = rng.integers(0 if dtype.kind == "u" else -5, 6, tensor.sizes).astype(dtype)
        array = np.where(rng.random(tensor.sizes) < 0.5, wide, small).astype(dtype)
    return as_stored(tensor, array)


def as_stored(tensor, array):
    """``array`` with equal values wherever the tensor's elements share memory."""
    if not tensor.overlaps:
        return array
    memory = np.zeros(tensor.total_size, np.uint8)
    tensor.store(memory, array)
    return tensor.load(memory)


def arrays_for(desc, seed, low=-4.0, high=4.0):
    """One array for each input tensor of ``desc``, None for absent ones."""
    rng = generator(desc.name, seed)
    return [None if slot.tensor is None else values_for(rng, slot.tensor, low, high) for slot in desc.inputs]


def run(name, *inputs, output=None, **attributes):
    """An operator's result for its inputs; ``output`` is a data type, by default that of the first input.

    NumPy's own warnings are errors in these tests.
    """
    return dml.evaluate(described(name, *inputs, output=output, **attributes), list(inputs))[0]


def computed(name, *inputs, output=None, **attributes):
    """The same by the operator's function of arrays, which is in NumPy."""
    desc = decode_operator_desc(described(name, *inputs, output=output, **attributes)).desc
    (output,) = (slot.tensor for slot in desc.outputs)
    result = np.empty(output.sizes, output.dtype)
    compute = computing_kernel(operator_of(desc.name).compute(desc))
    compute.bind(list(inputs), [result], np.empty(0, np.uint8))()
    return result


def described(name, *inputs, output=None, **attributes):
    struct = getattr(dml, f"DML_{name}_OPERATOR_DESC")
    tensors = [field for field, _ in struct._fields_ if field.endswith("Tensor")]
    first = next(one for one in inputs if one is not None)
    descs = [None if one is None else tensor_of(one) for one in inputs]
    descs.append(tensor(output or first.dtype.name.upper(), first.shape))
    return struct(**dict(zip(tensors, descs)), **attributes)


def run_all(name, inputs, output_sizes, **attributes):
    """All outputs of an operator with these sizes, None for absent ones, that have the first input's type."""
    schema = SCHEMAS[name].struct
    kind = inputs[0].dtype.name.upper()
    tensors = [None if one is None else tensor_of(one) for one in inputs]
    tensors += [None if sizes is None else tensor(kind, sizes) for sizes in output_sizes]
    named = zip([field.name for field in schema.tensors], tensors, strict=True)
    struct = getattr(dml, f"DML_{name}_OPERATOR_DESC")
    return dml.evaluate(struct(**dict(named), **attributes), list(inputs))


def array(name, *values):
    with np.errstate(over="ignore"):
        return np.array(values, numpy_type(name))


def scalar(kind, number):
    return dml.DML_SCALAR_UNION.from_buffer_copy(array(kind, number).tobytes().ljust(8, b"\0"))


def laid_out(desc: OperatorDesc, layout: str) -> OperatorDesc:
    """``desc`` with every tensor in one of ``LAYOUTS`` whose strides the page does not print."""
    for slot in (*desc.inputs, *desc.outputs):
        if slot.tensor is not None and slot.tensor.strides is None:
            strides = LAYOUTS[layout](slot.tensor.sizes)
            strided = slot.tensor.replace(strides=None if strides is None else tuple(strides), total_size=-1)
            desc = change_tensor(desc, slot, strided)
    return desc
