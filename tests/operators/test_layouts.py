"""Results are those of packed tensors, bit for bit, whatever the layouts and however many threads, and whether or not
weights are prepacked; and native kernels decline no layout."""

from __future__ import annotations

import numpy as np
import pytest
from toolchain import later

from directml_py.api.enums import (
    DML_FEATURE_LEVEL,
    DML_RECURRENT_NETWORK_DIRECTION_FORWARD,
    DML_TENSOR_DATA_TYPE,
    DML_TENSOR_DATA_TYPE_FLOAT16,
    DML_TENSOR_DATA_TYPE_FLOAT32,
    DML_TENSOR_DATA_TYPE_UINT32,
    DML_TENSOR_FLAG_NONE,
    DML_TENSOR_FLAG_OWNED_BY_DML,
)
from directml_py.descs.tensor import TensorDesc
from directml_py.kernels.backend import backend
from directml_py.kernels.decisions import Decisions
from directml_py.operators import SCHEMAS, operator_of
from directml_py.testing.desc_generator import DescGenerator
from directml_py.testing.recipes import recipe_of
from directml_py.testing.valid_descs import Assembly, make_desc

from .helpers import PreferringFloats, generator

OPERATORS = sorted(SCHEMAS)
# What memory holds before anything is stored there. As a float it is a number.
FILLING = 0xA5
MOST_ELEMENTS = 1 << 15
# Elements of which a sum loses its digits, with exponents up to so many bits.
SPANS = {np.dtype(np.float16): 11, np.dtype(np.float32): 24, np.dtype(np.float64): 24}


class LargeGenerator(DescGenerator):
    """Sizes that reach blocks, tails and threads of native kernels. All tensors are packed, and owned by DirectML where
    they may be, so that kernels prepack them."""

    def shape(self, rank, share=1, most=5):
        return super().shape(
            rank, share, self.source.choice((most, 4 * most + 3, 12 * most + 5, 12 * most + 5))
        )

    def tensor(self, data_type, sizes, field, broadcast=True):
        is_owned = self.field(field).role != "output" and self.may_be_owned(field)
        flags = DML_TENSOR_FLAG_OWNED_BY_DML if is_owned else DML_TENSOR_FLAG_NONE
        return TensorDesc(DML_TENSOR_DATA_TYPE(data_type), tuple(sizes), None, flags)


def large_sample(operator, seed):
    maker = LargeGenerator(PreferringFloats(seed), SCHEMAS[operator], max(DML_FEATURE_LEVEL), MOST_ELEMENTS)
    return Assembly(maker, recipe_of(operator)(maker)).desc()


def owned(*sizes, dtype=DML_TENSOR_DATA_TYPE_FLOAT32):
    return TensorDesc(dtype, sizes, None, DML_TENSOR_FLAG_OWNED_BY_DML)


def plain(*sizes, dtype=DML_TENSOR_DATA_TYPE_FLOAT32):
    return TensorDesc(dtype, sizes)


def gemm(rows, depth, columns, transposes=(0, 0), dtype=DML_TENSOR_DATA_TYPE_FLOAT32):
    a, b = (
        sizes[::-1] if is_turned else sizes
        for sizes, is_turned in zip(((rows, depth), (depth, columns)), transposes)
    )
    return make_desc(
        "GEMM",
        {
            "ATensor": plain(1, 1, *a, dtype=dtype),
            "BTensor": owned(1, 1, *b, dtype=dtype),
            "OutputTensor": plain(1, 1, rows, columns, dtype=dtype),
            "TransA": transposes[0],
            "TransB": transposes[1],
            "Alpha": 1.0,
            "Beta": 0.0,
        },
    )


def convolution(channels, features, size, taps=3, groups=1, dtype=DML_TENSOR_DATA_TYPE_FLOAT32):
    return make_desc(
        "CONVOLUTION",
        {
            "InputTensor": plain(2, channels, size, size, dtype=dtype),
            "FilterTensor": owned(features, channels // groups, taps, taps, dtype=dtype),
            "BiasTensor": owned(1, features, 1, 1, dtype=dtype),
            "OutputTensor": plain(2, features, size, size, dtype=dtype),
            "Mode": 1,
            "Direction": 0,
            "Strides": [1, 1],
            "Dilations": [1, 1],
            "StartPadding": [taps // 2] * 2,
            "EndPadding": [taps // 2] * 2,
            "OutputPadding": [0, 0],
            "GroupCount": groups,
        },
    )


def along(name, sizes, axes, dtype=DML_TENSOR_DATA_TYPE_FLOAT32, **others):
    tensor = plain(*sizes, dtype=dtype)
    return make_desc(name, {"InputTensor": tensor, "OutputTensor": tensor, "Axes": axes, **others})


def pooled(name, sizes, window, stride, dtype=DML_TENSOR_DATA_TYPE_FLOAT32, **others):
    steps = [(size + 2 - taps) // stride + 1 for size, taps in zip(sizes[2:], window)]
    geometry = {"Strides": [stride] * 2, "WindowSize": window, "StartPadding": [1, 1], "EndPadding": [1, 1]}
    tensors = {
        "InputTensor": plain(*sizes, dtype=dtype),
        "OutputTensor": plain(*sizes[:2], *steps, dtype=dtype),
    }
    return make_desc(name, {**tensors, **geometry, **others})


def normalized(sizes, dtype=DML_TENSOR_DATA_TYPE_FLOAT32):
    parameters = dict.fromkeys(
        ("MeanTensor", "VarianceTensor", "ScaleTensor", "BiasTensor"), plain(1, sizes[1], 1, 1, dtype=dtype)
    )
    tensors = dict.fromkeys(("InputTensor", "OutputTensor"), plain(*sizes, dtype=dtype))
    return make_desc("BATCH_NORMALIZATION", {**tensors, **parameters, "Spatial": True, "Epsilon": 1e-5})


def reduced(function, sizes, axes, dtype=DML_TENSOR_DATA_TYPE_FLOAT32):
    output = [1 if axis in axes else size for axis, size in enumerate(sizes)]
    fields = {"InputTensor": plain(*sizes, dtype=dtype), "OutputTensor": plain(*output, dtype=dtype)}
    return make_desc("REDUCE", {**fields, "Function": function, "Axes": axes})


def recurrent(sequence, batch, width, hidden, activation):
    """A recurrent layer without bias."""
    return make_desc(
        "RNN",
        {
            "InputTensor": plain(1, sequence, batch, width),
            "WeightTensor": plain(1, 1, hidden, width),
            "RecurrenceTensor": plain(1, 1, hidden, hidden),
            "HiddenInitTensor": plain(1, 1, batch, hidden),
            "SequenceLengthsTensor": plain(1, 1, 1, batch, dtype=DML_TENSOR_DATA_TYPE_UINT32),
            "OutputSequenceTensor": plain(sequence, 1, batch, hidden),
            "OutputSingleTensor": plain(1, 1, batch, hidden),
            "ActivationDescs": [make_desc(activation, {})],
            "Direction": DML_RECURRENT_NETWORK_DIRECTION_FORWARD,
        },
    )


# Products of so many elements that BLAS computes them, or would if the right-hand matrix could not be prepacked.
LARGE_CASES = {
    "large products": gemm(520, 512, 1024, (0, 1)),
    "products of as many rows as are prepacked": gemm(256, 1024, 1024),
    "channels of many pixels": convolution(64, 72, 30),
}
NORMALIZED = {"NormalizeVariance": True, "Epsilon": 1e-5}
# What samples seldom reach.
CASES = {
    # BLAS computes the step after which sequences of length 0 end. GELU shows differences that TANH hides.
    "time steps with GELU": recurrent(1, 4, 4, 8, "ACTIVATION_GELU"),
    "square products": gemm(64, 64, 64),
    "odd products of halves": gemm(33, 300, 65, (0, 1), DML_TENSOR_DATA_TYPE_FLOAT16),
    "products of few rows": gemm(5, 700, 97, (1, 1)),
    "a row": gemm(1, 5000, 97),
    "a row times a transpose": gemm(1, 700, 97, (0, 1)),
    "a column": gemm(97, 700, 1, (1, 0)),
    "a few channels": convolution(33, 20, 5),
    "channels of Winograd's method": convolution(16, 20, 14),
    "channels of few pixels": convolution(16, 20, 8),
    "channels of halves": convolution(17, 9, 9, dtype=DML_TENSOR_DATA_TYPE_FLOAT16),
    "pixels alone": convolution(70, 33, 7, taps=1),
    "channels one by one": convolution(33, 33, 9, groups=33),
    "channels of wide rows": convolution(20, 20, 18, groups=20),
    "channels in wide windows": convolution(20, 20, 18, taps=5, groups=20),
    "largest in windows": pooled("MAX_POOLING", (2, 70, 9, 11), (3, 3), 2),
    "largest in uneven windows": pooled("MAX_POOLING", (1, 20, 9, 11), (2, 3), 1),
    "means of windows": pooled("AVERAGE_POOLING", (2, 70, 9, 11), (3, 3), 1, IncludePadding=False),
    "means of padded windows": pooled("AVERAGE_POOLING", (2, 20, 9, 11), (3, 5), 2, IncludePadding=True),
    "channels with statistics": normalized((2, 70, 16, 20)),
    "channels of halves with statistics": normalized((2, 33, 16, 20), DML_TENSOR_DATA_TYPE_FLOAT16),
    "softmax of channels": along("ACTIVATION_SOFTMAX1", (1, 33, 5, 5), [1]),
    "softmax of outer and inner dimensions": along("ACTIVATION_LOG_SOFTMAX1", (6, 33, 17), [0, 2]),
    "softmax of long columns": along("ACTIVATION_SOFTMAX1", (9000, 3), [0]),
    "softmax of halves in columns": along(
        "ACTIVATION_SOFTMAX1", (2, 1000, 7), [1], DML_TENSOR_DATA_TYPE_FLOAT16
    ),
    "normalized images": along("MEAN_VARIANCE_NORMALIZATION1", (3, 5, 31, 33), [2, 3], **NORMALIZED),
    "normalized images of many channels": along(
        "MEAN_VARIANCE_NORMALIZATION1", (2, 41, 13, 11), [2, 3], **NORMALIZED
    ),
    "normalized images of halves": along(
        "MEAN_VARIANCE_NORMALIZATION1",
        (2, 9, 12, 20),
        [2, 3],
        DML_TENSOR_DATA_TYPE_FLOAT16,
        **NORMALIZED,
    ),
    "normalized channels": along("MEAN_VARIANCE_NORMALIZATION1", (3, 1000, 3, 3), [1], **NORMALIZED),
    "sums of rows": reduced(9, (70, 1000), [1]),
    "sums of columns": reduced(9, (1000, 70), [0]),
    "means of planes": reduced(2, (2, 37, 24, 30), [2, 3]),
    "means of planes of halves": reduced(2, (2, 40, 24, 30), [2, 3], DML_TENSOR_DATA_TYPE_FLOAT16),
    "means of odd planes of halves": reduced(2, (1, 37, 23, 31), [2, 3], DML_TENSOR_DATA_TYPE_FLOAT16),
    "largest of planes": reduced(7, (1, 24, 24, 30), [2, 3]),
    "sums of large planes": reduced(10, (1, 3, 400, 500), [2, 3]),
    "sums of outer and inner dimensions": reduced(0, (30, 40, 50), [0, 2]),
    "roots of sums of halves": reduced(3, (30, 1000, 7), [1], DML_TENSOR_DATA_TYPE_FLOAT16),
}


def values_for(slot, rng):
    """Most floats cancel along some dimension but for the last digits of their sum, which depend on its order."""
    tensor = slot.tensor
    if "Indices" in slot.field:
        return np.zeros(tensor.sizes, tensor.dtype)
    if tensor.dtype.kind != "f":
        return rng.integers(0, 4, tensor.sizes).astype(tensor.dtype)
    values = rng.normal(0, 1, tensor.sizes)
    if "Variance" in slot.field:
        return (np.abs(values) + 0.1).astype(tensor.dtype)
    if rng.random() < 0.7 and values.size > 1:
        span = SPANS[tensor.dtype]
        axis = int(rng.choice([axis for axis, size in enumerate(values.shape) if size > 1]))
        lines, half = np.moveaxis(values, axis, 0), values.shape[axis] // 2
        lines[:half] *= 2.0 ** rng.uniform(-span, span, lines[:half].shape)
        lines[half : 2 * half] = -lines[rng.permutation(half)]
        lines[...] = lines[rng.permutation(len(lines))]
    else:
        # Zeros of both signs.
        values *= rng.random(values.shape) < 0.7
    return values.astype(tensor.dtype)


def strides_of(sizes, order, gaps):
    """Strides of dimensions that lie in this ``order``, the innermost one last, with a gap behind each."""
    strides, step = [0] * len(sizes), 1
    for axis in reversed(order):
        strides[axis] = step
        step = step * sizes[axis] + gaps[axis]
    return strides


def order_and_gaps(layout, rank, rng):
    straight, none = list(range(rank)), [0] * rank
    return {
        "packed": (straight, none),
        "shifted": (straight, none),
        "reversed": (straight, none),
        "padded": (straight, [1] * rank),
        "padded rows": (straight, [*none[1:], 3]),
        "part of a JOIN": (straight, [0, 5, *none[2:]][:rank]),
        "NHWC": ([*straight[:1], *straight[2:], *straight[1:2]], none),
        "transposed": ([*straight[:-2], *straight[:-3:-1]], none),
        "turned round": (straight[::-1], none),
        "permuted": (rng.permutation(rank).tolist(), rng.integers(0, 2, rank).tolist()),
    }[layout]


LAYOUTS = (
    "shifted",
    "reversed",
    "padded",
    "padded rows",
    "part of a JOIN",
    "NHWC",
    "transposed",
    "turned round",
    "permuted",
)


def bytes_at_a_line(size):
    memory = np.full(size + 64, FILLING, np.uint8)
    start = -memory.ctypes.data % 64
    return memory[start : start + size]


def empty(layout, sizes, dtype, rng):
    strides = strides_of(sizes, *order_and_gaps(layout, len(sizes), rng))
    shift = 3 if layout == "shifted" else 0
    reach = 1 + sum((size - 1) * stride for size, stride in zip(sizes, strides))
    memory = bytes_at_a_line((shift + reach) * dtype.itemsize).view(dtype)[shift:]
    view = np.lib.stride_tricks.as_strided(memory, sizes, [stride * dtype.itemsize for stride in strides])
    return view[(slice(None, None, -1),) * len(sizes)] if layout == "reversed" else view


def laid_out(array, layout, rng):
    if array is None:
        return None
    view = empty(layout, array.shape, array.dtype, rng)
    view[...] = array
    return view


def results(desc, kernel, inputs, layout, rng):
    outputs = [
        None if slot.tensor is None else empty(layout, slot.tensor.sizes, slot.tensor.dtype, rng)
        for slot in desc.outputs
    ]
    kernel.bind(inputs, outputs, bytes_at_a_line(kernel.scratch))()
    return [None if output is None else taken_from_memory(output) for output in outputs]


def taken_from_memory(output):
    """A copy; the bytes between the elements must be as they were."""
    copy, memory = np.array(output, order="C"), output
    while memory.base is not None:
        memory = memory.base
    output[...] = np.frombuffer(bytes([FILLING] * output.itemsize), output.dtype)[0]
    assert (memory.view(np.uint8) == FILLING).all(), "bytes outside of the output are written"
    return copy


def assert_same_bits(found, expected, case):
    """Which NaN it is does not count."""
    for one, other in zip(found, expected):
        if one is None:
            continue
        one, other = np.ascontiguousarray(one), np.ascontiguousarray(other)
        if one.tobytes() != other.tobytes():
            np.testing.assert_array_equal(one, other, err_msg=str(case))
            if one.dtype.kind == "f":
                signs = [np.signbit(array[~np.isnan(array)]) for array in (one, other)]
                np.testing.assert_array_equal(*signs, err_msg=str(case))


def layouts_for(values, rng):
    """The layouts of all inputs, and of the outputs: one that differs in one place, or many."""
    for layout in LAYOUTS:
        yield [layout] * len(values), layout
        yield [layout] * len(values), "packed"
        yield ["packed"] * len(values), layout
        yield [LAYOUTS[place] for place in rng.integers(0, len(LAYOUTS), len(values))], layout


def repeated(values, rng):
    """Inputs that are equal along some dimensions, by strides of 0 and packed."""
    with_zeros, packed = [], []
    for array in values:
        if array is not None:
            repeats = rng.random(array.ndim) < 0.6
            one = array[tuple(slice(0, 1) if is_repeated else slice(None) for is_repeated in repeats)]
            with_zeros.append(np.broadcast_to(laid_out(one, "packed", rng), array.shape))
            packed.append(laid_out(with_zeros[-1], "packed", rng))
        else:
            with_zeros.append(None)
            packed.append(None)
    return with_zeros, packed


def prepacked(kernel, values, rng):
    given = [laid_out(array, "packed", rng) for array in values]
    for position, packing in kernel.packed.inputs.items():
        memory = bytes_at_a_line(packing.size)
        packing.store(given[position], memory)
        given[position] = memory
    return given


def check(desc, rng):
    kernel = operator_of(desc.name).kernel(desc)
    values = [None if slot.tensor is None else values_for(slot, rng) for slot in desc.inputs]
    packed = [laid_out(array, "packed", rng) for array in values]
    with Decisions() as of_packed:
        expected = results(desc, kernel, packed, "packed", rng)
    known = {*map(str, of_packed.declined)}
    for layouts, output in layouts_for(values, rng):
        inputs = [laid_out(array, layout, rng) for array, layout in zip(values, layouts)]
        with Decisions() as decisions:
            found = results(desc, kernel, inputs, output, rng)
        assert_same_bits(found, expected, (desc, layouts, output))
        declined = {*map(str, decisions.declined)} if backend.native is not None else set()
        assert declined <= known, (desc, layouts, output)
    for _ in range(3):
        with_zeros, copies = repeated(values, rng)
        found = [results(desc, kernel, inputs, "packed", rng) for inputs in (with_zeros, copies)]
        assert_same_bits(*found, (desc, "strides of 0"))
    if kernel.packed is not None:
        for layout in ("packed", "NHWC", "padded"):
            found = results(desc, kernel.packed.kernel, prepacked(kernel, values, rng), layout, rng)
            assert_same_bits(found, expected, (desc, "OWNED_BY_DML", layout))
    if backend.native is not None:
        for number in (1, 2, 7):
            backend.native.lib.dml_set_threads(number)
            backend.threads = number
            found = results(desc, kernel, packed, "packed", rng)
            assert_same_bits(found, expected, (desc, f"{number} threads"))


@pytest.fixture(autouse=True)
def _threads():
    before = backend.threads
    yield
    backend.threads = before
    if backend.native is not None:
        backend.native.lib.dml_set_threads(before)


@pytest.fixture(params=["native", *later("numpy")])
def kernels(request, monkeypatch):
    if request.param == "numpy":
        monkeypatch.setattr(backend, "native", None)
        monkeypatch.setattr(backend, "is_plain", True)


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("operator", OPERATORS)
def test_samples_of_each_operator(operator):
    check(large_sample(operator, 1), generator(operator, 1))


@pytest.mark.slow
@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("operator", OPERATORS)
def test_many_samples_of_each_operator(operator):
    for seed in range(2, 22):
        check(large_sample(operator, seed), generator(operator, seed))


@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("case", CASES)
def test_sizes_of_native_loops(case):
    check(CASES[case], generator(case))


@pytest.mark.slow
@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("case", LARGE_CASES)
def test_sizes_of_large_loops(case):
    check(LARGE_CASES[case], generator(case))
