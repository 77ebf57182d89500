"""Dispatches over memory that never recurs compute what an operator does that was bound to that memory alone."""

from __future__ import annotations

from itertools import count, islice

import numpy as np
import pytest

import directml_py as dml
from directml_py.api.enums import DML_FEATURE_LEVEL
from directml_py.descs import decode_operator_desc
from directml_py.dml.kept_bindings import KeptBindings
from directml_py.kernels.backend import backend
from directml_py.operators import SCHEMAS
from directml_py.session import Session
from directml_py.testing.decision_source import RandomSource
from directml_py.testing.valid_descs import valid_desc

from .helpers import arrays_for, tensor

OPERATORS = sorted(SCHEMAS)
ROUNDS = 3
ALIGNMENT = 256
MOST_BYTES = 1 << 16


class Ranges:
    """Ranges of one buffer for all that an operator needs, in other places in each round."""

    def __init__(self, op, round):
        # Ranges move by distances of which no two are equal.
        self._gaps = count(round % 2, 1 + round)
        self.size = 0
        inputs = [None if op.is_owned(index) else slot.tensor for index, slot in enumerate(op.inputs)]
        self.inputs = [self._range(tensor and tensor.total_size) for tensor in inputs]
        self.outputs = [self._range(slot.tensor and slot.tensor.total_size) for slot in op.outputs]
        self.temporary = self._range(op.temporary_size)
        self.persistent = self._range(op.persistent_size)

    def _range(self, size):
        if not size:
            return None
        start = self.size + next(self._gaps) * ALIGNMENT
        self.size = -(-(start + size) // ALIGNMENT) * ALIGNMENT
        return start, size


def binding_of(buffer, place):
    if place is None:
        return dml.DML_BINDING_DESC()
    return dml.DML_BINDING_DESC(dml.DML_BINDING_TYPE_BUFFER, dml.DML_BUFFER_BINDING(buffer, *place))


def dispatched(session, op, ranges, arrays):
    """All bytes of the ranges' buffer afterwards."""
    content = np.full(ranges.size, 0xA5, np.uint8)
    for slot, place, array in zip(op.inputs, ranges.inputs, arrays):
        if place is not None:
            slot.tensor.store(content[place[0] : sum(place)], array)
    buffer = session.upload(content)
    persistent = ranges.persistent and binding_of(buffer, ranges.persistent)
    uploaded = [
        session.upload(array, slot.tensor) if op.is_owned(index) else None
        for index, (slot, array) in enumerate(zip(op.inputs, arrays))
    ]
    session.initialize(op, uploaded, persistent)
    table = session.table(
        op,
        [binding_of(buffer, place) for place in ranges.inputs],
        [binding_of(buffer, place) for place in ranges.outputs],
        ranges.temporary and binding_of(buffer, ranges.temporary),
        persistent,
    )
    session.record(op, table)
    session.execute()
    assert session.dml.GetDeviceRemovedReason() == dml.S_OK
    return session.read(buffer)


SAMPLES = 6


def samples_of(operator):
    """Descs of tensors that are small and may lie anywhere."""
    for seed in count():
        desc = valid_desc(RandomSource(seed), operator, max(DML_FEATURE_LEVEL))
        tensors = [slot.tensor for slot in (*desc.inputs, *desc.outputs) if slot.tensor is not None]
        if all(each.alignment <= ALIGNMENT and each.total_size < MOST_BYTES for each in tensors):
            yield seed, desc


def rounds_of(desc, seed, monkeypatch):
    """For each round: whether the kernel was moved, and the memory after it and after that of an operator of its
    own."""
    session, moved = Session(), []
    move = KeptBindings.moved

    def counted(self, views):
        run = move(self, views)
        moved.append(run is not None)
        return run

    monkeypatch.setattr(KeptBindings, "moved", counted)
    op = session.compile(desc)
    for round in range(ROUNDS):
        ranges, arrays = Ranges(op, round), arrays_for(desc, 10 * seed + round)
        found = dispatched(session, op, ranges, arrays)
        is_moved = moved[-1]
        yield is_moved, found, dispatched(session, session.compile(desc), ranges, arrays)


@pytest.mark.slow
@pytest.mark.parametrize("operator", OPERATORS)
def test_moved_kernels_compute_what_bound_ones_do(operator, monkeypatch):
    for seed, desc in islice(samples_of(operator), SAMPLES):
        for round, (is_moved, found, expected) in enumerate(rounds_of(desc, seed, monkeypatch)):
            assert not is_moved or round == ROUNDS - 1
            np.testing.assert_array_equal(found, expected)


def packed_descs():
    """Operators over packed FLOAT32 tensors, which native kernels compute."""
    matrix, pixels, other = (tensor("FLOAT32", sizes) for sizes in ([1, 1, 8, 8], [1, 4, 8, 8], [1, 4, 1, 1]))
    filters, joined = tensor("FLOAT32", [4, 4, 3, 3]), tensor("FLOAT32", [1, 1, 8, 16])
    row, padded = tensor("FLOAT32", [1, 1, 8, 1]), tensor("FLOAT32", [1, 4, 10, 10])
    window = {"DimensionCount": 2, "Strides": [1, 1], "StartPadding": [0, 0], "EndPadding": [0, 0]}
    yield dml.DML_ELEMENT_WISE_ADD_OPERATOR_DESC(matrix, matrix, matrix)
    yield dml.DML_ACTIVATION_SIGMOID_OPERATOR_DESC(matrix, matrix)
    yield dml.DML_JOIN_OPERATOR_DESC(InputTensors=[matrix, matrix], OutputTensor=joined, Axis=3)
    yield dml.DML_REDUCE_OPERATOR_DESC(dml.DML_REDUCE_FUNCTION_SUM, matrix, row, Axes=[3])
    yield dml.DML_GEMM_OPERATOR_DESC(matrix, matrix, None, matrix, Alpha=1.0)
    yield dml.DML_ACTIVATION_SOFTMAX_OPERATOR_DESC(matrix, matrix)
    yield dml.DML_MAX_POOLING_OPERATOR_DESC(pixels, other, WindowSize=[8, 8], **window)
    yield dml.DML_PADDING_OPERATOR_DESC(
        pixels,
        padded,
        dml.DML_PADDING_MODE_CONSTANT,
        2.0,
        StartPadding=[0, 0, 1, 1],
        EndPadding=[0, 0, 1, 1],
    )
    yield dml.DML_CONVOLUTION_OPERATOR_DESC(
        pixels,
        filters,
        None,
        pixels,
        dml.DML_CONVOLUTION_MODE_CROSS_CORRELATION,
        Dilations=[1, 1],
        OutputPadding=[0, 0],
        GroupCount=1,
        **{**window, "StartPadding": [1, 1], "EndPadding": [1, 1]},
    )


@pytest.mark.skipif(backend.native is None, reason="without native kernels there is nothing to move")
@pytest.mark.parametrize("desc", [*packed_descs()], ids=lambda desc: type(desc).__name__)
def test_native_kernels_are_moved(desc, monkeypatch):
    rounds = [*rounds_of(decode_operator_desc(desc)[0], 0, monkeypatch)]
    assert [is_moved for is_moved, _, _ in rounds] == [False, False, True]
    for _, found, expected in rounds:
        np.testing.assert_array_equal(found, expected)
