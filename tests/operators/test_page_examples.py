"""The examples printed on the operators' pages, with the sizes, types, axes and values printed there."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import pytest

import directml_py as dml

from .helpers import INCREASING, LAYOUTS, function, numpy_type, tensor


class T(NamedTuple):
    """A tensor as a page prints it; the nesting of the printed values does not matter."""

    sizes: tuple[int, ...]
    values: list
    type: str = "FLOAT32"

    @property
    def array(self):
        return np.array(self.values, numpy_type(self.type)).reshape(self.sizes)


PAIR = [T((1, 1, 2, 3), [[1, 2, 3], [4, 5, 6]]), T((1, 1, 2, 4), [[7, 8, 9, 10], [11, 12, 13, 14]])]
TRIPLE = [
    T((1, 1, 2, 2), [[1, 2], [3, 4]]),
    T((1, 1, 2, 2), [[5, 6], [7, 8]]),
    T((1, 1, 2, 2), [[9, 10], [11, 12]]),
]
SIX_BY_TWO = T((1, 1, 6, 2), [[1, 2], [3, 4], [5, 6], [7, 8], [9, 10], [11, 12]])
REDUCED = T((3, 3), [[1, 2, 3], [3, 0, 4], [2, 4, 2]])
SEARCHED = T((3, 3), [[1, 2, 3], [3, 0, 4], [2, 5, 2]])
ROWS = T((3, 2), [[1, 2], [3, 4], [5, 6]])


def join(inputs, axis, output):
    return dml.DML_JOIN_OPERATOR_DESC, {"InputTensors": inputs}, {"OutputTensor": output}, {"Axis": axis}


def split(axis, outputs):
    return (
        dml.DML_SPLIT_OPERATOR_DESC,
        {"InputTensor": SIX_BY_TWO},
        {"OutputTensors": outputs},
        {"Axis": axis},
    )


def total(axes, output):
    rest = {"Function": function("SUM"), "Axes": axes}
    return dml.DML_REDUCE_OPERATOR_DESC, {"InputTensor": REDUCED}, {"OutputTensor": output}, rest


def arg(struct, axes, sizes, values):
    rest = {"Axes": axes, "AxisDirection": INCREASING}
    return struct, {"InputTensor": SEARCHED}, {"OutputTensor": T(sizes, values, "UINT32")}, rest


def gather(axis, index_dimensions, x, indices, output):
    return (
        dml.DML_GATHER_OPERATOR_DESC,
        {"InputTensor": x, "IndicesTensor": T(*indices, "UINT32")},
        {"OutputTensor": output},
        {"Axis": axis, "IndexDimensions": index_dimensions},
    )


ARGMAX, ARGMIN = dml.DML_ARGMAX_OPERATOR_DESC, dml.DML_ARGMIN_OPERATOR_DESC
EXAMPLES = {
    "join 1": join(PAIR, 3, T((1, 1, 2, 7), [[1, 2, 3, 7, 8, 9, 10], [4, 5, 6, 11, 12, 13, 14]])),
    "join 2, axis 1": join(
        TRIPLE, 1, T((1, 3, 2, 2), [[[1, 2], [3, 4]], [[5, 6], [7, 8]], [[9, 10], [11, 12]]])
    ),
    "join 2, axis 2": join(TRIPLE, 2, SIX_BY_TWO),
    "join 2, axis 3": join(TRIPLE, 3, T((1, 1, 2, 6), [[1, 2, 5, 6, 9, 10], [3, 4, 7, 8, 11, 12]])),
    "split 1": split(
        2,
        [
            T((1, 1, 2, 2), [[1, 2], [3, 4]]),
            T((1, 1, 1, 2), [[5, 6]]),
            T((1, 1, 3, 2), [[7, 8], [9, 10], [11, 12]]),
        ],
    ),
    "split 2": split(3, [T((1, 1, 6, 1), [1, 3, 5, 7, 9, 11]), T((1, 1, 6, 1), [2, 4, 6, 8, 10, 12])]),
    "reduce 1": total([0], T((1, 3), [[6, 6, 9]])),
    "reduce 2": total([1], T((3, 1), [[6], [7], [8]])),
    "reduce 3": total([0, 1], T((1, 1), [[21]])),
    "argmax 1": arg(ARGMAX, [0], (1, 3), [[1, 2, 1]]),
    "argmax 2": arg(ARGMAX, [1], (3, 1), [[2], [2], [1]]),
    "argmax 3": arg(ARGMAX, [0, 1], (1, 1), [[7]]),
    "argmin 1": arg(ARGMIN, [0], (1, 3), [[0, 1, 2]]),
    "argmin 2": arg(ARGMIN, [1], (3, 1), [[0], [1], [0]]),
    "argmin 3": arg(ARGMIN, [0, 1], (1, 1), [[4]]),
    "gather 1": gather(
        0, 1, T((4,), [11, 12, 13, 14]), ((5,), [3, 1, 3, 0, 2]), T((5,), [14, 12, 14, 11, 13])
    ),
    "gather 2": gather(0, 1, ROWS, ((1, 4), [[0, 1, 1, 2]]), T((4, 2), [[1, 2], [3, 4], [3, 4], [5, 6]])),
    "gather 3": gather(1, 2, ROWS, ((1, 2), [[1, 0]]), T((3, 2), [[2, 1], [4, 3], [6, 5]])),
    "gather 4": gather(
        2,
        2,
        T((1, 3, 3), [[1, 2, 3], [4, 5, 6], [7, 8, 9]]),
        ((1, 1, 2), [[0, 2]]),
        T((3, 1, 2), [[[1, 3]], [[4, 6]], [[7, 9]]]),
    ),
    "gather 5": gather(
        1,
        2,
        T((1, 3, 2), ROWS.values),
        ((1, 2, 2), [[0, 1], [1, 2]]),
        T((2, 2, 2), [[[1, 2], [3, 4]], [[3, 4], [5, 6]]]),
    ),
}


def flat(fields):
    """The tensors of some fields, arrays of tensors spread out."""
    return [one for field in fields.values() for one in (field if isinstance(field, list) else [field])]


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("name", EXAMPLES)
def test_example(name, layout):
    struct, inputs, outputs, attributes = EXAMPLES[name]

    def describe(one):
        if isinstance(one, list):
            return [describe(part) for part in one]
        return tensor(one.type, one.sizes, LAYOUTS[layout](one.sizes))

    tensors = {field: describe(one) for field, one in (inputs | outputs).items()}
    results = dml.evaluate(struct(**tensors, **attributes), [one.array for one in flat(inputs)])
    expected = [one.array for one in flat(outputs)]
    assert len(results) == len(expected)
    for result, wanted in zip(results, expected):
        assert result.dtype == wanted.dtype
        assert result.shape == wanted.shape
        assert result.tolist() == wanted.tolist()


@pytest.mark.parametrize(
    ("struct", "row"),
    [(dml.DML_ARGMAX_OPERATOR_DESC, [3, 2, 1, 2, 3]), (dml.DML_ARGMIN_OPERATOR_DESC, [1, 2, 3, 2, 1])],
    ids=["argmax", "argmin"],
)
@pytest.mark.parametrize(("direction", "index"), [("INCREASING", 0), ("DECREASING", 4)])
def test_axis_direction_example(struct, row, direction, index):
    """The text of AxisDirection: of two best elements the first, or the last."""
    desc = struct(
        InputTensor=tensor("FLOAT32", [5]),
        OutputTensor=tensor("UINT32", [1]),
        Axes=[0],
        AxisDirection=dml.DML_AXIS_DIRECTION[f"DML_AXIS_DIRECTION_{direction}"],
    )
    assert dml.evaluate(desc, [np.array(row, np.float32)])[0].tolist() == [index]
