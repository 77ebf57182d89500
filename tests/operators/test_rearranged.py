"""Corner cases of data movement that neither examples nor random descs reach."""

from __future__ import annotations

import numpy as np
import pytest
from sweeps import swept

import directml_py as dml
from directml_py.operators import kernel_of, operator_of
from directml_py.operators.movement.padding import Kept, kept_parts
from directml_py.operators.operator import computing_kernel
from directml_py.testing.valid_descs import make_desc

from .helpers import tensor, tensor_of

HALF, WHOLE = 2**31, 2**32


def desc_of(size, start, end, output):
    return make_desc(
        "PADDING",
        {
            "InputTensor": dml.TensorDesc(dml.DML_TENSOR_DATA_TYPE_UINT8, (size,)),
            "OutputTensor": dml.TensorDesc(dml.DML_TENSOR_DATA_TYPE_UINT8, (output,)),
            "PaddingMode": dml.DML_PADDING_MODE_EDGE,
            "PaddingValue": 0.0,
            "StartPadding": (start,),
            "EndPadding": (end,),
        },
    )


@pytest.mark.parametrize(
    ("size", "start", "end", "kept"),
    [
        (3, 1, 2, Kept(slice(0, 3), slice(1, 4), -1)),
        # Unless the sum wraps, paddings are taken literally, however long.
        (3, HALF + 5, 0, Kept(slice(0, 3), slice(HALF + 5, HALF + 8), -HALF - 5)),
        (3, 0, WHOLE - 4, Kept(slice(0, 3), slice(0, 3), 0)),
        (3, WHOLE - 4, 0, Kept(slice(0, 3), slice(WHOLE - 4, WHOLE - 1), 4 - WHOLE)),
        # If it wraps, a padding of 2**31 or more crops; at the start, all but the last edge.
        (3, WHOLE - 1, 0, Kept(slice(2, 3), slice(0, 1), 2)),
        (3, 0, WHOLE - 1, Kept(slice(0, 2), slice(0, 2), 0)),
        (3, WHOLE - 1, WHOLE - 1, Kept(slice(2, 3), slice(0, 1), 2)),
        (3, WHOLE - 1, 7, Kept(slice(2, 3), slice(0, 1), 2)),
        (3, 7, WHOLE - 1, Kept(slice(0, 2), slice(7, 9), -7)),
        # Where nothing remains, the edge that is nearest does.
        (3, WHOLE - 3, 1, Kept(slice(2, 3), slice(0, 1), 2)),
        (3, 5, WHOLE - 4, Kept(slice(0, 1), slice(0, 1), -5)),
        # Two of them that cancel: nothing is read or written outside the tensors.
        (3, HALF, HALF, Kept(slice(2, 3), slice(0, 1), 2)),
    ],
)
def test_which_elements_padding_keeps(size, start, end, kept):
    output = (size + start + end) % WHOLE
    desc = desc_of(size, start, end, output)
    assert kept_parts(desc) == [kept]
    assert kept.target.stop <= output
    assert kept.source.stop <= size


# NumPy's names of the modes that repeat elements.
MODES = {
    dml.DML_PADDING_MODE_EDGE: "edge",
    dml.DML_PADDING_MODE_REFLECTION: "reflect",
    dml.DML_PADDING_MODE_SYMMETRIC: "symmetric",
    dml.DML_PADDING_MODE_WRAP: "wrap",
}


def dispatches(desc, inputs):
    """The results of its kernel and its reference."""
    kernels = kernel_of(desc), computing_kernel(operator_of(desc.name).compute(desc))
    for kernel in kernels:
        output = np.full(desc.outputs[0].tensor.sizes, 77, desc.outputs[0].tensor.dtype)
        kernel.bind(inputs, [output], np.empty(kernel.scratch, np.uint8))()
        yield output


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        # Coordinate i reads element min(i - start modulo 2**32, 2), the last one.
        (WHOLE - 3, 3, [30, 30, 30]),
        (WHOLE - 5, 4, [30, 30]),
        # All coordinates are before the input.
        (3, WHOLE - 3, [10, 10, 10]),
        (4, WHOLE - 5, [10, 10]),
    ],
)
def test_edges_of_what_is_taken_away_whole(start, end, expected):
    desc = desc_of(3, start, end, len(expected))
    assert not dml.validate(desc, strict=True)
    for output in dispatches(desc, [np.array([10, 20, 30], np.uint8)]):
        assert output.tolist() == expected


def of_sizes(name, sizes, output, **attributes):
    kind = dml.DML_TENSOR_DATA_TYPE_UINT16
    tensors = {"InputTensor": dml.TensorDesc(kind, sizes), "OutputTensor": dml.TensorDesc(kind, output)}
    return make_desc(name, {**tensors, **attributes})


@pytest.mark.parametrize("mode", dml.DML_PADDING_MODE)
def test_long_paddings_of_large_tensors(mode):
    """Several threads copy borders from elements already in the output."""
    pads = {"StartPadding": (5, WHOLE - 30, 900), "EndPadding": (0, 700, 450)}
    desc = of_sizes("PADDING", (3, 200, 300), (8, 870, 1650), PaddingMode=mode, PaddingValue=0.0, **pads)
    x = np.arange(180000, dtype=np.uint16).reshape(3, 200, 300)
    one, other = dispatches(desc, [x])
    np.testing.assert_array_equal(one, other)


@swept("before", [(0, 0, 0), (1, 2, 3), (4, 0, 7), (0, 150, 41)])
@swept("mode, name", MODES.items())
def test_paddings_of_few_parts_and_of_many(mode, name, before):
    """Mirroring reverses at every edge, so that long borders of short dimensions have many parts."""
    sizes, behind = (1, 2, 5), tuple(reversed(before))
    whole = tuple(map(sum, zip(sizes, before, behind)))
    attributes = {"PaddingMode": mode, "PaddingValue": 0.0, "StartPadding": before, "EndPadding": behind}
    desc = of_sizes("PADDING", sizes, whole, **attributes)
    x = np.arange(10, dtype=np.uint16).reshape(sizes)
    expected = np.pad(x, list(zip(before, behind)), name)
    for output in dispatches(desc, [x]):
        np.testing.assert_array_equal(output, expected)
    # Elements removed at the end, of which the border repeats some; at the start the edge has a rule of its own.
    taken = tuple(min(3, size - 1) for size in whole)
    if mode != dml.DML_PADDING_MODE_EDGE:
        attributes["EndPadding"] = tuple((pad - less) % WHOLE for pad, less in zip(behind, taken))
        left = tuple(size - less for size, less in zip(whole, taken))
        for output in dispatches(of_sizes("PADDING", sizes, left, **attributes), [x]):
            np.testing.assert_array_equal(output, expected[tuple(map(slice, left))])


@pytest.mark.parametrize("strides", [(-1, 1), (1, -1), (-2, 1), (-1, -3)])
def test_a_gradient_among_zeros(strides):
    """Each element is written, whatever was there: zeros around a gradient without gaps, or everywhere first."""
    whole, offsets, windows = (300, 400), (20, 30), (250, 360)
    counts = tuple((window - 1) // abs(stride) for window, stride in zip(windows, strides))
    kind = dml.DML_TENSOR_DATA_TYPE_UINT16
    desc = make_desc(
        "SLICE_GRAD",
        {
            "InputGradientTensor": dml.TensorDesc(kind, counts),
            "OutputGradientTensor": dml.TensorDesc(kind, whole),
            "InputWindowOffsets": offsets,
            "InputWindowSizes": windows,
            "InputWindowStrides": strides,
        },
    )
    gradient = np.arange(1, 1 + counts[0] * counts[1]).astype(np.uint16).reshape(counts)
    expected = np.zeros(whole, np.uint16)
    window = expected[20:270, 30:390][tuple(slice(None, None, stride) for stride in strides)]
    window[: counts[0], : counts[1]] = gradient
    for output in dispatches(desc, [gradient]):
        np.testing.assert_array_equal(output, expected)


def test_tiles_of_more_dimensions_than_loops_have():
    """Each of five dimensions is split in two."""
    desc = of_sizes("TILE", (2,) * 5, (6,) * 5, Repeats=(3,) * 5)
    x = np.arange(32, dtype=np.uint16).reshape((2,) * 5)
    for output in dispatches(desc, [x]):
        for place in np.ndindex(output.shape):
            assert output[place] == x[tuple(index % 2 for index in place)]


@pytest.mark.parametrize("order", dml.DML_DEPTH_SPACE_ORDER)
def test_blocks_go_into_views(order):
    """Channels that are not contiguous cannot be merged without a copy, which would receive the output."""
    desc = of_sizes("SPACE_TO_DEPTH1", (2, 3, 4, 6), (2, 12, 2, 3), BlockSize=2, Order=order)
    x = np.arange(2 * 3 * 4 * 6, dtype=np.uint16).reshape(6, 4, 3, 2).T
    wide = np.zeros((2, 24, 4, 6), np.uint16)
    output = wide[:, ::2, ::2, ::2]
    kernel_of(desc).bind([x], [output], np.empty(0, np.uint8))()
    (expected, _) = dispatches(desc, [np.ascontiguousarray(x)])
    np.testing.assert_array_equal(output, expected)
    assert not wide[:, 1::2].any()


def test_the_constant_of_padding1_keeps_its_bits():
    """An unusual NaN payload."""
    bits = np.array([0x7FF8_0000_0000_1234], np.uint64)
    value = dml.DML_SCALAR_UNION(UInt64=int(bits[0]))
    x = np.zeros(1, np.float64)
    desc = dml.DML_PADDING1_OPERATOR_DESC(
        tensor_of(x),
        tensor("FLOAT64", [2]),
        PaddingMode=dml.DML_PADDING_MODE_CONSTANT,
        PaddingValueDataType=dml.DML_TENSOR_DATA_TYPE_FLOAT64,
        PaddingValue=value,
        StartPadding=[1],
        EndPadding=[0],
    )
    (result,) = dml.evaluate(desc, [x])
    assert result.view(np.uint64).tolist() == [int(bits[0]), 0]


def test_subsequences_of_many_layouts():
    """Rows along which lengths are broadcast are gathered whole, whatever the strides."""
    rng = np.random.default_rng(7)
    base = rng.integers(0, 9999, (6, 70, 40)).astype(np.uint16)
    views = [base, base[::-1, :, ::-1], np.asfortranarray(base), np.repeat(base, 2, 1)[:, ::2]]
    lengths = {
        "all": rng.integers(0, 80, (6, 1, 40)).astype(np.uint32),
        "rows": np.broadcast_to(rng.integers(0, 80, (6, 1, 1)).astype(np.uint32), (6, 1, 40)),
        "columns": np.broadcast_to(rng.integers(0, 80, (1, 1, 40)).astype(np.uint32), (6, 1, 40)),
        "one": np.broadcast_to(np.array([[[69]]], np.uint32), (6, 1, 40)),
    }
    kind = dml.DML_TENSOR_DATA_TYPE_UINT32
    desc = of_sizes(
        "REVERSE_SUBSEQUENCES",
        base.shape,
        base.shape,
        SequenceLengthsTensor=dml.TensorDesc(kind, (6, 1, 40)),
        Axis=1,
    )
    for x in views:
        for counts in lengths.values():
            for output in dispatches(desc, [x, counts]):
                for batch, column in np.ndindex(6, 40):
                    count = min(int(counts[batch, 0, column]), 70)
                    line = x[batch, :, column]
                    expected = np.concatenate([line[:count][::-1], line[count:]])
                    np.testing.assert_array_equal(output[batch, :, column], expected)
