"""Scales and zero points: large tensors in blocks of all kinds, against ONNX Runtime and against the reference."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from sweeps import swept

import directml_py as dml
from directml_py.kernels import backend
from directml_py.operators import kernel_of, operator_of
from directml_py.operators.operator import computing_kernel
from directml_py.operators.quantization import factors_of, split

from .helpers import LAYOUTS, generator, numpy_type, tensor
from .records.onnx_node import run

SCALE, SCALE_ZERO_POINT = dml.DML_QUANTIZATION_TYPE_SCALE, dml.DML_QUANTIZATION_TYPE_SCALE_ZERO_POINT


def quantization(name, ends, sizes, parameters, layout="packed"):
    """The desc for data types of input and output, and for a data type and sizes of each parameter."""
    strides = LAYOUTS[layout](sizes)
    tensors = [tensor(kind, sizes, strides) for kind in ends]
    return getattr(dml, f"DML_{name}_OPERATOR_DESC")(
        InputTensor=tensors[0],
        QuantizationType=SCALE if len(parameters) == 1 else SCALE_ZERO_POINT,
        QuantizationTensors=[tensor(kind, blocks) for kind, blocks in parameters],
        OutputTensor=tensors[1],
    )


def values(rng, kind, sizes, is_scale=False):
    dtype = numpy_type(kind.replace("INT4", "INT8"))
    if dtype.kind == "f":
        return rng.uniform(*(0.1, 2.0) if is_scale else (-90, 90), sizes).astype(dtype)
    low, high = (-8, 8) if kind == "INT4" else (0, 16) if kind == "UINT4" else (-100, 100)
    return rng.integers(max(low, np.iinfo(dtype).min), high, sizes).astype(dtype)


@swept("layout", LAYOUTS)
@swept("narrow", ["INT8", "UINT8"])
@swept("axis, block", [(0, 3), (1, 8), (1, 40), (2, 1), (2, 7)])
def test_blocks_along_an_axis_are_those_of_onnx(axis, block, narrow, layout):
    sizes = [9, 40, 7]
    blocks = [size // block if each == axis else size for each, size in enumerate(sizes)]
    rng = generator(axis, block, narrow)
    x, scale = values(rng, "FLOAT32", sizes), values(rng, "FLOAT32", blocks, is_scale=True)
    zero_point = values(rng, narrow, blocks)
    parameters = [("FLOAT32", blocks), (narrow, blocks)]
    desc = quantization("QUANTIZE", ("FLOAT32", narrow), sizes, parameters, layout)
    (quantized,) = dml.evaluate(desc, [x, scale, zero_point])
    attributes = {"axis": axis, "block_size": block, "opset": 21}
    (expected,) = run("QuantizeLinear", [x, scale, zero_point], [narrow.lower()], **attributes)
    np.testing.assert_array_equal(quantized, expected)
    desc = quantization("DEQUANTIZE", (narrow, "FLOAT32"), sizes, parameters, layout)
    (back,) = dml.evaluate(desc, [quantized, scale, zero_point])
    (expected,) = run("DequantizeLinear", [quantized, scale, zero_point], ["float32"], **attributes)
    np.testing.assert_array_equal(back, expected)


LARGE = [16, 48, 240]
BLOCKS = [
    [[1, 1, 1], [1, 1, 1]],
    [[16, 48, 240], [16, 48, 240]],
    [[1, 48, 1], [1, 1, 240]],
    [[2, 12, 30], [2, 12, 30]],
    # Blocks of blocks, either way.
    [[4, 48, 30], [2, 6, 60]],
    # Overlapping blocks, which no view can represent.
    [[4, 16, 48], [8, 12, 80]],
]


@swept("layout", LAYOUTS)
@swept("blocks", BLOCKS)
@swept(
    "name, ends",
    [
        ("QUANTIZE", ("FLOAT32", "INT8")),
        ("QUANTIZE", ("FLOAT16", "UINT4")),
        ("DEQUANTIZE", ("INT4", "FLOAT16")),
    ],
)
def test_large_tensors(name, ends, blocks, layout):
    """More elements than a kernel's block; each parameter is at the divided coordinates."""
    wide, narrow = ends if name == "QUANTIZE" else ends[::-1]
    rng = generator(name, ends, blocks)
    parameters = [(wide, blocks[0]), (narrow, blocks[1])]
    x = values(rng, ends[0], LARGE)
    scale, zero_point = values(rng, wide, blocks[0], is_scale=True), values(rng, narrow, blocks[1])
    (output,) = dml.evaluate(quantization(name, ends, LARGE, parameters, layout), [x, scale, zero_point])
    places = np.indices(LARGE)
    scales, zero_points = (
        one[tuple(place * count // size for place, count, size in zip(places, one.shape, LARGE))]
        for one in (scale.astype(np.float32), zero_point.astype(np.float32))
    )
    if name == "DEQUANTIZE":
        expected = ((x - zero_points) * scales).astype(output.dtype)
    else:
        limits = (0, 15) if narrow == "UINT4" else (-128, 127)
        expected = np.clip(np.rint(x.astype(np.float32) / scales) + zero_points, *limits)
    np.testing.assert_array_equal(output, expected)


@pytest.mark.parametrize(
    ("size", "blocks", "factors"),
    [
        (1, [1, 1], []),
        (6, [1, 1], [6]),
        (6, [2], [2, 3]),
        (12, [6, 2], [2, 3, 2]),
        (6, [6, 3], [3, 2]),
        (6, [2, 3], None),
    ],
)
def test_factors(size, blocks, factors):
    assert factors_of(size, blocks) == factors


def test_splits_are_views():
    """With any layout, so that outputs are written in place."""
    base = np.zeros((5, 8, 12, 6))
    for array in (
        base,
        base[::-1, ::2, 1:, ::-1],
        base.transpose(3, 1, 0, 2),
        np.broadcast_to(base[:1], base.shape),
    ):
        factors = [[size // 2, 2] if size % 2 == 0 else [size] for size in array.shape]
        assert np.shares_memory(split(array, factors), base)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("kind", "narrow"), [("FLOAT32", "UINT8"), ("FLOAT32", "INT8"), ("FLOAT16", "INT8")])
def test_large_ranges(kind, narrow, layout):
    """The two passes agree with the NumPy reference, NaN included."""
    sizes = LARGE
    x = generator(kind, narrow).normal(1, 4, sizes).astype(numpy_type(kind))
    x[3, 4, 5] = np.nan
    desc = dml.DML_DYNAMIC_QUANTIZE_LINEAR_OPERATOR_DESC(
        tensor(kind, sizes, LAYOUTS[layout](sizes)),
        tensor(narrow, sizes, LAYOUTS[layout](sizes)),
        tensor("FLOAT32", [1, 1, 1]),
        tensor(narrow, [1, 1, 1]),
    )
    results = dml.evaluate(desc, [x])
    decoded, _ = dml.decode_operator_desc(desc)
    expected = [np.empty_like(one) for one in results]
    reference = computing_kernel(operator_of(decoded.name).compute(decoded))
    reference.bind([x], expected, np.empty(0, np.uint8))()
    for result, wanted in zip(results, expected):
        np.testing.assert_array_equal(result, wanted)
    y, scale, zero_point = (result.astype(np.float64) for result in results)
    back = np.delete(((y - zero_point) * scale).ravel() - x.ravel(), np.ravel_multi_index((3, 4, 5), sizes))
    assert np.abs(back).max() <= scale.item() * 0.51


@pytest.mark.parametrize("x", [[np.inf, 1], [-np.inf, 1], [np.inf, -np.inf], [np.nan, np.nan]])
@pytest.mark.parametrize("narrow", ["INT8", "UINT8"])
def test_ranges_without_end_have_some_result(narrow, x):
    """Without NumPy warnings, which are errors here."""
    desc = dml.DML_DYNAMIC_QUANTIZE_LINEAR_OPERATOR_DESC(
        tensor("FLOAT32", [2]), tensor(narrow, [2]), tensor("FLOAT32", [1]), tensor(narrow, [1])
    )
    y, scale, _ = dml.evaluate(desc, [np.array(x, np.float32)])
    assert y.shape == (2,)
    assert scale.item() >= 0


@pytest.mark.skipif(backend.is_plain, reason="references compute all elements at once")
def test_parameters_are_not_spread_out():
    sizes, blocks = [2048, 2048], [2048, 64]
    desc = quantization("QUANTIZE", ("FLOAT32", "INT8"), sizes, [("FLOAT32", blocks), ("INT8", blocks)])
    arrays = [np.ones(sizes, np.float32), np.ones(blocks, np.float32), np.ones(blocks, np.int8)]
    output = np.empty(sizes, np.int8)
    decoded, _ = dml.decode_operator_desc(desc)
    call = kernel_of(decoded).bind(arrays, [output], np.empty(0, np.uint8))
    tracemalloc.start()
    call()
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (output == 2).all()
    assert most < arrays[0].nbytes / 4


@pytest.mark.parametrize("name", ["QUANTIZE", "DEQUANTIZE"])
@pytest.mark.parametrize(
    ("sizes", "divides"), [((1, 3, 3, 2), False), ((1, 1, 3, 4), False), ((1, 1, 2, 6), True)]
)
def test_parameters_of_an_axis_along_the_last_dimension(name, sizes, divides):
    """ONNX Runtime passes three parameters so, whatever their axis; where they divide it, they are its blocks."""
    ends = ("FLOAT32", "INT8") if name == "QUANTIZE" else ("INT8", "FLOAT32")
    desc = quantization(name, ends, sizes, [("FLOAT32", (1, 1, 1, 3)), ("INT8", (1, 1, 1, 3))])
    found = {(problem.rule, problem.path) for problem in dml.validate(desc)}
    paths = () if divides else ("QuantizationTensors[0].Sizes[3]", "QuantizationTensors[1].Sizes[3]")
    assert found == {(f"DML-{name}-blocks", path) for path in paths}


def test_a_scale_alone_subtracts_nothing_from_uint4():
    """ONNX Runtime sends this for MatMulNBits without zero points, although 8 is to be subtracted there."""
    desc = quantization("DEQUANTIZE", ("UINT4", "FLOAT32"), (1, 1, 2, 4), [("FLOAT32", (1, 1, 2, 1))])
    x, scale = np.array([[0, 1, 8, 15], [0, 1, 8, 15]], np.uint8), np.array([0.5, -2], np.float32)
    (result,) = dml.evaluate(desc, [x.reshape(1, 1, 2, 4), scale.reshape(1, 1, 2, 1)])
    assert result.reshape(2, 4).tolist() == [[0, 0.5, 4, 7.5], [0, -2, -16, -30]]
