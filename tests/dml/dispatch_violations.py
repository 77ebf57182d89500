"""Violations of the rules about RecordDispatch: lists, tables, and aliasing of bound ranges."""

from __future__ import annotations

import directml_py as dml

from .graphs import graph
from .helpers import OWNED, Bench, binding, identity, join, log_sum_exp, span, spans, split, tensor
from .rule_violations import breaks


def recording(bench, op, **bound):
    table = bench.table(op, **bound)
    return lambda: bench.record(op, table)


def ready_identity(bench):
    """An operator, and a table with all that it needs."""
    op = bench.compile(identity())
    return op, bench.table(op, [bench.buffer(16)], [bench.buffer(16)])


@breaks("DML-Binding-outputs-overlap", "outputs[1]")
def outputs_share_memory(bench, wrong):
    op, buffer = bench.compile(split(8, 4)), bench.buffer(64)
    outputs = [binding(buffer, 0, 32), binding(buffer, 16 if wrong else 32, 16)]
    return recording(bench, op, inputs=[bench.buffer(48)], outputs=outputs)


@breaks("DML-Binding-outputs-overlap", "outputs[1]")
def initialized_resources_share_memory(bench, wrong):
    ops = [bench.compile(join(80, owned=[0])), bench.compile(join(4, owned=[0]))]
    buffer = bench.buffer(1024)
    return recording(
        bench,
        bench.dml.CreateOperatorInitializer(ops),
        inputs=[spans(bench.buffer(320)), spans(bench.buffer(16))],
        outputs=[binding(buffer, 0, 512), binding(buffer, 256 if wrong else 512, 256)],
    )


@breaks("DML-Binding-in-place", "outputs[0]")
def an_operator_that_does_not_work_in_place(bench, wrong):
    op, buffer = bench.compile(join(4) if wrong else identity()), bench.buffer(16)
    return recording(bench, op, inputs=[buffer], outputs=[buffer])


def clip_gradient(size):
    return dml.DML_ELEMENT_WISE_CLIP_GRAD_OPERATOR_DESC(tensor(size), tensor(size), tensor(size), 0.0, 1.0)


@breaks("DML-Binding-in-place", "outputs[0]")
def the_gradient_is_the_output(bench, wrong):
    """CLIP_GRAD works in place of the clipped tensor only."""
    op, buffer, other = bench.compile(clip_gradient(4)), bench.buffer(16), bench.buffer(16)
    return recording(bench, op, inputs=[other, buffer] if wrong else [buffer, other], outputs=[buffer])


@breaks("DML-Binding-in-place", "outputs[0]")
def both_inputs_are_the_output(bench, wrong):
    op, buffer, other = bench.compile(clip_gradient(4)), bench.buffer(16), bench.buffer(16)
    return recording(bench, op, inputs=[buffer, buffer if wrong else other], outputs=[buffer])


@breaks("DML-Binding-in-place", "outputs[0]")
def a_graph_whose_output_needs_the_input_again(bench, wrong):
    """3 * x, and then the gradient of its clipping, which must not be x."""
    nodes = [bench.dml.CreateOperator(desc) for desc in (identity(4, scale=3), clip_gradient(4))]
    inputs = [(0, 0, 0), (0 if wrong else 1, 1, 1)]
    op = bench.dml.CompileGraph(graph(nodes, inputs, [(1, 0, 0)], [(0, 0, 1, 0)]))
    buffer = bench.buffer(16)
    # NumPy's loops run the nodes one by one, with memory between them.
    temporary = bench.temporary(op)
    inputs = [buffer] if wrong else [buffer, bench.buffer(16)]
    return recording(bench, op, inputs=inputs, outputs=[buffer], temporary=temporary)


@breaks("DML-Binding-in-place", "outputs[1]")
def an_output_that_another_one_overwrites(bench, wrong):
    """Two nodes read x: each output could take its memory if it were the only reader."""
    nodes = [bench.dml.CreateOperator(identity(4, scale=scale)) for scale in (3, 5)]
    inputs = [(0, 0, 0), (0 if wrong else 1, 1, 0)]
    op = bench.dml.CompileGraph(graph(nodes, inputs, [(0, 0, 0), (1, 0, 1)]))
    buffers = [bench.buffer(16) for _ in range(2)]
    bound = buffers[:1] if wrong else buffers
    return recording(bench, op, inputs=bound, outputs=[bench.buffer(16), bound[-1]])


@breaks("DML-Binding-in-place", "outputs[0]")
def ranges_that_are_not_identical(bench, wrong):
    op, buffer = bench.compile(identity(8)), bench.buffer(64)
    inputs, outputs = [binding(buffer, 0, 32)], [binding(buffer, 16 if wrong else 0, 32)]
    return recording(bench, op, inputs=inputs, outputs=outputs)


@breaks("DML-Binding-in-place", "outputs[0]")
def a_transpose_in_place(bench, wrong):
    x = tensor(3, 3, strides=[9, 9, 1, 3] if wrong else [7, 8, 3, 1])
    op = bench.compile(dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(x, tensor(3, 3)))
    buffer = bench.buffer(36)
    return recording(bench, op, inputs=[buffer], outputs=[buffer])


@breaks("DML-Binding-in-place", "outputs[0]")
def a_sum_with_its_own_first_row(bench, wrong):
    """The broadcast row is read after it was overwritten."""
    x, row = tensor(3, 3), tensor(3, 3, strides=[9, 9, 0, 1], total_size=36)
    op = bench.compile(
        dml.DML_ELEMENT_WISE_ADD1_OPERATOR_DESC(x, row, x, dml.DML_ACTIVATION_RELU_OPERATOR_DESC())
    )
    buffer, other = bench.buffer(36), bench.buffer(36)
    return recording(bench, op, inputs=[buffer, buffer if wrong else other], outputs=[buffer])


@breaks("DML-Binding-in-place", "outputs[0]")
def the_second_input_is_the_output(bench, wrong):
    op, buffer, other = bench.compile(join(4, 4)), bench.buffer(64), bench.buffer(16)
    outputs = [binding(buffer, 0 if wrong else 32, 32)]
    return recording(bench, op, inputs=[other, binding(buffer, 16, 16)], outputs=outputs)


@breaks("DML-Binding-resource-overlap", "the temporary resource")
def the_temporary_resource_in_an_input(bench, wrong):
    op, buffer = bench.compile(log_sum_exp()), bench.buffer(1024)
    inputs = [binding(buffer, 272 if wrong else 0, 16)]
    temporary = binding(buffer, 256, 256)
    return recording(bench, op, inputs=inputs, outputs=[bench.buffer(16)], temporary=temporary)


@breaks("DML-Binding-resource-overlap", "the temporary resource")
def the_temporary_resource_in_an_output(bench, wrong):
    op, buffer = bench.compile(log_sum_exp()), bench.buffer(1024)
    outputs = [binding(buffer, 256 if wrong else 512, 16)]
    temporary = binding(buffer, 256, 256)
    return recording(bench, op, inputs=[bench.buffer(16)], outputs=outputs, temporary=temporary)


@breaks("DML-Binding-resource-overlap", "the persistent resource")
def the_temporary_resource_in_the_persistent_one(bench, wrong):
    op, buffer = bench.compile(log_sum_exp(flags=OWNED)), bench.buffer(1024)
    return recording(
        bench,
        op,
        inputs=[None],
        outputs=[bench.buffer(16)],
        temporary=binding(buffer, 0, 512),
        persistent=binding(buffer, 256 if wrong else 512, 256),
    )


@breaks("DML-Binding-resource-overlap", "the persistent resource")
def the_persistent_resource_in_an_output(bench, wrong):
    op, buffer = bench.compile(join(4, 4, owned=[1])), bench.buffer(1024)
    return recording(
        bench,
        op,
        inputs=[bench.buffer(16), None],
        outputs=[binding(buffer, 240, 32)],
        persistent=binding(buffer, 256 if wrong else 512, 256),
    )


@breaks("DML-Binding-initializer-resource", "outputs[0]")
def the_persistent_resource_beside_an_owned_input(bench, wrong):
    """The ranges are disjoint: at initialization only the resource counts."""
    op, buffer = bench.compile(join(4, owned=[0])), bench.buffer(1024)
    return recording(
        bench,
        bench.dml.CreateOperatorInitializer([op]),
        inputs=[spans(span(buffer, 0, 16))],
        outputs=[binding(buffer if wrong else bench.buffer(1024), 512, 256)],
    )


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
