"""Convolutions and pools: output sizes by the pages' formulas and in programs, and unusual windows."""

from __future__ import annotations

import numpy as np
import pytest

import directml_py as dml
from directml_py.kernels.backend import backend

from .helpers import tensor

FORWARD, BACKWARD = dml.DML_CONVOLUTION_DIRECTION_FORWARD, dml.DML_CONVOLUTION_DIRECTION_BACKWARD
CROSS_CORRELATION, CONVOLUTION = (
    dml.DML_CONVOLUTION_MODE_CROSS_CORRELATION,
    dml.DML_CONVOLUTION_MODE_CONVOLUTION,
)


def convolution(
    x,
    weights,
    output,
    *,
    bias=None,
    direction=FORWARD,
    mode=CROSS_CORRELATION,
    strides=1,
    dilations=1,
    start=0,
    end=0,
    more=0,
    **rest,
):
    """A desc over FLOAT32 tensors; numbers apply to all spatial dimensions."""
    count = len(x) - 2
    return dml.DML_CONVOLUTION_OPERATOR_DESC(
        InputTensor=tensor("FLOAT32", x),
        FilterTensor=tensor("FLOAT32", weights),
        BiasTensor=None if bias is None else tensor("FLOAT32", bias),
        OutputTensor=tensor("FLOAT32", output),
        Mode=mode,
        Direction=direction,
        Strides=[strides] * count,
        Dilations=[dilations] * count,
        StartPadding=[start] * count,
        EndPadding=[end] * count,
        OutputPadding=[more] * count,
        GroupCount=rest.get("groups", 1),
        FusedActivation=rest.get("activation"),
    )


def pool(kind, x, output, *, window, strides=1, start=0, end=0, name="FLOAT32", **rest):
    count = len(x) - 2
    return kind(
        InputTensor=tensor(name, x),
        OutputTensor=tensor(name, output),
        WindowSize=[window] * count,
        Strides=[strides] * count,
        StartPadding=[start] * count,
        EndPadding=[end] * count,
        **{field: [value] * count if field == "Dilations" else value for field, value in rest.items()},
    )


def rules(desc, level=dml.DML_FEATURE_LEVEL_6_4):
    return [found.rule for found in dml.validate(desc, feature_level=level, strict=True)]


def by_side(side, sizes=(1, 2)):
    return (*sizes, side, side)


@pytest.mark.parametrize(("side", "is_valid"), [(360, False), (361, True), (362, True), (500, True)])
def test_sizes_of_a_backward_convolution(side, is_valid):
    """(180 - 1) * 2 + 3 is 361; programs ask for one more, where the stride leaves room for it, and for many more."""
    desc = convolution(
        by_side(180), (2, 3, 3, 3), by_side(side, (1, 3)), direction=BACKWARD, strides=2, bias=(1, 3, 1, 1)
    )
    assert rules(desc) == ([] if is_valid else ["DML-CONVOLUTION-page-sizes"])


def test_what_no_step_reaches_is_bias_alone():
    desc = convolution(
        (1, 1, 1, 2), (1, 1, 1, 2), (1, 1, 2, 6), bias=(1, 1, 1, 1), direction=BACKWARD, strides=2
    )
    inputs = ([[[[1, 2]]]], [[[[10, 20]]]], [[[[5]]]])
    (result,) = dml.evaluate(desc, [np.array(values, np.float32) for values in inputs])
    np.testing.assert_array_equal(result, [[[[15, 25, 25, 45, 5, 5], [5] * 6]]])


@pytest.mark.parametrize(("side", "is_valid"), [(11, False), (12, True), (14, True)])
def test_output_padding_lies_behind_what_the_windows_reach(side, is_valid):
    """(8 - 1) + 4 is 11."""
    desc = convolution(
        by_side(8), (2, 3, 2, 2), by_side(side, (1, 3)), direction=BACKWARD, dilations=3, more=1
    )
    assert rules(desc) == ([] if is_valid else ["DML-CONVOLUTION-page-sizes"])


@pytest.mark.parametrize(("side", "is_valid"), [(1, True), (2, True), (3, False)])
def test_the_gradient_of_a_filter_needs_no_step_for_every_element(side, is_valid):
    """A filter of one element that took 28 steps of 2 over 56 elements: its gradient has one element, not two."""
    desc = convolution(by_side(56), (3, 2, 28, 28), by_side(side, (1, 3)), dilations=2)
    assert rules(desc) == ([] if is_valid else ["DML-CONVOLUTION-page-sizes"])


@pytest.mark.parametrize(("side", "is_valid"), [(5, False), (6, True), (7, False)])
def test_sizes_of_a_forward_convolution(side, is_valid):
    desc = convolution(by_side(8), (3, 2, 3, 3), by_side(side, (1, 3)))
    assert rules(desc) == ([] if is_valid else ["DML-CONVOLUTION-page-sizes"])


def test_output_padding_alone_makes_no_output():
    found = dml.validate(convolution(by_side(2), (3, 2, 3, 3), by_side(1, (1, 3)), more=1))
    assert [one.rule for one in found] == ["DML-CONVOLUTION-output-padding"] * 2
    assert found[0].message.startswith(
        "OutputPadding[0] is 1; it must be less than OutputTensor.Sizes[2], which is 1"
    )


@pytest.mark.parametrize("direction", [FORWARD, BACKWARD])
@pytest.mark.parametrize("side", [1, 3, 20])
def test_any_number_of_steps_executes(direction, side):
    """Further windows are empty; if there are fewer, the first ones are computed. Channels and batches are checked."""
    x, weights = np.full((1, 1, 4, 4), 2, np.float32), np.ones((1, 1, 1, 1), np.float32)
    desc = convolution(x.shape, weights.shape, by_side(side, (1, 1)), direction=direction)
    assert dml.validate(desc) == []
    (found,) = dml.evaluate(desc, [x, weights, None])
    wanted = np.zeros((1, 1, 20, 20))
    wanted[..., :4, :4] = 2
    np.testing.assert_array_equal(found, wanted[..., :side, :side])
    wrong = convolution(x.shape, weights.shape, by_side(side, (1, 2)), direction=direction)
    assert [one.rule for one in dml.validate(wrong)] == ["DML-CONVOLUTION-sizes"]


def test_what_the_message_says():
    desc = convolution((1, 4, 8, 8), (6, 4, 3, 3), (1, 6, 6, 6), bias=(1, 5, 1, 1))
    (found,) = dml.validate(desc)
    assert (found.rule, found.path) == ("DML-CONVOLUTION-sizes", "BiasTensor.Sizes")
    assert "{1,6,1,1}" in found.message


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_one_dimension_came_with_level_4_0(rank):
    desc = convolution((1, 2, *[8] * rank), (3, 2, *[3] * rank), (1, 3, *[6] * rank))
    assert rules(desc) == []
    before = rules(desc, dml.DML_FEATURE_LEVEL_3_1)
    assert bool(before) == (rank == 1)


@pytest.mark.parametrize("direction", [FORWARD, BACKWARD])
@pytest.mark.parametrize("mode", [CROSS_CORRELATION, CONVOLUTION])
def test_modes_and_directions(direction, mode):
    """A unit impulse shows the filter, which by the page's table is flipped in one of the modes."""
    weights = np.arange(1, 5, dtype=np.float32).reshape(1, 1, 2, 2)
    x = np.zeros((1, 1, 3, 3), np.float32)
    x[0, 0, 1, 1] = 1
    side = 2 if direction == FORWARD else 4
    desc = convolution(x.shape, weights.shape, by_side(side, (1, 1)), direction=direction, mode=mode)
    (found,) = dml.evaluate(desc, [x, weights, None])
    shown = found[0, 0] if direction == FORWARD else found[0, 0, 1:3, 1:3]
    is_turned = (direction == FORWARD) == (mode == CROSS_CORRELATION)
    np.testing.assert_array_equal(shown, np.flip(weights[0, 0]) if is_turned else weights[0, 0])
    assert found.sum() == 10


@pytest.mark.parametrize("direction", [FORWARD, BACKWARD])
def test_output_padding_has_no_bias(direction):
    """The last elements are the activation of 0, also where a window would reach them."""
    side = 7 if direction == FORWARD else 8
    desc = convolution(
        by_side(6, (1, 1)),
        (1, 1, 3, 3),
        by_side(side, (1, 1)),
        bias=(1, 1, 1, 1),
        direction=direction,
        start=1,
        end=1,
        more=1 if direction == FORWARD else 2,
        activation=dml.DML_OPERATOR_DESC(
            dml.DML_OPERATOR_ACTIVATION_LINEAR, dml.DML_ACTIVATION_LINEAR_OPERATOR_DESC(Alpha=2, Beta=1)
        ),
    )
    ones = np.ones((1, 1, 6, 6), np.float32)
    bias = np.full((1, 1, 1, 1), 5, np.float32)
    (found,) = dml.evaluate(desc, [ones, np.ones((1, 1, 3, 3), np.float32), bias])
    inner = np.array([2, 3, 3, 3, 3, 2])
    wanted = np.zeros((side, side))
    wanted[:6, :6] = np.outer(inner, inner) + 5
    np.testing.assert_array_equal(found[0, 0], 2 * wanted + 1)


def test_groups_of_channels():
    """Depth-wise: each channel has filters of its own."""
    desc = convolution((1, 3, 2, 2), (6, 1, 1, 1), (1, 6, 2, 2), groups=3)
    x = np.arange(12, dtype=np.float32).reshape(1, 3, 2, 2)
    weights = np.arange(1, 7, dtype=np.float32).reshape(6, 1, 1, 1)
    (found,) = dml.evaluate(desc, [x, weights, None])
    np.testing.assert_array_equal(found, np.repeat(x, 2, axis=1) * weights.reshape(1, 6, 1, 1))


AVERAGE, MAXIMUM = dml.DML_AVERAGE_POOLING1_OPERATOR_DESC, dml.DML_MAX_POOLING2_OPERATOR_DESC


@pytest.mark.parametrize("kind", [AVERAGE, MAXIMUM, dml.DML_LP_POOLING1_OPERATOR_DESC])
@pytest.mark.parametrize(
    ("case", "sides"),
    [
        # Rounded up, the last window reaches beyond the padding.
        ({"window": 3, "strides": 2, "Dilations": 1}, {3: False, 4: True, 5: True, 6: False}),
        # The pages' formula, 8 - 3 + 1, forgets the dilation.
        ({"window": 3, "Dilations": 2, "end": -2}, {3: False, 4: True, 5: True, 6: True, 7: False}),
        # A window that does not fit takes one step.
        ({"window": 12, "Dilations": 1}, {1: True, 2: False}),
    ],
)
def test_sizes_of_pools(kind, case, sides):
    case = {"end": 0, **case}
    size = 10 + case.pop("end")
    for side, is_valid in sides.items():
        rest = {"P": 2} if kind is dml.DML_LP_POOLING1_OPERATOR_DESC else {}
        found = rules(pool(kind, by_side(size), by_side(side), **case, **rest))
        assert found == ([] if is_valid else [f"DML-{kind.__name__[4:-14]}-page-sizes"])


def test_a_step_beyond_the_padding_counts_what_is_there():
    x = np.arange(1, 6, dtype=np.float32).reshape(1, 1, 1, 5).repeat(3, axis=2)
    for include, wanted in ((True, [1, 3, 3]), (False, [1.5, 3, 4.5])):
        desc = dml.DML_AVERAGE_POOLING_OPERATOR_DESC(
            InputTensor=tensor("FLOAT32", x.shape),
            OutputTensor=tensor("FLOAT32", (1, 1, 1, 3)),
            WindowSize=[3, 3],
            Strides=[1, 2],
            StartPadding=[0, 1],
            EndPadding=[0, 1],
            IncludePadding=include,
        )
        assert dml.evaluate(desc, [x])[0].ravel().tolist() == wanted


@pytest.mark.parametrize("index_type", ["UINT32", "UINT64"])
@pytest.mark.parametrize("name", ["FLOAT32", "FLOAT16", "INT8", "UINT64"])
def test_indices_run_over_the_whole_input(name, index_type):
    """Of equal elements the first; padding never, not even where everything is the least that there is. Of FLOAT32 what
    is larger than -infinity is the result."""
    x = np.zeros((2, 2, 3, 3), name.lower())
    if name != "UINT64":
        x[...] = -np.inf if "FLOAT" in name else -128
    desc = pool(
        MAXIMUM,
        x.shape,
        (2, 2, 2, 2),
        window=3,
        strides=2,
        start=1,
        end=1,
        name=name,
        Dilations=1,
        OutputIndicesTensor=None,
    )
    desc.OutputIndicesTensor = tensor(index_type, (2, 2, 2, 2))
    values, indices = dml.evaluate(desc, [x])
    least = np.finfo(np.float32).min if name == "FLOAT32" else x[0, 0, 0, 0]
    np.testing.assert_array_equal(values, np.full((2, 2, 2, 2), least, x.dtype))
    assert indices.ravel().tolist() == [start + one for start in (0, 9, 18, 27) for one in (0, 1, 3, 4)]


def test_windows_that_see_padding_alone():
    """The mean of an empty window is NaN, its maximum the least finite value."""
    x = np.ones((1, 1, 1, 1), np.float32)
    case = {"window": 1, "strides": 1, "start": 1, "end": 0, "Dilations": 1}
    (mean,) = dml.evaluate(pool(AVERAGE, x.shape, by_side(2, (1, 1)), **case, IncludePadding=False), [x])
    np.testing.assert_array_equal(mean.ravel(), [np.nan, np.nan, np.nan, 1])
    (padded,) = dml.evaluate(pool(AVERAGE, x.shape, by_side(2, (1, 1)), **case, IncludePadding=True), [x])
    np.testing.assert_array_equal(padded.ravel(), [0, 0, 0, 1])
    most, _ = dml.evaluate(pool(MAXIMUM, x.shape, by_side(2, (1, 1)), **case), [x])
    np.testing.assert_array_equal(most.ravel(), [*[np.finfo(np.float32).min] * 3, 1])


def test_means_of_what_lies_beyond_the_padding():
    """As in Microsoft's library, padding counts in the divisor: an empty window is 0 with IncludePadding, else NaN."""
    for include, wanted in ((True, [1, 0, 0]), (False, [1, np.nan, np.nan])):
        desc = pool(AVERAGE, (1, 1, 1, 1), (1, 1, 1, 3), window=1, Dilations=1, IncludePadding=include)
        np.testing.assert_array_equal(
            dml.evaluate(desc, [np.ones((1, 1, 1, 1), np.float32)])[0][0, 0, 0], wanted
        )


@pytest.mark.parametrize(("name", "least"), [("INT8", -128), ("INT16", 0), ("INT32", -(2**31)), ("UINT8", 0)])
def test_the_largest_integer_of_nothing(name, least):
    """As Microsoft's library has it."""
    desc = pool(dml.DML_MAX_POOLING_OPERATOR_DESC, (1, 1, 1, 1), (1, 1, 1, 2), window=1, name=name)
    (found,) = dml.evaluate(desc, [np.full((1, 1, 1, 1), 5, name.lower())])
    assert found.ravel().tolist() == [5, least]


@pytest.mark.parametrize("value", [np.inf, np.nan])
def test_backward_filters_that_are_not_finite_meet_no_padding(value):
    """An element of the output is NaN or infinite only where the input reaches it through such a tap."""
    desc = convolution((1, 1, 3, 3), (1, 1, 3, 3), (1, 1, 7, 7), direction=BACKWARD, strides=2)
    x, weights = np.ones((1, 1, 3, 3), np.float32), np.zeros((1, 1, 3, 3), np.float32)
    weights[0, 0, 0, 0] = value
    (result,) = dml.evaluate(desc, [x, weights, None])
    expected = np.zeros((1, 1, 7, 7), np.float32)
    expected[0, 0, :6:2, :6:2] = value
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("name", ["FLOAT32", "FLOAT16"])
@pytest.mark.parametrize(("start", "with_padding"), [(0, False), (0, True), (2, False), (2, True)])
def test_pools_of_one_step(start, with_padding, name):
    """The sum is divided by the count; the maximum of NaN alone is the least FLOAT32, which FLOAT16
    has as -infinity."""
    dtype = np.dtype(name.lower())
    x = np.random.default_rng(1).integers(-8, 8, (2, 3, 6, 5)).astype(dtype)
    rest = {"window": 6, "start": start, "end": 1 if start == 0 else 0, "strides": 7, "name": name}
    average = pool(
        dml.DML_AVERAGE_POOLING_OPERATOR_DESC, x.shape, (2, 3, 1, 1), IncludePadding=with_padding, **rest
    )
    seen = x[:, :, : 6 - start, : min(5, 6 - start)].astype(np.float64)
    columns = 6 if with_padding else seen.shape[3]
    count = (6 if with_padding else seen.shape[2]) * columns
    (result,) = dml.evaluate(average, [x])
    expected = (seen.sum((2, 3), keepdims=True) / count).astype(dtype)
    np.testing.assert_allclose(result, expected, rtol=np.finfo(dtype).eps)
    x[0, 0, 0, 0], x[1, 2] = np.nan, np.nan
    largest = pool(dml.DML_MAX_POOLING_OPERATOR_DESC, x.shape, (2, 3, 1, 1), **rest)
    (result,) = dml.evaluate(largest, [x])
    with np.errstate(all="ignore"):
        expected = np.fmax.reduce(x[:, :, : 6 - start, : min(5, 6 - start)], axis=(2, 3), keepdims=True)
        expected = np.fmax(expected, np.finfo(np.float32).min).astype(dtype)
    np.testing.assert_array_equal(result, expected)


@pytest.mark.skipif(backend.native is None, reason="references add up in FLOAT32")
def test_the_mean_of_all_is_added_up_exactly():
    """FLOAT32 has no odd numbers beyond 2^24: a FLOAT32 accumulator would lose each later 1."""
    x = np.ones((1, 2, 12, 12), np.float32)
    x[0, :, 0, 0] = 2**24
    (found,) = dml.evaluate(
        pool(AVERAGE, x.shape, (1, 2, 1, 1), window=12, Dilations=1, IncludePadding=False), [x]
    )
    assert found.ravel().tolist() == [np.float32((2**24 + 143) / 144)] * 2
