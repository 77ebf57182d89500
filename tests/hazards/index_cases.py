"""Out-of-range and duplicate indices."""

from __future__ import annotations

import numpy as np

import directml_py as dml

from ..operators.helpers import tensor
from .hazard import hazard

SIZES = (1, 1, 2, 3)
OUTPUTS = {"GATHER_ND": (1, 1, 1, 2), "GATHER_ND1": (1, 1, 1, 2)}


def indexed(bench, operator, indices, **attributes):
    """Dispatch an operator on a 2x3 matrix, with ``indices`` broadcast to its rank."""
    indices = indices.reshape((1,) * (4 - indices.ndim) + indices.shape)
    fields = {
        "InputTensor": tensor("FLOAT32", SIZES),
        "IndicesTensor": tensor(indices.dtype.name.upper(), indices.shape),
        **attributes,
    }
    inputs = [bench.buffer(24), bench.buffer(indices.nbytes, data=indices)]
    sizes = OUTPUTS.get(operator, indices.shape)
    if operator == "MAX_UNPOOLING":
        fields["InputTensor"], sizes = tensor("FLOAT32", indices.shape), SIZES
    if operator.startswith("SCATTER"):
        updates = (1, 1, 1, 2) if operator == "SCATTER_ND" else indices.shape
        fields["UpdatesTensor"] = tensor("FLOAT32", updates)
        inputs.append(bench.buffer(4 * int(np.prod(updates))))
        sizes = SIZES
    fields["OutputTensor"] = tensor("FLOAT32", sizes)
    op = bench.ready(getattr(dml, f"DML_{operator}_OPERATOR_DESC")(**fields))
    scratch = op.GetBindingProperties().TemporaryResourceSize
    output = bench.buffer(4 * int(np.prod(sizes)))
    bench.dispatch(op, inputs, [output], temporary=bench.buffer(scratch) if scratch else None)
    bench.execute()


OUTSIDE = {
    # The axis is that of the rows.
    "INT32": ([[0, 1, -1], [-1, -2, 0]], [[0, 2, -1], [-1, -3, 0]], "2 indices outside [-2, 1]"),
    "INT64": ([[0, 1, -1], [-1, -2, 0]], [[0, 2, -1], [-1, -(2**63), 0]], "2 indices outside [-2, 1]"),
    "UINT32": ([[0, 1, 1], [1, 0, 0]], [[0, 2, 1], [1, 0, 2**32 - 1]], "2 indices outside [0, 1]"),
    "UINT64": ([[0, 1, 1], [1, 0, 0]], [[0, 2, 1], [1, 2**64 - 1, 0]], "2 indices outside [0, 1]"),
}


def along_rows(bench, operator, wrong):
    kind = wrong or "INT32"
    indices = np.array(OUTSIDE[kind][bool(wrong)], kind.lower())
    indexed(bench, operator, indices, Axis=2)


def every_outside(rule):
    """One hazard for each type of indices."""

    def declare(scenario):
        for kind, (_, _, says) in OUTSIDE.items():
            hazard(rule, says, "first is 2 at {0,0,0,1}", path="IndicesTensor", ways=[kind])(scenario)
        return scenario

    return declare


@every_outside("DML-GATHER_ELEMENTS-index-range")
def reading_beyond_an_axis(bench, wrong):
    along_rows(bench, "GATHER_ELEMENTS", wrong)


@every_outside("DML-SCATTER-index-range")
def writing_beyond_an_axis(bench, wrong):
    along_rows(bench, "SCATTER", wrong)


@hazard(
    "DML-MAX_UNPOOLING-index-range",
    "2 indices outside [0, 5]",
    "first is 6 at {0,0,0,1}",
    path="IndicesTensor",
)
def unpooling_beyond_a_tensor(bench, wrong):
    """The output has two rows of three; 5 is its last element."""
    indexed(bench, "MAX_UNPOOLING", np.array([[5, 6 if wrong else 3, 2**32 - 1 if wrong else 0]], np.uint32))


TUPLES = {"InputDimensionCount": 2, "IndicesDimensionCount": 2}
NAMED = [[1, 2], [-2, -3]]
BEYOND = {
    # Each coordinate has a dimension of its own.
    "rows": ([[2, 2], [-2, -3]], "1 index outside [-2, 1]; the first is 2 at {0,0,0,0}"),
    "columns": ([[1, 2], [-2, -4]], "1 index outside [-3, 2]; the first is -4 at {0,0,1,1}"),
}


def every_beyond(rule):
    """One hazard for each coordinate of a tuple."""

    def declare(scenario):
        for coordinate, (_, says) in BEYOND.items():
            hazard(rule, says, path="IndicesTensor", ways=[coordinate])(scenario)
        return scenario

    return declare


def tuples(wrong):
    return np.array(BEYOND[wrong][0] if wrong else NAMED, np.int64)


@every_beyond("DML-GATHER_ND-index-range")
def reading_beyond_a_tensor(bench, wrong):
    indexed(bench, "GATHER_ND", tuples(wrong), **TUPLES)


@every_beyond("DML-SCATTER_ND-index-range")
def writing_beyond_a_tensor(bench, wrong):
    indexed(bench, "SCATTER_ND", tuples(wrong), **TUPLES)


@hazard(
    "DML-GATHER_ND1-index-range",
    "1 index outside [-3, 2]; the first is 3 at {0,0,1,0}",
    path="IndicesTensor",
)
def reading_beyond_a_batch(bench, wrong):
    """The rows are batches, which are not indexed; row 2 does not exist."""
    indices = np.array([[2], [3 if wrong else -3]], np.int32)
    indexed(bench, "GATHER_ND1", indices, **TUPLES, BatchDimensionCount=1)


@hazard(
    "DML-SCATTER-duplicate-indices",
    "indexes 1 position of OutputTensor more than once; the first is {0,0,1,2}",
    path="IndicesTensor",
)
def writing_an_element_twice(bench, wrong):
    """The same row in another column is another element; index -1 is the last row."""
    indexed(bench, "SCATTER", np.array([[0, 0, 1], [1, 1, -1 if wrong else 0]], np.int32), Axis=2)


@hazard(
    "DML-SCATTER_ND-duplicate-indices",
    "indexes 1 position of OutputTensor more than once; the first is {0,0,1,2}",
    path="IndicesTensor",
)
def writing_a_part_twice(bench, wrong):
    """Tuples that share one coordinate are different."""
    indexed(bench, "SCATTER_ND", np.array([[1, 2], [-1, -1 if wrong else 1]], np.int64), **TUPLES)


@hazard(
    "DML-SCATTER_ND-duplicate-indices",
    "indexes 1 position of OutputTensor more than once; the first is {0,0,1,0}",
    path="IndicesTensor",
)
def writing_rows_twice(bench, wrong):
    """One coordinate selects a row, whose first element is reported."""
    rows = [[1], [0], [1]] if wrong else [[1], [0]]
    indices = np.array(rows, np.int32).reshape(1, 1, len(rows), 1)
    op = bench.ready(
        dml.DML_SCATTER_ND_OPERATOR_DESC(
            InputTensor=tensor("FLOAT32", SIZES),
            IndicesTensor=tensor("INT32", indices.shape),
            UpdatesTensor=tensor("FLOAT32", (1, 1, len(rows), 3)),
            OutputTensor=tensor("FLOAT32", SIZES),
            InputDimensionCount=2,
            IndicesDimensionCount=2,
        )
    )
    inputs = [bench.buffer(24), bench.buffer(indices.nbytes, data=indices), bench.buffer(12 * len(rows))]
    scratch = bench.buffer(op.GetBindingProperties().TemporaryResourceSize)
    bench.dispatch(op, inputs, [bench.buffer(24)], temporary=scratch)
    bench.execute()
