"""Dispatches that need no barrier, or are ordered by another one than the buffer's UAV barrier."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import directml_py as dml

from ..dml.helpers import identity, split
from .content_cases import gather
from .hazard import COPY_SOURCE, UNORDERED_ACCESS, HazardBench, binding


@pytest.fixture
def bench():
    made = HazardBench()
    yield made
    assert made.messages() == []


def test_reading_twice(bench):
    """DirectML never writes to its inputs."""
    op, x = bench.ready(identity()), bench.holding(1, 2, 3, 4)
    outputs = [bench.buffer(16) for _ in range(3)]
    for output in outputs:
        bench.dispatch(op, [x], [output])
    bench.execute()
    assert [bench.read(output).tolist() for output in outputs] == [[1, 2, 3, 4]] * 3


def test_parts_of_one_buffer(bench):
    """Two outputs, and inputs between them, all in one resource: no byte is shared."""
    op, shared = bench.ready(identity()), bench.holding(*range(16))
    for step in range(2):
        bench.dispatch(op, [binding(shared, 32 * step, 16)], [binding(shared, 32 * step + 16, 16)])
    bench.execute()
    assert bench.read(shared).tolist() == [0, 1, 2, 3] * 2 + [8, 9, 10, 11] * 2


def test_in_place(bench):
    """Accesses within one dispatch do not conflict."""
    op, x = bench.ready(identity(scale=2.0)), bench.holding(1, 2, 3, 4)
    bench.dispatch(op, [x], [x])
    bench.barrier(x)
    bench.dispatch(op, [x], [x])
    bench.execute()
    assert bench.read(x).tolist() == [4, 8, 12, 16]


def test_a_barrier_for_everything(bench):
    halves, copy = bench.ready(split(2, 2)), bench.ready(identity(2))
    left, right = bench.buffer(8), bench.buffer(8)
    bench.dispatch(halves, [bench.holding(1, 2, 3, 4)], [left, right])
    bench.barrier(None)
    outputs = [bench.buffer(8), bench.buffer(8)]
    for source, output in zip((left, right), outputs):
        bench.dispatch(copy, [source], [output])
    bench.execute()
    assert [bench.read(output).tolist() for output in outputs] == [[1, 2], [3, 4]]


def test_one_call_after_another(bench):
    op, buffers = bench.ready(identity()), [bench.holding(1, 2, 3, 4), *(bench.buffer(16) for _ in range(3))]
    for source, target in pairwise(buffers):
        commands = bench.new_list()
        commands.SetDescriptorHeaps([bench.heap])
        bench.dispatch(op, [source], [target], commands)
        bench.submit(commands)
    bench.wait()
    assert bench.read(buffers[-1]).tolist() == [1, 2, 3, 4]


def test_copies_before_and_after(bench):
    op, x, y = bench.ready(gather("INT32")), bench.holding(5, 6, 7), bench.buffer(16)
    indices = bench.buffer(16)
    staging = bench.buffer(16, dml.D3D12_HEAP_TYPE_UPLOAD, np.array([0, 2, -1, 1], np.int32))
    bench.commands.CopyResource(indices, staging)
    bench.transition(indices, dml.D3D12_RESOURCE_STATE_COPY_DEST, UNORDERED_ACCESS)
    bench.dispatch(op, [x, indices], [y])
    bench.transition(y, UNORDERED_ACCESS, COPY_SOURCE)
    readback = bench.buffer(16, dml.D3D12_HEAP_TYPE_READBACK)
    bench.commands.CopyResource(readback, y)
    bench.execute()
    assert readback.array("float32").tolist() == [5, 7, 7, 6]
