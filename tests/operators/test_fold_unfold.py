"""FOLD and UNFOLD: the order of columns, padding, gaps, overlaps, and memory use."""

from __future__ import annotations

import tracemalloc
from math import prod

import numpy as np
import pytest

import directml_py as dml
from directml_py.descs import decode_operator_desc
from directml_py.operators import kernel_of, operator_of
from directml_py.operators.operator import computing_kernel

from .helpers import padded_strides, tensor


def desc_of(
    struct, name, whole, columns, window, strides=None, dilations=None, padding=((), ()), layouts=(None, None)
):
    """``layouts``: strides of the whole and of the columns."""
    ones, zeros = [1] * len(window), [0] * len(window)
    tensors = [tensor(name, whole, layouts[0]), tensor(name, columns, layouts[1])]
    if struct is dml.DML_FOLD_OPERATOR_DESC:
        tensors.reverse()
    return struct(
        InputTensor=tensors[0],
        OutputTensor=tensors[1],
        WindowSizes=window,
        Strides=strides or ones,
        Dilations=dilations or ones,
        StartPadding=padding[0] or zeros,
        EndPadding=padding[1] or zeros,
    )


def unfold(x, columns, *window, **choices):
    desc = desc_of(dml.DML_UNFOLD_OPERATOR_DESC, x.dtype.name.upper(), x.shape, columns, *window, **choices)
    return dml.evaluate(desc, [x])[0]


def fold(x, whole, *window, **choices):
    desc = desc_of(dml.DML_FOLD_OPERATOR_DESC, x.dtype.name.upper(), whole, x.shape, *window, **choices)
    return dml.evaluate(desc, [x])[0]


def test_channels_come_before_elements_and_rows_before_columns():
    """Sizes, windows and steps that differ in every dimension, so that mixing them up shows.

    Two channels of 2 x 4, windows of 1 x 2 over every second column: four steps, row by row.
    """
    x = np.arange(16, dtype=np.int32).reshape(1, 2, 2, 4)
    columns = [[[0, 2, 4, 6], [1, 3, 5, 7], [8, 10, 12, 14], [9, 11, 13, 15]]]
    result = unfold(x, (1, 4, 4), [1, 2], [1, 2])
    assert result.tolist() == columns
    assert fold(result, x.shape, [1, 2], [1, 2]).tolist() == x.tolist()


def test_start_and_end_dilation_and_stride():
    """One dimension of 1 2 3 4 5 between a zero and two: 0 1 2 3 4 5 0 0. Taps 3 apart, steps of 2."""
    x = np.arange(1, 6, dtype=np.int32).reshape(1, 1, 5)
    result = unfold(x, (1, 2, 3), [2], [2], [3], ([1], [2]))
    assert result.tolist() == [[[0, 2, 4], [3, 5, 0]]]
    # No window covers the first element; elements in the padding are dropped.
    columns = np.array([[[1, 2, 4], [8, 16, 32]]], np.int32)
    assert fold(columns, (1, 1, 5), [2], [2], [3], ([1], [2])).tolist() == [[[0, 2, 8, 4, 16]]]


def test_what_no_window_sees_is_left_out_and_folds_to_0():
    x = np.arange(1, 8, dtype=np.float32).reshape(1, 1, 7)
    columns = unfold(x, (1, 1, 2), [1], [4])
    assert columns.tolist() == [[[1, 5]]]
    assert fold(columns, (1, 1, 7), [1], [4]).tolist() == [[[1, 0, 0, 0, 5, 0, 0]]]


def test_unfold_keeps_bits():
    """Zeros keep their signs, padding is 0, NaN stays."""
    x = np.array([-0.0, np.nan, -np.inf], np.float16).reshape(1, 1, 3)
    result = unfold(x, (1, 1, 5), [1], padding=([1], [1]))
    assert result.view(np.uint16).tolist() == [[[0, 0x8000, x.view(np.uint16)[0, 0, 1], 0xFC00, 0]]]


def test_overlaps_of_float16_are_added_in_float32():
    """2048 + 1 is 2048 in FLOAT16, but 2048 + 1 + 1 is 2050; 60000 + 60000 is infinite, but not minus 60000."""
    for values, total in (([2048, 1, 1], 2050), ([60000, 60000, -60000], 60000)):
        columns = np.zeros((1, 3, 3), np.float16)
        columns[0, [2, 1, 0], [0, 1, 2]] = values
        assert fold(columns, (1, 1, 5), [3])[0, 0, 2] == total


@pytest.mark.parametrize(
    ("dtype", "twice"), [(np.int8, -2), (np.uint16, 65534), (np.int64, -2), (np.uint64, 2**64 - 2)]
)
def test_overlaps_of_integers_wrap(dtype, twice):
    high = np.iinfo(dtype).max
    result = fold(np.full((1, 2, 2), high, dtype), (1, 1, 3), [2])
    assert result.tolist() == [[[high, twice, high]]]


@pytest.mark.parametrize("window", [(3, 40), (40, 3), (40, 40)])
def test_folding_undoes_unfolding_but_for_how_often_an_element_is_seen(window):
    """With fewer steps than elements in a window, and with more."""
    sizes = (2, 3, 42, 43)
    steps = [size - taps + 1 for size, taps in zip(sizes[2:], window)]
    columns = (2, 3 * prod(window), prod(steps))
    x = np.random.default_rng(0).integers(-99, 99, sizes).astype(np.int32)
    times = fold(np.ones(columns, np.int32), sizes, list(window))
    rows, across = (
        np.convolve(np.ones(count, int), np.ones(taps, int)) for count, taps in zip(steps, window)
    )
    np.testing.assert_array_equal(times, np.broadcast_to(np.outer(rows, across), sizes))
    np.testing.assert_array_equal(fold(unfold(x, columns, list(window)), sizes, list(window)), x * times)


@pytest.mark.parametrize("spatial", range(1, 7))
def test_every_number_of_spatial_dimensions(spatial):
    """Behind leading ones where the tensor of columns has more than three dimensions, and strided."""
    sizes, window = (2, 1, *[2, 3, 1, 2, 2, 3][:spatial]), [2, 1, 1, 2, 1, 2][:spatial]
    steps = [size - taps + 1 for size, taps in zip(sizes[2:], window)]
    x = np.arange(prod(sizes), dtype=np.int32).reshape(sizes)
    wanted = np.lib.stride_tricks.sliding_window_view(x, window, range(2, 2 + spatial))
    wanted = np.moveaxis(wanted, range(2, 2 + spatial), range(-spatial, 0))
    columns = (2, prod(window), prod(steps))
    for leading in range(6):
        led = (1,) * leading + columns
        for layouts in ((None, None), (padded_strides(sizes), padded_strides(led))):
            np.testing.assert_array_equal(unfold(x, led, window, layouts=layouts), wanted.reshape(led))
            seen = np.ones(led, np.int32)
            np.testing.assert_array_equal(
                fold(unfold(x, led, window), sizes, window, layouts=layouts),
                x * fold(seen, sizes, window),
            )


FAR = 3_000_000_000


@pytest.mark.parametrize("dtype", [np.float16, np.uint8])
def test_padding_costs_no_memory(dtype):
    """Windows far in the padding are all zeros, and columns folded there are dropped."""
    x = np.array([[[7, 8]]], dtype)
    descs = [
        desc_of(struct, x.dtype.name.upper(), (1, 1, 2), (1, 2, 3), [2], [FAR], [1], ([FAR], [FAR]))
        for struct in (dml.DML_UNFOLD_OPERATOR_DESC, dml.DML_FOLD_OPERATOR_DESC)
    ]
    tracemalloc.start()
    try:
        (columns,) = dml.evaluate(descs[0], [x])
        (whole,) = dml.evaluate(descs[1], [columns])
        assert tracemalloc.get_traced_memory()[1] < 2**24
    finally:
        tracemalloc.stop()
    assert columns.tolist() == [[[0, 7, 0], [0, 8, 0]]]
    assert whole.tolist() == x.tolist()


def test_views_that_run_backwards():
    x = np.arange(2 * 3 * 6 * 7, dtype=np.int16).reshape(2, 3, 6, 7)
    struct, window = dml.DML_UNFOLD_OPERATOR_DESC, ([2, 3], [2, 1], [1, 2], ([1, 0], [0, 2]))
    desc, _ = decode_operator_desc(desc_of(struct, "INT16", x.shape, (2, 18, 15), *window))
    results = []
    for view in (x[::-1, :, ::-1, ::-1], x[::-1, :, ::-1, ::-1].copy()):
        for kernel in (kernel_of(desc), computing_kernel(operator_of("UNFOLD").compute(desc))):
            results.append(np.zeros((2, 18, 15), np.int16)[:, ::-1])
            kernel.bind([view], [results[-1]], np.empty(0, np.uint8))()
    for result in results[1:]:
        np.testing.assert_array_equal(result, results[0])
