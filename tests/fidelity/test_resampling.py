"""RESAMPLE and its gradient where Microsoft's library and the pages disagree: its answers."""

from __future__ import annotations

import numpy as np
import pytest

import directml_py as dml

from ..operators.helpers import tensor

LINEAR, NEAREST = dml.DML_INTERPOLATION_MODE_LINEAR, dml.DML_INTERPOLATION_MODE_NEAREST_NEIGHBOR
DOUBLES = np.array([1, 2, 4, 8, 16], np.float32)


def resampled(struct, names, x, count, mode, scale, offsets):
    kind = x.dtype.name.upper()
    source, target = names
    desc = struct(
        **{source: tensor(kind, x.shape), target: tensor(kind, (count,))},
        InterpolationMode=mode,
        Scales=[scale],
        InputPixelOffsets=[offsets[0]],
        OutputPixelOffsets=[offsets[1]],
    )
    (found,) = dml.evaluate(desc, [x])
    return found.tolist()


def resample(*arguments):
    return resampled(dml.DML_RESAMPLE1_OPERATOR_DESC, ("InputTensor", "OutputTensor"), *arguments)


@pytest.mark.parametrize(
    ("offsets", "expected"),
    [
        ((1.25, 0.0), [1, 0.75, 1.5, 3, 6, 16, 16]),
        ((0.75, 0.0), [1, 1.25, 2.5, 5, 10, 16, 16]),
        ((-0.25, 0.0), [1.25, 2.5, 5, 10, 16, 16, 16]),
        ((3.5, 0.0), [1, -1.5, -3, -6, -12, 16, 16]),
    ],
)
def test_offsets_beyond_a_pixel_extrapolate(offsets, expected):
    assert resample(DOUBLES, 7, LINEAR, 1.0, offsets) == expected


def test_the_base_forgets_negative_offsets():
    """Places 0.4, 0.8, 1.2, 1.6 and 2; the first element of each pair is that of -0.1, 0.3, 0.7, 1.1 and 1.5."""
    found = resample(DOUBLES, 5, LINEAR, 2.5, (-0.5, 0.25))
    assert found == pytest.approx([1, 1.8, 2.2, 3.2, 4], rel=1e-6)


def test_the_nearest_integers_lie_below():
    """Places 0.4 and 0.8: of floats the nearest, of integers the one below."""
    for dtype, expected in (
        (np.int8, [0, 0]),
        (np.uint8, [0, 0]),
        (np.float32, [0, 1]),
        (np.float16, [0, 1]),
    ):
        assert resample(np.array([0, 1], dtype), 2, NEAREST, 2.5, (-0.5, 0.25)) == expected


@pytest.mark.parametrize(
    ("mode", "count", "scale", "offsets", "expected"),
    [
        (NEAREST, 4, 2.0, (0.5, -0.5), [1, 6, 24, 224]),
        (NEAREST, 4, 2.0, (0.25, 0.0), [3, 12, 48, 192]),
        (NEAREST, 8, 0.5, (0.5, -0.5), [1, 0, 2, 0, 4, 0, 8, 0]),
        (LINEAR, 4, 2.0, (0.5, -0.5), [1.25, 6.75, 27, 220]),
        (LINEAR, 4, 2.0, (0.25, 0.0), [2.75, 11.25, 45, 196]),
        (LINEAR, 4, 2.0, (0.0, 0.25), [3.5, 13.5, 54, 184]),
        (LINEAR, 8, 0.5, (0.5, -0.5), [1, 1, 1, 2, 2, 4, 4, 0]),
    ],
)
def test_offsets_of_gradients_are_of_their_own_tensors(mode, count, scale, offsets, expected):
    """The gradient's elements are powers of 2: sums say which they are of."""
    names = "InputGradientTensor", "OutputGradientTensor"
    x = 2.0 ** np.arange(32 // count, dtype=np.float32)
    struct = dml.DML_RESAMPLE_GRAD_OPERATOR_DESC
    assert resampled(struct, names, x, count, mode, scale, offsets) == expected
