"""Dispatches by hand, through Direct3D 12."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

import directml_py as dml
from directml_py.kernels import backend

from .helpers import (
    CUSTOM,
    DEFAULT,
    FLOAT32,
    VOLATILE,
    Bench,
    binding,
    floats,
    identity,
    join,
    log_sum_exp,
    span,
    split,
    tensor,
)

SENTINEL = -7.5


def dispatch(bench, op, **bound):
    """Initialize an operator without owned inputs, and record its dispatch in the bench's list."""
    bench.initialize(op)
    bench.record(op, bench.table(op, **bound))


def test_nothing_runs_before_execute(bench):
    source, target = bench.holding(1, 2, 3, 4), bench.holding(*[SENTINEL] * 4)
    dispatch(bench, bench.compile(identity()), inputs=[source], outputs=[target])
    assert bench.read(target).tolist() == [SENTINEL] * 4
    bench.commands.Close()
    assert bench.read(target).tolist() == [SENTINEL] * 4
    bench.queue.ExecuteCommandLists([bench.commands])
    bench.wait()
    assert bench.read(target).tolist() == [1, 2, 3, 4]


def test_a_queue_that_waits_does_not_run(bench):
    source, target = bench.holding(1, 2, 3, 4), bench.holding(*[SENTINEL] * 4)
    dispatch(bench, bench.compile(identity()), inputs=[source], outputs=[target])
    bench.commands.Close()
    fence = bench.d3d12.CreateFence(0)
    waiting = bench.d3d12.CreateCommandQueue(dml.D3D12_COMMAND_QUEUE_DESC())
    waiting.Wait(fence, 1)
    waiting.ExecuteCommandLists([bench.commands])
    assert bench.read(target).tolist() == [SENTINEL] * 4
    # The input's contents at execution time count.
    bench.fill(source, floats(5, 6, 7, 8))
    fence.Signal(1)
    assert bench.read(target).tolist() == [5, 6, 7, 8]


def test_suballocated_bindings(bench):
    """All tensors in one buffer: three inputs and the output, with sentinels between them."""
    buffer = bench.holding(*[SENTINEL] * 64)
    bench.fill(buffer, floats(1, 2, 3), 16)
    bench.fill(buffer, floats(4, 5, 6, 7, 8), 64)
    bench.fill(buffer, floats(9), 112)
    inputs = [binding(buffer, 16, 12), binding(buffer, 64, 20), binding(buffer, 112, 4)]
    dispatch(bench, bench.compile(join(3, 5, 1)), inputs=inputs, outputs=[binding(buffer, 160, 36)])
    before = bench.read(buffer)
    bench.execute()
    after = bench.read(buffer)
    assert after[40:49].tolist() == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    after[40:49] = SENTINEL
    assert after.tolist() == before.tolist()


def test_the_order_of_bindings(bench):
    """Inputs and outputs in desc order, whatever order the memory has."""
    buffers = [bench.holding(*[number] * 4) for number in range(3)]
    target = bench.buffer(48)
    dispatch(bench, bench.compile(join(4, 4, 4)), inputs=buffers[::-1], outputs=[target])
    outputs = [bench.buffer(16), bench.buffer(32)]
    bench.barrier()
    dispatch(bench, bench.compile(split(4, 8)), inputs=[target], outputs=outputs)
    bench.execute()
    assert bench.read(outputs[0]).tolist() == [2] * 4
    assert bench.read(outputs[1]).tolist() == [1] * 4 + [0] * 4


def test_only_the_tensors_bytes_are_written(bench):
    """The output's bound range is larger than TotalTensorSizeInBytes, and the buffer larger still."""
    target, source = bench.holding(*[SENTINEL] * 32), bench.holding(*range(1, 9))
    op = bench.compile(identity(8))
    dispatch(bench, op, inputs=[source], outputs=[binding(target, 32, 64)])
    bench.execute()
    found = bench.read(target).tolist()
    assert found == [SENTINEL] * 8 + list(range(1, 9)) + [SENTINEL] * 16


def test_the_rest_of_an_unaligned_row_is_not_written(bench):
    """Three bytes of UINT8: the total is 4, and the fifth byte does not belong to the tensor."""
    three = dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_UINT8, [1, 1, 1, 3])
    op = bench.compile(dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(three, three))
    source, target = bench.buffer(8, data=np.arange(1, 9, dtype=np.uint8)), bench.buffer(8)
    bench.fill(target, np.full(8, 99, np.uint8))
    dispatch(bench, op, inputs=[source], outputs=[target])
    bench.execute()
    found = bench.read(target, np.uint8).tolist()
    assert found[:3] == [1, 2, 3]
    assert found[4:] == [99] * 4


def test_strides_at_an_offset(bench):
    """A transposed input and a padded output, both inside larger buffers."""
    source = bench.holding(*[SENTINEL] * 4, 1, 4, 2, 5, 3, 6, *[SENTINEL] * 4)
    target = bench.holding(*[SENTINEL] * 16)
    x = dml.tensor_desc(FLOAT32, [1, 1, 2, 3], [6, 6, 1, 2])
    y = dml.tensor_desc(FLOAT32, [1, 1, 2, 3], [8, 8, 4, 1])
    op = bench.compile(dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(x, y))
    bound = {"inputs": [binding(source, 16, 24)], "outputs": [binding(target, 16, 28)]}
    dispatch(bench, op, **bound)
    bench.execute()
    found = bench.read(target).tolist()
    assert found[4:7] == [1, 2, 3]
    assert found[8:11] == [4, 5, 6]
    assert found[:4] == [SENTINEL] * 4
    assert found[11:] == [SENTINEL] * 5


def test_a_custom_heap(bench):
    source, target = bench.buffer(16, CUSTOM, floats(1, 2, 3, 4)), bench.buffer(16, CUSTOM)
    dispatch(bench, bench.compile(identity()), inputs=[source], outputs=[target])
    bench.execute()
    assert bench.read(target).tolist() == [1, 2, 3, 4]


def test_identity_in_place(bench):
    buffer = bench.holding(SENTINEL, 0, 0, 0, 1, 2, 3, 4, SENTINEL)
    part = binding(buffer, 16, 16)
    dispatch(bench, bench.compile(identity(4, scale=3)), inputs=[part], outputs=[part])
    bench.execute()
    assert bench.read(buffer).tolist() == [SENTINEL, 0, 0, 0, 3, 6, 9, 12, SENTINEL]
    assert not bench.removed


def test_identical_ranges_of_tensors_with_different_totals(bench):
    """The rule compares the bound ranges."""
    desc = dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(tensor(4, total_size=32), tensor(4))
    buffer = bench.holding(1, 2, 3, 4, SENTINEL, SENTINEL, SENTINEL, SENTINEL)
    dispatch(bench, bench.compile(desc), inputs=[buffer], outputs=[buffer])
    bench.execute()
    assert not bench.removed
    assert bench.read(buffer).tolist() == [1, 2, 3, 4] + [SENTINEL] * 4


def test_outputs_that_overlap_beyond_the_tensors(bench):
    """For two outputs the page compares the writable ranges, which end with the tensors."""
    buffer = bench.buffer(32)
    dispatch(
        bench,
        bench.compile(split(4, 4)),
        inputs=[bench.holding(1, 2, 3, 4, 5, 6, 7, 8)],
        outputs=[binding(buffer, 0, 32), binding(buffer, 16, 16)],
    )
    bench.execute()
    assert not bench.removed
    assert bench.read(buffer).tolist() == [1, 2, 3, 4, 5, 6, 7, 8]


def test_aliasing_of_placed_resources_is_not_looked_at(bench):
    """The page: two bindings of different resources are never a hazard."""
    heap = bench.d3d12.CreateHeap(
        dml.CD3DX12_HEAP_DESC(1 << 16, DEFAULT, 0, dml.D3D12_HEAP_FLAG_ALLOW_ONLY_BUFFERS)
    )
    desc = dml.CD3DX12_RESOURCE_DESC.Buffer(16, dml.D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS)
    state = dml.D3D12_RESOURCE_STATE_COMMON
    source, target = (bench.d3d12.CreatePlacedResource(heap, 0, desc, state) for _ in range(2))
    bench.fill(source, floats(1, 2, 3, 4))
    dispatch(bench, bench.compile(join(4)), inputs=[source], outputs=[target])
    bench.execute()
    assert not bench.removed
    assert bench.read(target).tolist() == [1, 2, 3, 4]


def test_inputs_may_share_memory(bench):
    buffer, target = bench.holding(*range(12)), bench.buffer(64)
    inputs = [binding(buffer, 0, 32), binding(buffer, 16, 32)]
    dispatch(bench, bench.compile(join(8, 8)), inputs=inputs, outputs=[target])
    bench.execute()
    assert not bench.removed
    assert bench.read(target).tolist() == [*range(8), *range(4, 12)]


def test_a_list_runs_again_with_new_contents(bench):
    source, target = bench.holding(1, 2, 3, 4), bench.buffer(16)
    dispatch(bench, bench.compile(identity(4, scale=2)), inputs=[source], outputs=[target])
    bench.commands.Close()
    for values in ([1, 2, 3, 4], [5, 6, 7, 8], [-1, 0, 1, 2]):
        bench.fill(source, floats(*values))
        bench.queue.ExecuteCommandLists([bench.commands])
        bench.wait()
        assert bench.read(target).tolist() == [2 * value for value in values]


def test_two_dispatches_in_one_list(bench):
    """The second dispatch reads the output of the first."""
    source, middle, target = bench.holding(1, 2, 3, 4), bench.buffer(16), bench.buffer(16)
    double, triple = bench.compile(identity(4, scale=2)), bench.compile(identity(4, scale=3))
    bench.initialize(double)
    bench.initialize(triple)
    bench.record(double, bench.table(double, [source], [middle]))
    bench.barrier(middle)
    bench.record(triple, bench.table(triple, [middle], [target]))
    bench.execute()
    assert bench.read(middle).tolist() == [2, 4, 6, 8]
    assert bench.read(target).tolist() == [6, 12, 18, 24]


def test_one_operator_with_two_tables(bench):
    op = bench.compile(identity(4, scale=2))
    bench.initialize(op)
    pairs = [(bench.holding(*[number] * 4), bench.buffer(16)) for number in (1, 2, 3)]
    for source, target in pairs:
        bench.record(op, bench.table(op, [source], [target]))
    bench.execute()
    assert [bench.read(target)[0] for _, target in pairs] == [2, 4, 6]


def test_a_table_may_be_reset_after_recording(bench):
    op, source, target = bench.compile(identity()), bench.holding(1, 2, 3, 4), bench.buffer(16)
    other = bench.holding(*[SENTINEL] * 4)
    bench.initialize(op)
    table = bench.dml.CreateBindingTable(bench.table_desc(op))
    table.BindInputs([binding(source)])
    table.BindOutputs([binding(target)])
    bench.bind_resources(table)
    bench.record(op, table)
    table.Reset(bench.table_desc(op))
    table.BindInputs([binding(other)])
    table.BindOutputs([binding(bench.buffer(16))])
    del table
    bench.execute()
    assert bench.read(target).tolist() == [1, 2, 3, 4]


@pytest.mark.kind_device
def test_rebinding_does_not_disturb_what_was_recorded(bench):
    """An error on a strict device: descriptors must not change before they are used."""
    op, targets = bench.compile(identity()), [bench.buffer(16), bench.buffer(16)]
    bench.initialize(op)
    table = bench.table(op, [bench.holding(1, 2, 3, 4)], [targets[0]])
    bench.record(op, table)
    table.BindInputs([binding(bench.holding(5, 6, 7, 8))])
    table.BindOutputs([binding(targets[1])])
    bench.record(op, table)
    bench.execute()
    assert bench.read(targets[0]).tolist() == [1, 2, 3, 4]
    assert bench.read(targets[1]).tolist() == [5, 6, 7, 8]


def test_a_table_that_was_reset_serves_another_operator(bench):
    first, second = bench.compile(join(4, 4)), bench.compile(split(4, 4))
    bench.initialize(first)
    bench.initialize(second)
    a, b, joined = bench.holding(1, 2, 3, 4), bench.holding(5, 6, 7, 8), bench.buffer(32)
    parts = [bench.buffer(16), bench.buffer(16)]
    table = bench.dml.CreateBindingTable(bench.table_desc(first))
    table.BindInputs([binding(a), binding(b)])
    table.BindOutputs([binding(joined)])
    bench.bind_resources(table)
    bench.record(first, table)
    bench.barrier()
    assert table.Reset(bench.table_desc(second)) is None
    table.BindInputs([binding(joined)])
    table.BindOutputs([binding(parts[1]), binding(parts[0])])
    bench.bind_resources(table)
    bench.record(second, table)
    bench.execute()
    assert bench.read(parts[1]).tolist() == [1, 2, 3, 4]
    assert bench.read(parts[0]).tolist() == [5, 6, 7, 8]


@pytest.mark.kind_device
def test_a_failed_reset_changes_nothing(bench):
    op, target = bench.compile(identity()), bench.buffer(16)
    bench.initialize(op)
    table = bench.table(op, [bench.holding(1, 2, 3, 4)], [target])
    small = bench.table_desc(bench.compile(join(4, 4)))
    small.SizeInDescriptors = 1
    with pytest.raises(dml.DMLError):
        table.Reset(small)
    bench.record(op, table)
    bench.execute()
    assert bench.read(target).tolist() == [1, 2, 3, 4]


def test_temporary_memory_is_used_and_nothing_beside_it(bench):
    """LOG_SUM_EXP works in the bound range: its bytes may change, as NumPy's loops and some profiles do it, those
    before and behind do not."""
    op = bench.compile(log_sum_exp(4))
    size = op.GetBindingProperties().TemporaryResourceSize
    buffer = bench.buffer(1024)
    bench.fill(buffer, np.full(1024, 0xA5, np.uint8))
    target = bench.buffer(16)
    dispatch(
        bench,
        op,
        inputs=[bench.holding(0, 0, 0, 0)],
        outputs=[binding(target, 0, 4)],
        temporary=binding(buffer, 256, size),
    )
    bench.execute()
    assert bench.read(target)[0] == pytest.approx(np.log(4))
    found = bench.read(buffer, np.uint8)
    assert (found[:256] == 0xA5).all()
    assert (found[256 + size :] == 0xA5).all()
    is_used = backend.native is None or bench.dml.profile.undefined
    assert (found[256 : 256 + size] != 0xA5).any() == is_used


def test_temporary_memory_need_not_be_clean(bench):
    op, target, temporary = bench.compile(log_sum_exp(4)), bench.buffer(4), bench.buffer(256)
    bound = {"inputs": [bench.holding(1, 2, 3, 4)], "outputs": [target], "temporary": temporary}
    bench.initialize(op)
    for junk in (0x00, 0xFF, 0x7F):
        bench.fill(temporary, np.full(256, junk, np.uint8))
        bench.record(op, bench.table(op, **bound))
        bench.execute()
        assert bench.read(target)[0] == pytest.approx(np.log(np.exp([1, 2, 3, 4]).sum()))


@pytest.mark.kind_device
@pytest.mark.parametrize("size", [16, 17, 18, 19, 31])
def test_ranges_of_any_size(bench, size):
    """SizeInBytes need not be a multiple of 4: what inputs, outputs and resources have beyond their needs is left
    untouched."""
    op, target, spare = bench.compile(log_sum_exp()), bench.buffer(32), bench.buffer(1024)
    bench.fill(target, np.full(32, 0xA5, np.uint8))
    bench.initialize(op)
    inputs = [binding(bench.buffer(32, data=floats(*range(8))), 0, size)]
    table = bench.table(op, inputs, [binding(target, 0, size - 11)], binding(spare, 0, 1024 - 16 + size % 4))
    bench.record(op, table)
    bench.execute()
    assert not bench.removed
    assert bench.read(target)[0] == pytest.approx(np.log(np.exp([0, 1, 2, 3]).sum()))
    assert (bench.read(target, np.uint8)[4:] == 0xA5).all()


@pytest.mark.parametrize("flags", [0, VOLATILE])
def test_a_buffer_of_an_odd_size(flags):
    """25 bytes hold a tensor of 24; a strict device requires multiples of 4, also for late bindings."""
    for profile, is_removed in (("kind", False), ("strict", True)):
        bench = Bench(profile=profile)
        op, target = bench.compile(identity(6), flags), bench.buffer(24)
        bench.initialize(op)
        source = bench.buffer(25, data=np.append(floats(*range(6)).view(np.uint8), np.uint8(0)))
        table = bench.table(op)
        table.BindInputs([binding(source)])
        assert bench.removed is is_removed
        if not is_removed:
            table.BindOutputs([binding(target)])
            bench.record(op, table)
            bench.execute()
            assert bench.read(target).tolist() == list(range(6))


@pytest.mark.kind_device
def test_a_strict_device_wants_multiples_of_4_when_it_executes():
    """The descriptors are written by a table of another device that shares them."""
    bench = Bench(profile="strict")
    other = Bench(d3d12=bench.d3d12)
    op, twin = (one.compile(identity(6), VOLATILE) for one in (bench, other))
    source, target = bench.buffer(32), bench.buffer(24)
    bench.initialize(op)
    desc = bench.table_desc(op)
    table = bench.dml.CreateBindingTable(desc)
    table.BindInputs([binding(source, 0, 24)])
    table.BindOutputs([binding(target)])
    bench.record(op, table)
    desc.Dispatchable = twin
    other.dml.CreateBindingTable(desc).BindInputs([binding(source, 0, 25)])
    assert not bench.removed
    bench.execute()
    assert bench.removed
    assert not other.removed
    with pytest.raises(dml.DMLError, match="DML-BufferBinding-dwords"):
        bench.dml.GetParentDevice()


def test_c_forms_of_bindings(bench):
    """A count and an array, a count and a pointer, and a single struct."""
    op, target = bench.compile(join(4, 4)), bench.buffer(32)
    bench.initialize(op)
    array = (dml.DML_BINDING_DESC * 3)(binding(bench.holding(1, 2, 3, 4)), binding(bench.holding(5, 6, 7, 8)))
    output = binding(target)
    for first, second in (
        ((2, array), (1, output)),
        ((2, pointer_to(array)), (1, pointer_to(output))),
        ((2, list(array)), (output,)),
        ((list(array)[:2],), ([output],)),
    ):
        table = bench.table(op)
        table.BindInputs(*first)
        table.BindOutputs(*second)
        bench.fill(target, np.zeros(8, np.float32))
        bench.record(op, table)
        bench.execute()
        assert bench.read(target).tolist() == [1, 2, 3, 4, 5, 6, 7, 8]


def pointer_to(value):
    return ctypes.cast(ctypes.pointer(value), ctypes.POINTER(dml.DML_BINDING_DESC))


def test_binding_structs_are_read_at_the_call(bench):
    op, target = bench.compile(identity()), bench.buffer(16)
    bench.initialize(op)
    part = span(bench.holding(1, 2, 3, 4))
    desc = dml.DML_BINDING_DESC(dml.DML_BINDING_TYPE_BUFFER, part)
    table = bench.table(op)
    table.BindInputs([desc])
    part.Buffer, part.SizeInBytes, desc.Type = None, 0, 99
    table.BindOutputs([binding(target)])
    bench.record(op, table)
    bench.execute()
    assert bench.read(target).tolist() == [1, 2, 3, 4]
