"""Violations of the rules about the arguments of the four Bind methods."""

from __future__ import annotations

import directml_py as dml

from .graphs import graph
from .helpers import (
    CUSTOM,
    DEFAULT,
    READBACK,
    UPLOAD,
    Bench,
    binding,
    identity,
    join,
    log_sum_exp,
    span,
    spans,
    split,
    tensor,
)
from .rule_violations import breaks

BIG = (1 << 64) - 16


def initializer_table(bench, *ops):
    return bench.table(bench.dml.CreateOperatorInitializer(list(ops)))


def last_state():
    """GRU of one step over one element, without OutputSequenceTensor."""
    names = ("InputTensor", "WeightTensor", "RecurrenceTensor")
    tensors = dict(zip(names, (tensor(1, 1), tensor(3, 1), tensor(3, 1))))
    activations = [dml.DML_ACTIVATION_SIGMOID_OPERATOR_DESC(), dml.DML_ACTIVATION_TANH_OPERATOR_DESC()]
    return dml.DML_GRU_OPERATOR_DESC(
        **tensors,
        OutputSingleTensor=tensor(1, 1),
        ActivationDescs=activations,
        Direction=dml.DML_RECURRENT_NETWORK_DIRECTION_FORWARD,
        LinearBeforeReset=False,
    )


def owned_join(bench):
    """JOIN whose second input is OWNED_BY_DML; its persistent resource takes 16 bytes."""
    return bench.compile(join(4, 4, owned=[1]))


@breaks("DML-BindInputs-count", "bindingCount")
def too_few_inputs(bench, wrong):
    table, one = bench.table(bench.compile(join(4, 4))), binding(bench.buffer(16))
    return lambda: table.BindInputs([one] * (1 if wrong else 2))


@breaks("DML-BindInputs-count", "bindingCount")
def too_many_inputs(bench, wrong):
    table, one = bench.table(bench.compile(join(4, 4))), binding(bench.buffer(16))
    return lambda: table.BindInputs(3 if wrong else 2, [one] * 3)


@breaks("DML-BindInputs-count", "bindingCount")
def a_binding_per_operator(bench, wrong):
    table, buffer = initializer_table(bench, owned_join(bench), owned_join(bench)), bench.buffer(16)
    return lambda: table.BindInputs([spans(None, buffer)] * (1 if wrong else 2))


@breaks("DML-BindInputs-count", "bindings[1].BindingCount")
def a_range_per_input(bench, wrong):
    table, buffer = initializer_table(bench, owned_join(bench), owned_join(bench)), bench.buffer(16)
    second = spans(buffer) if wrong else spans(None, buffer)
    return lambda: table.BindInputs([spans(None, buffer), second])


@breaks("DML-BindInputs-count", "bindings[0].BindingCount")
def an_array_of_no_ranges(bench, wrong):
    """Also for an operator without anything to initialize."""
    table = initializer_table(bench, bench.compile(identity()))
    return lambda: table.BindInputs([spans() if wrong else spans(None)])


@breaks("DML-BindInputs-null", "bindings[1]")
def nothing_as_an_input(bench, wrong):
    table, one = bench.table(bench.compile(join(4, 4))), binding(bench.buffer(16))
    return lambda: table.BindInputs([one, binding(None) if wrong else one])


@breaks("DML-BindInputs-null", "bindings[0]")
def a_null_buffer_as_an_input(bench, wrong):
    """Offset and SizeInBytes do not matter then."""
    table, buffer = bench.table(bench.compile(identity())), bench.buffer(16)
    null = dml.DML_BINDING_DESC(dml.DML_BINDING_TYPE_BUFFER, dml.DML_BUFFER_BINDING(None, 8, 3))
    return lambda: table.BindInputs([null if wrong else binding(buffer)])


@breaks("DML-BindInputs-null", "bindings[0].Bindings[1]")
def a_null_buffer_as_an_owned_input(bench, wrong):
    table, buffer = initializer_table(bench, owned_join(bench)), bench.buffer(16)
    return lambda: table.BindInputs([spans(None, None if wrong else buffer)])


@breaks("DML-BindInputs-null", "bindings[0]")
def nothing_for_an_operator_with_an_owned_input(bench, wrong):
    op = owned_join(bench) if wrong else bench.compile(join(4, 4))
    table = initializer_table(bench, op)
    return lambda: table.BindInputs([binding(None)])


@breaks("DML-BindOutputs-null", "bindings[1]")
def nothing_as_an_output(bench, wrong):
    table, one, other = bench.table(bench.compile(split(4, 4))), bench.buffer(16), bench.buffer(16)
    return lambda: table.BindOutputs([binding(one), binding(None if wrong else other)])


@breaks("DML-BindOutputs-null", "bindings[0]")
def a_null_buffer_as_an_output(bench, wrong):
    table, buffer = bench.table(bench.compile(identity())), bench.buffer(16)
    null = dml.DML_BINDING_DESC(dml.DML_BINDING_TYPE_BUFFER, dml.DML_BUFFER_BINDING())
    return lambda: table.BindOutputs([null if wrong else binding(buffer)])


@breaks("DML-BindOutputs-null", "bindings[0]")
def nothing_as_an_initialized_resource(bench, wrong):
    table, buffer = initializer_table(bench, owned_join(bench)), bench.buffer(16)
    return lambda: table.BindOutputs([binding(None if wrong else buffer)])


@breaks("DML-BindOutputs-count", "bindingCount")
def too_few_outputs(bench, wrong):
    table = bench.table(bench.compile(split(4, 4)))
    outputs = [binding(bench.buffer(16)), binding(bench.buffer(16))]
    return lambda: table.BindOutputs(outputs[:1] if wrong else outputs)


@breaks("DML-BindOutputs-count", "bindingCount")
def an_output_per_operator(bench, wrong):
    table = initializer_table(bench, owned_join(bench), bench.compile(identity()))
    outputs = [binding(bench.buffer(16)), binding(None)]
    return lambda: table.BindOutputs(outputs[:1] if wrong else outputs)


@breaks("DML-BindInputs-owned", "bindings[1]")
def owned_at_execution(bench, wrong):
    table, buffer = bench.table(owned_join(bench)), bench.buffer(16)
    return lambda: table.BindInputs([binding(buffer), binding(buffer if wrong else None)])


@breaks("DML-BindInputs-owned", "bindings[1]")
def an_owned_array(bench, wrong):
    """A null buffer binds nothing, but an array of them is a binding."""
    table, buffer = bench.table(owned_join(bench)), bench.buffer(16)
    nothing = dml.DML_BINDING_DESC(dml.DML_BINDING_TYPE_BUFFER, span())
    return lambda: table.BindInputs([binding(buffer), spans(None) if wrong else nothing])


@breaks("DML-BindInputs-owned", "bindings[0].Bindings[0]")
def others_at_initialization(bench, wrong):
    table, buffer = initializer_table(bench, owned_join(bench)), bench.buffer(16)
    return lambda: table.BindInputs([spans(buffer if wrong else None, buffer)])


@breaks("DML-BindOutputs-empty", "bindings[0]", kind_device=True)
def an_output_without_persistent_resource(bench, wrong):
    table, buffer = initializer_table(bench, bench.compile(identity())), bench.buffer(16)
    return lambda: table.BindOutputs([binding(buffer) if wrong else binding(None)])


@breaks("DML-BindOutputs-empty", "bindings[0]")
def an_absent_output(bench, wrong):
    """GRU without OutputSequenceTensor, with only the last state as output."""
    table = bench.table(bench.compile(last_state()))
    buffer = bench.buffer(16)
    return lambda: table.BindOutputs([binding(bench.buffer(16) if wrong else None), binding(buffer)])


def half_connected(bench):
    """A graph of two inputs and two outputs, of which the second ones are unconnected."""
    op = bench.dml.CreateOperator(identity(4, scale=3))
    desc = graph([op], [(0, 0, 0)], [(0, 0, 0)], input_count=2, output_count=2)
    return bench.table(bench.dml.CompileGraph(desc))


@breaks("DML-BindInputs-owned", "bindings[1]")
def an_input_that_feeds_nothing(bench, wrong):
    table, buffer = half_connected(bench), bench.buffer(16)
    return lambda: table.BindInputs([binding(buffer), binding(buffer if wrong else None)])


@breaks("DML-BindOutputs-empty", "bindings[1]")
def an_output_that_nothing_writes(bench, wrong):
    table, buffer, other = half_connected(bench), bench.buffer(16), bench.buffer(16)
    return lambda: table.BindOutputs([binding(buffer), binding(other if wrong else None)])


def empty_table(bench, wrong, method, *arguments, op=None):
    op = bench.compile(identity()) if op is None else op
    table = bench.dml.CreateBindingTable(None if wrong else bench.table_desc(op))
    return lambda: getattr(table, method)(*arguments)


@breaks("DML-BindingTable-empty", "BindInputs")
def inputs_of_an_empty_table(bench, wrong):
    return empty_table(bench, wrong, "BindInputs", [binding(bench.buffer(16))])


@breaks("DML-BindingTable-empty", "BindOutputs")
def outputs_of_an_empty_table(bench, wrong):
    return empty_table(bench, wrong, "BindOutputs", [binding(bench.buffer(16))])


@breaks("DML-BindingTable-empty", "BindTemporaryResource")
def temporary_of_an_empty_table(bench, wrong):
    one, op = binding(bench.buffer(256)), bench.compile(log_sum_exp())
    return empty_table(bench, wrong, "BindTemporaryResource", one, op=op)


@breaks("DML-BindingTable-empty", "BindPersistentResource")
def persistent_of_an_empty_table(bench, wrong):
    one, op = binding(bench.buffer(16)), owned_join(bench)
    return empty_table(bench, wrong, "BindPersistentResource", one, op=op)


@breaks("DML-BindPersistentResource-initializer", "binding")
def persistent_of_an_initializer(bench, wrong):
    op, buffer = owned_join(bench), bench.buffer(16)
    table = initializer_table(bench, op)
    if wrong:
        return lambda: table.BindPersistentResource(binding(buffer))
    return lambda: table.BindOutputs([binding(buffer)])


@breaks("DML-BindPersistentResource-initializer", "binding")
def nothing_as_persistent_of_an_initializer(bench, wrong):
    op = owned_join(bench)
    table = bench.table(bench.compile(identity())) if not wrong else initializer_table(bench, op)
    return lambda: table.BindPersistentResource(binding(None))


@breaks("DML-BindTemporaryResource-unneeded", "binding", kind_device=True)
def a_temporary_resource_for_nothing(bench, wrong):
    table, buffer = bench.table(bench.compile(identity() if wrong else log_sum_exp())), bench.buffer(256)
    return lambda: table.BindTemporaryResource(binding(buffer))


@breaks("DML-BindTemporaryResource-unneeded", "binding", kind_device=True)
def a_temporary_resource_for_an_initializer(bench, wrong):
    """The initializer does not need the operator's temporary memory."""
    op, buffer = bench.compile(log_sum_exp()), bench.buffer(256)
    table = initializer_table(bench, op) if wrong else bench.table(op)
    return lambda: table.BindTemporaryResource(binding(buffer))


@breaks("DML-BindPersistentResource-unneeded", "binding", kind_device=True)
def a_persistent_resource_for_nothing(bench, wrong):
    table = bench.table(bench.compile(join(4, 4, owned=[] if wrong else [0])))
    buffer = bench.buffer(256)
    return lambda: table.BindPersistentResource(binding(buffer))


@breaks("DML-BufferBinding-range", "bindings[0]")
def a_range_beyond_the_buffer(bench, wrong):
    table, buffer = bench.table(bench.compile(identity())), bench.buffer(32)
    return lambda: table.BindInputs([binding(buffer, 16, 17 if wrong else 16)])


@breaks("DML-BufferBinding-range", "bindings[0]")
def a_range_of_nothing(bench, wrong):
    table, buffer = bench.table(bench.compile(identity())), bench.buffer(32)
    return lambda: table.BindInputs([binding(buffer, 16, 0 if wrong else 16)])


@breaks("DML-BufferBinding-range", "bindings[0]")
def a_range_that_wraps(bench, wrong):
    """Offset + SizeInBytes is 16 in 64 bits."""
    table, buffer = bench.table(bench.compile(identity())), bench.buffer(32)
    return lambda: table.BindOutputs([binding(buffer, BIG if wrong else 0, 32)])


@breaks("DML-BufferBinding-range", "bindings[0].Bindings[1]")
def an_owned_range_beyond_the_buffer(bench, wrong):
    table, buffer = initializer_table(bench, owned_join(bench)), bench.buffer(32)
    return lambda: table.BindInputs([spans(None, span(buffer, 32 if wrong else 16, 16))])


@breaks("DML-BufferBinding-alignment", "bindings[0].Offset")
def half_of_16(bench, wrong):
    table, buffer = bench.table(bench.compile(identity())), bench.buffer(32)
    return lambda: table.BindInputs([binding(buffer, 8 if wrong else 16, 16)])


@breaks("DML-BufferBinding-alignment", "bindings[0].Offset")
def an_output_off_16(bench, wrong):
    table, buffer = bench.table(bench.compile(identity())), bench.buffer(32)
    return lambda: table.BindOutputs([binding(buffer, 12 if wrong else 16, 16)])


@breaks("DML-BufferBinding-alignment", "bindings[0].Offset")
def guaranteed_alignment(bench, wrong):
    table, buffer = bench.table(bench.compile(identity(alignment=64))), bench.buffer(128)
    return lambda: table.BindInputs([binding(buffer, 32 if wrong else 64, 16)])


@breaks("DML-BufferBinding-alignment", "binding.Offset")
def a_temporary_off_256(bench, wrong):
    table, buffer = bench.table(bench.compile(log_sum_exp())), bench.buffer(512)
    return lambda: table.BindTemporaryResource(binding(buffer, 128 if wrong else 256, 256))


@breaks("DML-BufferBinding-alignment", "binding.Offset")
def a_persistent_off_256(bench, wrong):
    table, buffer = bench.table(owned_join(bench)), bench.buffer(512)
    return lambda: table.BindPersistentResource(binding(buffer, 16 if wrong else 256, 256))


@breaks("DML-BufferBinding-alignment", "bindings[0].Offset")
def an_initialized_resource_off_256(bench, wrong):
    table, buffer = initializer_table(bench, owned_join(bench)), bench.buffer(512)
    return lambda: table.BindOutputs([binding(buffer, 16 if wrong else 256, 256)])


@breaks("DML-BufferBinding-size", "bindings[1].SizeInBytes")
def a_small_input(bench, wrong):
    table, buffer = bench.table(bench.compile(join(4, 4))), bench.buffer(16)
    return lambda: table.BindInputs([binding(buffer), binding(buffer, 0, 12 if wrong else 16)])


@breaks("DML-BufferBinding-size", "bindings[0].SizeInBytes")
def a_range_below_the_total_size(bench, wrong):
    """TotalTensorSizeInBytes counts, not the bytes of the elements."""
    table, buffer = bench.table(bench.compile(identity(total_size=32))), bench.buffer(32)
    return lambda: table.BindInputs([binding(buffer, 0, 16 if wrong else 32)])


@breaks("DML-BufferBinding-size", "bindings[0].SizeInBytes")
def a_small_output(bench, wrong):
    table, buffer = bench.table(bench.compile(identity())), bench.buffer(16)
    return lambda: table.BindOutputs([binding(buffer, 0, 12 if wrong else 16)])


@breaks("DML-BufferBinding-size", "binding.SizeInBytes")
def a_small_temporary(bench, wrong):
    op, buffer = bench.compile(log_sum_exp()), bench.buffer(256)
    table, size = bench.table(op), op.GetBindingProperties().TemporaryResourceSize
    return lambda: table.BindTemporaryResource(binding(buffer, 0, size - 4 if wrong else size))


@breaks("DML-BufferBinding-size", "binding.SizeInBytes")
def a_small_persistent(bench, wrong):
    table, buffer = bench.table(owned_join(bench)), bench.buffer(16)
    return lambda: table.BindPersistentResource(binding(buffer, 0, 12 if wrong else 16))


@breaks("DML-BufferBinding-size", "bindings[0].SizeInBytes")
def a_small_initialized_resource(bench, wrong):
    table, buffer = initializer_table(bench, owned_join(bench)), bench.buffer(16)
    return lambda: table.BindOutputs([binding(buffer, 0, 12 if wrong else 16)])


@breaks("DML-BufferBinding-size", "bindings[0].Bindings[1].SizeInBytes")
def a_small_owned_input(bench, wrong):
    table, buffer = initializer_table(bench, owned_join(bench)), bench.buffer(16)
    return lambda: table.BindInputs([spans(None, span(buffer, 0, 12 if wrong else 16))])


@breaks("DML-BufferBinding-unordered-access", "bindings[0].Buffer")
def an_input_without_unordered_access(bench, wrong):
    table = bench.table(bench.compile(identity()))
    return lambda: table.BindInputs([binding(plain(bench, 16, wrong))])


@breaks("DML-BufferBinding-unordered-access", "bindings[0].Buffer")
def an_output_without_unordered_access(bench, wrong):
    table = bench.table(bench.compile(identity()))
    return lambda: table.BindOutputs([binding(plain(bench, 16, wrong))])


@breaks("DML-BufferBinding-unordered-access", "binding.Buffer")
def a_temporary_without_unordered_access(bench, wrong):
    table = bench.table(bench.compile(log_sum_exp()))
    return lambda: table.BindTemporaryResource(binding(plain(bench, 1024, wrong)))


@breaks("DML-BufferBinding-unordered-access", "bindings[0].Bindings[1].Buffer")
def an_owned_input_without_unordered_access(bench, wrong):
    """Buffers in an UPLOAD heap cannot have the flag; those in a DEFAULT heap must."""
    table = initializer_table(bench, owned_join(bench))
    buffer = plain(bench, 16, True) if wrong else bench.buffer(16, UPLOAD)
    return lambda: table.BindInputs([spans(None, buffer)])


def plain(bench, size, wrong):
    """A buffer in a DEFAULT heap, without flags if ``wrong``."""
    return bench.d3d12.CreateCommittedResource(
        dml.CD3DX12_HEAP_PROPERTIES(DEFAULT),
        dml.D3D12_HEAP_FLAG_NONE,
        dml.CD3DX12_RESOURCE_DESC.Buffer(
            size, 0 if wrong else dml.D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS
        ),
        dml.D3D12_RESOURCE_STATE_COMMON,
    )


@breaks("DML-BindTemporaryResource-null", "binding")
def no_temporary_where_one_is_needed(bench, wrong):
    table = bench.table(bench.compile(log_sum_exp()))
    return lambda: table.BindTemporaryResource(None if wrong else binding(bench.buffer(1024)))


@breaks("DML-BindTemporaryResource-null", "binding")
def nothing_as_a_temporary(bench, wrong):
    table = bench.table(bench.compile(log_sum_exp() if wrong else identity()))
    return lambda: table.BindTemporaryResource(binding(None))


@breaks("DML-BindPersistentResource-null", "binding")
def no_persistent_where_one_is_needed(bench, wrong):
    table = bench.table(owned_join(bench) if wrong else bench.compile(join(4, 4)))
    return lambda: table.BindPersistentResource(None)


@breaks("DML-BufferBinding-heap-type", "bindings[0].Buffer")
def an_input_in_upload(bench, wrong):
    table, buffer = bench.table(bench.compile(identity())), bench.buffer(16, UPLOAD if wrong else CUSTOM)
    return lambda: table.BindInputs([binding(buffer)])


@breaks("DML-BufferBinding-heap-type", "bindings[0].Buffer")
def an_output_in_readback(bench, wrong):
    table, buffer = bench.table(bench.compile(identity())), bench.buffer(16, READBACK if wrong else CUSTOM)
    return lambda: table.BindOutputs([binding(buffer)])


@breaks("DML-BufferBinding-heap-type", "bindings[0].Bindings[1].Buffer")
def an_owned_input_in_readback(bench, wrong):
    table = initializer_table(bench, owned_join(bench))
    buffer = bench.buffer(16, READBACK if wrong else UPLOAD)
    return lambda: table.BindInputs([spans(None, buffer)])


@breaks("DML-BufferBinding-heap-type", "bindings[0].Buffer")
def an_initialized_resource_in_upload(bench, wrong):
    op = owned_join(bench)
    table, size = initializer_table(bench, op), op.GetBindingProperties().PersistentResourceSize
    buffer = bench.buffer(size, UPLOAD if wrong else DEFAULT)
    return lambda: table.BindOutputs([binding(buffer)])


@breaks("DML-BufferBinding-heap-type", "binding.Buffer")
def a_temporary_in_upload(bench, wrong):
    table = bench.table(bench.compile(log_sum_exp()))
    buffer = bench.buffer(256, UPLOAD if wrong else DEFAULT)
    return lambda: table.BindTemporaryResource(binding(buffer))


@breaks("DML-BufferBinding-device", "bindings[0].Buffer")
def a_buffer_of_another_device(bench, wrong):
    table = bench.table(bench.compile(identity()))
    buffer = (Bench() if wrong else bench).buffer(16)
    return lambda: table.BindInputs([binding(buffer)])


@breaks("DML-Binding-type", "bindings[0].Type")
def an_array_for_a_tensor(bench, wrong):
    table, buffer = bench.table(bench.compile(identity())), bench.buffer(16)
    return lambda: table.BindInputs([spans(buffer) if wrong else binding(buffer)])


@breaks("DML-Binding-type", "bindings[0].Type")
def a_buffer_for_an_initializer(bench, wrong):
    table, buffer = initializer_table(bench, bench.compile(join(4, owned=[0]))), bench.buffer(16)
    return lambda: table.BindInputs([binding(buffer) if wrong else spans(buffer)])


@breaks("DML-Binding-type", "binding.Type")
def an_array_for_the_temporary_resource(bench, wrong):
    table, buffer = bench.table(bench.compile(log_sum_exp())), bench.buffer(256)
    return lambda: table.BindTemporaryResource(spans(buffer) if wrong else binding(buffer))


@breaks("DML-Binding-count", "bindings")
def a_count_without_bindings(bench, wrong):
    table = bench.table(bench.compile(identity()))
    return lambda: table.BindInputs(1 if wrong else 0, None)


@breaks("DML-Binding-count", "bindingCount")
def a_count_above_the_bindings(bench, wrong):
    table, one = bench.table(bench.compile(join(4, 4))), binding(bench.buffer(16))
    return lambda: table.BindInputs(2, [one] if wrong else [one, one])


@breaks("DML-Binding-count", "bindingCount")
def one_struct_for_two(bench, wrong):
    """A single struct is followed by unrelated memory."""
    op, buffer = bench.compile(join(4, 4)), bench.buffer(16)
    table = bench.table(op)
    pair = (dml.DML_BINDING_DESC * 2)(binding(buffer), binding(buffer))
    return lambda: table.BindInputs(2, pair[0] if wrong else pair)
