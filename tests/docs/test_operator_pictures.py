"""Pictures of operators show what executing them does."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest
from documentation.illustrations import examples_of
from documentation.pictures import attributes, moved_from, picture
from documentation.pictures.curve import pieces, sampled
from documentation.pictures.dependence import Element, dependence
from documentation.pictures.grid import fits, shown, trimmed

from directml_py.operators import SCHEMAS


def first(operator):
    return examples_of(operator)[0]


def sources(operator, target):
    """The input elements that an output element depends on, as (tensor, position)."""
    return sorted(dependence(first(operator)).sources[Element(*target)])


def origins(operator):
    return moved_from(first(operator), dependence(first(operator)))


class TestDependence:
    def test_of_a_product_of_matrices(self):
        """Row 1 of a 2x3 matrix, and column 2 of a 3x4 one."""
        assert sources("GEMM", (0, 6)) == [(0, 3), (0, 4), (0, 5), (1, 2), (1, 6), (1, 10)]

    def test_of_a_window(self):
        """The window of 2x2 at column 1 of a 4x6 input, whose maximum is its last element."""
        assert sources("MAX_POOLING", (0, 1)) == [(0, 2), (0, 3), (0, 8), (0, 9)]

    def test_of_a_minimum(self):
        assert sources("ELEMENT_WISE_MIN", (0, 4)) == [(0, 4), (1, 4)]

    def test_changes_stay_within_the_data_type(self):
        assert sources("ELEMENT_WISE_LOGICAL_NOT", (0, 0)) == [(0, 0)]


class TestMoves:
    def test_join(self):
        """Of {2,3} and {2,4} along columns."""
        found = origins("JOIN")
        assert found[Element(0, 2)] == (0, 2)
        assert found[Element(0, 3)] == (1, 0)
        assert found[Element(0, 7)] == (0, 3)
        assert len(found) == 14

    def test_indices_are_no_source(self):
        """{11,12,13,14} at 3, 1, 3, 0, 2: the page's example."""
        assert [origins("GATHER")[Element(0, position)] for position in range(5)] == [
            (0, 3),
            (0, 1),
            (0, 3),
            (0, 0),
            (0, 2),
        ]

    def test_what_is_filled_in_comes_from_nowhere(self):
        found = origins("PADDING")
        assert 0 < len(found) < dependence(first("PADDING")).outputs[0].size

    def test_arithmetic_is_no_move(self):
        assert origins("ELEMENT_WISE_MIN") is None
        assert origins("CUMULATIVE_SUMMATION") is None


class TestCurves:
    @pytest.mark.parametrize(
        ("operator", "function"),
        [("ACTIVATION_RELU", lambda x: np.maximum(x, 0)), ("ELEMENT_WISE_ABS", np.abs)],
    )
    def test_points(self, operator, function):
        x, y = sampled(first(operator))
        assert (x[0], x[-1]) == (-4, 4)
        np.testing.assert_array_equal(y, function(x))

    def test_steps_are_not_joined(self):
        """From -4 to 4 CEIL has nine values."""
        lines = list(pieces(*sampled(first("ELEMENT_WISE_CEIL"))))
        assert all(np.unique(line[:, 1]).size == 1 for line in lines)
        assert len({float(line[0, 1]) for line in lines}) >= 8

    def test_where_there_is_no_value(self):
        assert min(line[:, 0].min() for line in pieces(*sampled(first("ELEMENT_WISE_LOG")))) > 0

    def test_softmax_is_no_function_of_one_number(self):
        assert sampled(first("ACTIVATION_SOFTMAX")) is None
        assert sampled(first("ACTIVATION_HARDMAX")) is None


@pytest.mark.slow
@pytest.mark.parametrize("operator", [pytest.param(one, marks=pytest.mark.operator(one)) for one in SCHEMAS])
def test_every_picture_is_well_formed(operator):
    drawn = picture(operator, examples_of(operator))
    if not drawn:
        assert operator == "RANDOM_GENERATOR"
        return
    # A blank line would end the block of HTML.
    assert "\n\n" not in drawn
    root = ElementTree.fromstring(drawn)
    svg = root.find("div/svg")
    _, _, width, height = map(float, svg.get("viewBox").split())
    assert svg.get("role") == "img"
    assert svg.get("aria-label")
    assert root.find("figcaption").text.endswith(".")
    assert 50 < width < 1500
    assert 20 < height < 700


def test_numbers_and_colours():
    """JOIN's picture has a number and a colour in every cell: one for each input."""
    drawn = picture("JOIN", examples_of("JOIN"))
    numbers = [int(one) for one in re.findall(r'text-anchor="middle">(\d+)<', drawn)]
    assert numbers[-14:] == [1, 2, 3, 7, 8, 9, 10, 4, 5, 6, 11, 12, 13, 14]
    assert len(re.findall("fill: hsl", drawn)) == 28
    assert len(set(re.findall(r"fill: (hsl\([^)]*\))", drawn))) == 2
    assert "Axis is 3." in drawn


def test_the_caption_has_short_numbers():
    assert attributes(first("ACTIVATION_SCALED_TANH")) == " Alpha is 1.7159, Beta is 0.6667."
    assert attributes(first("FILL_VALUE_CONSTANT")).endswith("Value is 13.")


def test_what_fits():
    assert trimmed((1, 1, 2, 3)) == (2, 3)
    assert trimmed((5,)) == (1, 5)
    assert trimmed((2, 1, 2, 3)) == (2, 1, 2, 3)
    assert fits((1, 1, 10, 12))
    assert not fits((1, 1, 11, 11))
    assert not fits((2, 2, 2, 2, 2))
    assert not fits((1, 21))


def test_numbers_are_short():
    given = (np.float32(1.5), np.float32(1 / 3), np.float32(1e-9), np.float32(np.nan), np.float32(-np.inf), 7)
    assert [shown(one) for one in given] == ["1.5", "0.333", "1e-9", "NaN", "-∞", "7"]
