"""Descriptor heaps under both debug layers, and descriptors copied between heaps."""

from __future__ import annotations

import pytest

import directml_py as dml

from ..dml.helpers import VOLATILE, identity
from .descriptor_cases import separate_desc
from .hazard import HazardBench, binding

OPAQUE = dml.D3D12_DESCRIPTOR_HEAP_FLAG_NONE


@pytest.fixture
def bench():
    return HazardBench()


@pytest.mark.parametrize("wrong", ["none set", "another heap", "forgotten by Reset"])
def test_the_heap_of_a_dispatch(bench, wrong):
    op = bench.ready(identity())
    table, commands = bench.table(op, [bench.buffer(16)], [bench.buffer(16)]), bench.new_list()
    if wrong == "another heap":
        commands.SetDescriptorHeaps([bench.keep(bench.descriptors(8))])
    elif wrong == "forgotten by Reset":
        commands.SetDescriptorHeaps([bench.heap])
        commands.Close()
        commands.Reset(bench.new_allocator(), None)
    bench.record(op, table, commands)
    (message,) = bench.messages()
    assert (message.rule, message.path) == ("DML-RecordDispatch-descriptor-heap", "commandList")
    assert ("other than the one" if wrong == "another heap" else "no descriptor heap") in message.message
    assert bench.removed


def test_a_heap_that_is_not_shader_visible(bench):
    heap = bench.keep(bench.descriptors(8, flags=OPAQUE))
    bench.commands.SetDescriptorHeaps([heap])
    (message,) = (bench.info.GetMessage(index) for index in range(bench.info.GetNumStoredMessages()))
    assert message.ID == dml.D3D12_MESSAGE_ID_SET_DESCRIPTOR_HEAP_INVALID
    bench.info.ClearStoredMessages()
    desc = bench.table_desc(bench.compile(identity()))
    desc.CPUDescriptorHandle = heap.GetCPUDescriptorHandleForHeapStart()
    desc.GPUDescriptorHandle = dml.D3D12_GPU_DESCRIPTOR_HANDLE(0)
    with pytest.raises(dml.DMLError):
        bench.dml.CreateBindingTable(desc)
    assert [found.rule for found in bench.messages()] == ["DML-BindingTable-shader-visible"]


def test_a_range_outside_the_heap(bench):
    op, heap = bench.compile(identity()), bench.keep(bench.descriptors(2))
    starts = heap.GetCPUDescriptorHandleForHeapStart(), heap.GetGPUDescriptorHandleForHeapStart()
    bench.dml.CreateBindingTable(dml.DML_BINDING_TABLE_DESC(op, *starts, 2))
    assert bench.messages() == []
    with pytest.raises(dml.DMLError):
        bench.dml.CreateBindingTable(dml.DML_BINDING_TABLE_DESC(op, *starts, 3))
    assert {found.rule for found in bench.messages()} == {"DML-BindingTable-size"}


@pytest.mark.parametrize("flags", [0, VOLATILE])
def test_a_table_whose_handles_lie_in_different_heaps(bench, flags):
    op, target = bench.ready(identity(), flags), bench.buffer(16)
    desc, copy = separate_desc(bench, op)
    table = bench.dml.CreateBindingTable(desc)
    if not flags:
        table.BindInputs([binding(bench.holding(1, 2, 3, 4))])
        table.BindOutputs([binding(target)])
    bench.record(op, table)
    if flags:
        table.BindInputs([binding(bench.holding(1, 2, 3, 4))])
        table.BindOutputs([binding(target)])
    copy()
    bench.execute()
    assert bench.read(target).tolist() == [1, 2, 3, 4]
    assert bench.messages() == []


def test_volatile_descriptors_that_were_never_copied(bench):
    op = bench.ready(identity(), VOLATILE)
    desc, _ = separate_desc(bench, op)
    table = bench.dml.CreateBindingTable(desc)
    table.BindInputs([binding(bench.buffer(16))])
    table.BindOutputs([binding(bench.buffer(16))])
    bench.record(op, table)
    bench.execute()
    assert {found.rule for found in bench.messages()} == {"DML-RecordDispatch-unbound"}
    assert bench.removed


def test_a_released_table(bench):
    """The descriptors are the heap's: neither releasing nor resetting the table changes them."""
    op, target = bench.ready(identity()), bench.buffer(16)
    table = bench.table(op, [bench.holding(1, 2, 3, 4)], [target])
    bench.record(op, table)
    table.Reset(None)
    del table
    bench.execute()
    assert bench.read(target).tolist() == [1, 2, 3, 4]
    assert bench.messages() == []


def test_equal_descriptors_written_twice(bench):
    op = bench.ready(identity())
    table = bench.dispatch(op, [x := bench.buffer(16)], [bench.buffer(16)])
    table.BindInputs([binding(x)])
    bench.execute()
    assert bench.messages() == []


def test_an_initializer_without_bindings_over_used_descriptors():
    """Found by a random program: the descriptors in its range belong to a dispatch that has run."""
    bench = HazardBench()
    first, second = bench.compile(identity()), bench.keep(bench.compile(identity(8)))
    bench.initialize(first)
    start = bench.taken
    bench.dispatch(first, [bench.buffer(16)], [bench.buffer(16)])
    bench.execute()
    bench.taken = start
    bench.initialize(second)
    assert bench.messages() == []
