"""What an operator keeps of its last bindings: never used for others, and gone with the memory."""

from __future__ import annotations

import gc
import tracemalloc
import weakref

import numpy as np
import pytest

import directml_py as dml
from directml_py.capturing.parser import read_capture
from directml_py.capturing.replay import replay

from .helpers import DEFAULT, binding, floats, identity, log_sum_exp, power

# These bind no memory but what a kind device requires.
pytestmark = pytest.mark.kind_device


def recorded(bench, op, source, target, temporary=None):
    """Record a dispatch with a table of its own."""
    table = bench.dml.CreateBindingTable(bench.table_desc(op))
    table.BindInputs([binding(source)])
    table.BindOutputs([binding(target)])
    if temporary is not None:
        table.BindTemporaryResource(binding(temporary))
    bench.record(op, table)
    return table


@pytest.mark.parametrize("part", ["source", "target", "temporary"])
def test_memory_goes_with_its_resource(bench, part):
    op = bench.compile(log_sum_exp(64))
    buffers = {
        "source": bench.holding(*[0.0] * 64),
        "target": bench.buffer(4),
        "temporary": bench.buffer(op.GetBindingProperties().TemporaryResourceSize),
    }
    recorded(bench, op, *buffers.values())
    bench.execute()
    recorded(bench, op, *buffers.values())
    bench.execute()
    memory = {name: weakref.ref(buffer.buffer) for name, buffer in buffers.items()}
    gc.collect()
    del buffers[part]
    # Descriptors, which the heap keeps as Direct3D's does, are written for the next table.
    bench.heap.__dict__["_slots"].clear()
    assert memory[part]() is None
    assert all(memory[name]() is not None for name in buffers)


def test_copies_go_with_the_table(bench):
    """The input that POW cannot work in place of is copied for the dispatch, of which nothing is told where it shares
    its memory through another resource."""
    count = 1 << 20
    op, base = bench.compile(power(count)), bench.buffer(4 * count)
    heap = bench.d3d12.CreateHeap(dml.CD3DX12_HEAP_DESC(4 * count, dml.CD3DX12_HEAP_PROPERTIES(DEFAULT)))
    desc = dml.CD3DX12_RESOURCE_DESC.Buffer(4 * count, dml.D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS)
    state = dml.D3D12_RESOURCE_STATE_COMMON
    exponent, output = (bench.d3d12.CreatePlacedResource(heap, 0, desc, state) for _ in range(2))

    def run():
        table = bench.dml.CreateBindingTable(bench.table_desc(op))
        table.BindInputs([binding(base), binding(exponent)])
        table.BindOutputs([binding(output)])
        bench.record(op, table)
        bench.execute()

    run()
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        run()
        after, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak - before > 4 * count
    assert after - before < count


def test_other_memory_for_another_table(bench):
    op = bench.compile(identity(4))
    source, target, other = bench.holding(1, 2, 3, 4), bench.buffer(16), bench.buffer(16)
    for output in (target, other, target):
        tables = recorded(bench, op, source, output)
        bench.execute()
        assert bench.read(output).tolist() == [1, 2, 3, 4]
        bench.fill(output, floats(0, 0, 0, 0))
        del tables


def test_a_capture_begins_in_between(bench, tmp_path):
    """It records what the dispatch does, though the same one was prepared before."""
    op = bench.compile(identity(4))
    source, target = bench.holding(1, 2, 3, 4), bench.buffer(16)
    recorded(bench, op, source, target)
    bench.execute()
    with dml.capture(tmp_path / "out"):
        recorded(bench, op, source, target)
        bench.execute()
    (log,) = read_capture(tmp_path / "out")
    assert [differences for _, differences in replay(log)] == [[]]


def test_in_place_of_what_was_apart(bench):
    """The exponent of POW is overwritten only where it is bound as the output, too."""
    op = bench.compile(power(4))
    base, exponent, target = bench.holding(1, 2, 3, 4), bench.holding(2, 2, 2, 2), bench.buffer(16)
    for output in (target, exponent, target):
        table = bench.dml.CreateBindingTable(bench.table_desc(op))
        table.BindInputs([binding(base), binding(exponent)])
        table.BindOutputs([binding(output)])
        bench.record(op, table)
        bench.execute()
        assert bench.read(output).tolist() == [1, 4, 9, 16]
        bench.fill(exponent, floats(2, 2, 2, 2))
    assert not bench.removed
    assert bench.read(base).dtype == np.float32
