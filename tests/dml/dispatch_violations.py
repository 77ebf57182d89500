"""Violations of the rules about RecordDispatch: lists and tables."""

from __future__ import annotations

import directml_py as dml

from .helpers import Bench, binding, identity, join, log_sum_exp, spans
from .rule_violations import breaks


def recording(bench, op, **bound):
    table = bench.table(op, **bound)
    return lambda: bench.record(op, table)


def ready_identity(bench):
    """An operator, and a table with all that it needs."""
    op = bench.compile(identity())
    return op, bench.table(op, [bench.buffer(16)], [bench.buffer(16)])


@breaks("DML-Object-device", "dispatchable")
def a_dispatchable_of_another_device(bench, wrong):
    op, table = ready_identity(bench)
    foreign, _ = ready_identity(Bench(d3d12=bench.d3d12))
    return lambda: bench.record(foreign if wrong else op, table)


@breaks("DML-Object-device", "bindings")
def a_table_of_another_device(bench, wrong):
    op, table = ready_identity(bench)
    _, foreign = ready_identity(Bench(d3d12=bench.d3d12))
    return lambda: bench.record(op, foreign if wrong else table)


@breaks("DML-RecordDispatch-descriptor-heap", "commandList")
def a_list_without_a_heap(bench, wrong):
    op, table = ready_identity(bench)
    commands = bench.new_list()
    if not wrong:
        commands.SetDescriptorHeaps([bench.heap])
    return lambda: bench.record(op, table, commands)


@breaks("DML-RecordDispatch-descriptor-heap", "commandList")
def a_list_with_another_heap(bench, wrong):
    op, table = ready_identity(bench)
    other, sampler = bench.descriptors(8), bench.descriptors(8, dml.D3D12_DESCRIPTOR_HEAP_TYPE_SAMPLER)
    bench.commands.SetDescriptorHeaps([sampler, other if wrong else bench.heap])
    return lambda: bench.record(op, table)


@breaks("DML-RecordDispatch-descriptor-heap", "commandList")
def a_heap_that_was_set_before_reset(bench, wrong):
    """Nothing that was set outlives the Reset of a list."""
    op, table = ready_identity(bench)
    bench.commands.Close()
    bench.commands.Reset(bench.new_allocator(), None)
    if not wrong:
        bench.commands.SetDescriptorHeaps([bench.heap])
    return lambda: bench.record(op, table)


@breaks("DML-RecordDispatch-list-open", "commandList")
def a_closed_list(bench, wrong):
    op, table = ready_identity(bench)
    if wrong:
        bench.commands.Close()
    return lambda: bench.record(op, table)


@breaks("DML-RecordDispatch-list-type", "commandList")
def a_copy_list(bench, wrong):
    op, table = ready_identity(bench)
    kind = dml.D3D12_COMMAND_LIST_TYPE_COPY if wrong else dml.D3D12_COMMAND_LIST_TYPE_COMPUTE
    commands = bench.new_list(kind)
    # The heap cannot be set on a copy list, which violates the rule.
    if not wrong:
        commands.SetDescriptorHeaps([bench.heap])
    return lambda: bench.record(op, table, commands)


@breaks("DML-RecordDispatch-list-device", "commandList")
def a_list_of_another_device(bench, wrong):
    op, table = ready_identity(bench)
    owner = Bench() if wrong else bench
    commands = owner.new_list()
    commands.SetDescriptorHeaps([owner.heap])
    return lambda: bench.record(op, table, commands)


@breaks("DML-RecordDispatch-table", "bindings")
def the_table_of_an_equal_operator(bench, wrong):
    op, table = ready_identity(bench)
    _, other = ready_identity(bench)
    return lambda: bench.record(op, other if wrong else table)


@breaks("DML-RecordDispatch-table", "bindings")
def a_table_that_was_emptied(bench, wrong):
    op, table = ready_identity(bench)
    if wrong:
        table.Reset(None)
    return lambda: bench.record(op, table)


@breaks("DML-RecordDispatch-unbound", "OutputTensor")
def the_output_is_unbound(bench, wrong):
    outputs = None if wrong else [bench.buffer(16)]
    return recording(bench, bench.compile(identity()), inputs=[bench.buffer(16)], outputs=outputs)


@breaks("DML-RecordDispatch-unbound", "InputTensor")
def the_inputs_were_unbound(bench, wrong):
    op, table = ready_identity(bench)
    if wrong:
        table.BindInputs(0, None)
    return lambda: bench.record(op, table)


@breaks("DML-RecordDispatch-unbound", "OutputTensor")
def a_count_of_0_unbinds(bench, wrong):
    """Whatever the array holds; the device is removed only at a dispatch."""
    op, table = ready_identity(bench)
    other = bench.buffer(16)
    table.BindOutputs(0 if wrong else 1, [binding(other)])
    return lambda: bench.record(op, table)


@breaks("DML-RecordDispatch-unbound", "InputTensor")
def the_table_was_reset(bench, wrong):
    """Reset clears the bindings even with the same desc."""
    op = bench.compile(identity())
    table, desc = bench.table(op), bench.table_desc(op)
    table.BindInputs([binding(bench.buffer(16))])
    if wrong:
        table.Reset(desc)
    table.BindOutputs([binding(bench.buffer(16))])
    bench.bind_resources(table)
    return lambda: bench.record(op, table)


@breaks("DML-RecordDispatch-unbound", "the temporary resource")
def the_temporary_resource_is_unbound(bench, wrong):
    temporary = None if wrong else bench.buffer(256)
    op, bound = bench.compile(log_sum_exp()), {"inputs": [bench.buffer(16)], "outputs": [bench.buffer(16)]}
    return recording(bench, op, **bound, temporary=temporary)


@breaks("DML-RecordDispatch-unbound", "the persistent resource")
def the_persistent_resource_is_unbound(bench, wrong):
    op, persistent = bench.compile(join(4, owned=[0])), None if wrong else bench.buffer(256)
    return recording(bench, op, inputs=[None], outputs=[bench.buffer(16)], persistent=persistent)


@breaks("DML-RecordDispatch-unbound", "operators[1].InputTensors[1]")
def an_owned_input_is_unbound(bench, wrong):
    ops = [bench.compile(identity()), bench.compile(join(4, 4, owned=[1]))]
    return recording(
        bench,
        bench.dml.CreateOperatorInitializer(ops),
        inputs=None if wrong else [None, spans(None, bench.buffer(16))],
        outputs=[bench.persistent(op) for op in ops],
    )


@breaks("DML-RecordDispatch-unbound", "the persistent resource of operators[1]", kind_device=True)
def an_initialized_resource_is_unbound(bench, wrong):
    ops = [bench.compile(identity()), bench.compile(join(4, owned=[0]))]
    return recording(
        bench,
        bench.dml.CreateOperatorInitializer(ops),
        inputs=[None, spans(bench.buffer(16))],
        outputs=None if wrong else [None, bench.persistent(ops[1])],
    )
