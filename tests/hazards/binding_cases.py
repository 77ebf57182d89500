"""Bindings of one dispatch that share memory, so that results depend on the order of reads and writes.

Microsoft's library takes them all: BindInputs, BindOutputs and RecordDispatch leave its device alive.
"""

from __future__ import annotations

import directml_py as dml

from ..dml.graphs import graph
from ..dml.helpers import OWNED, identity, join, log_sum_exp, span, spans, split, tensor
from .hazard import binding, hazard

ORDER = "so that results depend on the order of reads and writes"


def run(bench, op, inputs, outputs, **resources):
    bench.dispatch(op, inputs, outputs, **resources)
    bench.execute()


@hazard("DML-Binding-outputs-overlap", "overlaps outputs[0]", ORDER, path="outputs[1]")
def outputs_share_memory(bench, wrong):
    op, buffer = bench.ready(split(8, 4)), bench.buffer(64)
    outputs = [binding(buffer, 0, 32), binding(buffer, 16 if wrong else 32, 16)]
    run(bench, op, [bench.buffer(48)], outputs)


@hazard("DML-Binding-outputs-overlap", "overlaps outputs[0]", path="outputs[1]")
def initialized_resources_share_memory(bench, wrong):
    ops = [bench.keep(bench.compile(join(size, owned=[0]))) for size in (80, 4)]
    initializer, buffer = bench.keep(bench.dml.CreateOperatorInitializer(ops)), bench.buffer(1024)
    outputs = [binding(buffer, 0, 512), binding(buffer, 256 if wrong else 512, 256)]
    run(bench, initializer, [spans(bench.buffer(320)), spans(bench.buffer(16))], outputs)


@hazard("DML-Binding-in-place", "DML_OPERATOR_JOIN does not work in place", ORDER, path="outputs[0]")
def an_operator_that_does_not_work_in_place(bench, wrong):
    op, buffer = bench.ready(join(4)), bench.buffer(16)
    run(bench, op, [buffer], [buffer if wrong else bench.buffer(16)])


def clip_gradient(size):
    return dml.DML_ELEMENT_WISE_CLIP_GRAD_OPERATOR_DESC(tensor(size), tensor(size), tensor(size), 0.0, 1.0)


@hazard(
    "DML-Binding-in-place", "works in place of InputTensor only", path="outputs[0]", ways=("alone", "too")
)
def the_gradient_is_the_output(bench, wrong):
    """CLIP_GRAD works in place of the clipped tensor only."""
    op, buffer, other = bench.ready(clip_gradient(4)), bench.buffer(16), bench.buffer(16)
    bound = {"alone": [other, buffer], "too": [buffer, buffer]}
    run(bench, op, bound.get(wrong, [buffer, other]), [buffer])


@hazard("DML-Binding-in-place", "does not work in place of InputGradientTensor", path="outputs[0]")
def a_graph_whose_output_needs_the_input_again(bench, wrong):
    """3 * x, and then the gradient of its clipping, which must not be x."""
    nodes = [bench.keep(bench.dml.CreateOperator(desc)) for desc in (identity(4, scale=3), clip_gradient(4))]
    inputs = [(0, 0, 0), (0 if wrong else 1, 1, 1)]
    op = bench.keep(bench.dml.CompileGraph(graph(nodes, inputs, [(1, 0, 0)], [(0, 0, 1, 0)])))
    bench.initialize(op)
    buffer = bench.buffer(16)
    run(bench, op, [buffer] if wrong else [buffer, bench.buffer(16)], [buffer])


@hazard("DML-Binding-in-place", "does not lead to", path="outputs[1]")
def an_output_that_another_one_overwrites(bench, wrong):
    """Two nodes read x: each output could take its memory if it were the only reader."""
    nodes = [bench.keep(bench.dml.CreateOperator(identity(4, scale=scale))) for scale in (3, 5)]
    inputs = [(0, 0, 0), (0 if wrong else 1, 1, 0)]
    op = bench.keep(bench.dml.CompileGraph(graph(nodes, inputs, [(0, 0, 0), (1, 0, 1)])))
    bench.initialize(op)
    buffers = [bench.buffer(16) for _ in range(2)]
    bound = buffers[:1] if wrong else buffers
    run(bench, op, bound, [bench.buffer(16), bound[-1]])


@hazard("DML-Binding-in-place", "both must begin at the same byte", path="outputs[0]")
def ranges_that_overlap_by_half(bench, wrong):
    op, buffer = bench.ready(identity(8)), bench.buffer(64)
    run(bench, op, [binding(buffer, 0, 32)], [binding(buffer, 16 if wrong else 32, 32)])


@hazard("DML-Binding-in-place", "must have the element size, sizes and strides of", path="outputs[0]")
def a_transpose_in_place(bench, wrong):
    x = tensor(3, 3, strides=[9, 9, 1, 3] if wrong else [7, 8, 3, 1])
    op = bench.ready(dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(x, tensor(3, 3)))
    buffer = bench.buffer(36)
    run(bench, op, [buffer], [buffer])


@hazard("DML-Binding-in-place", "must have the element size, sizes and strides of", path="outputs[0]")
def a_sum_with_its_own_first_row(bench, wrong):
    """The broadcast row is read after it was overwritten."""
    x, row = tensor(3, 3), tensor(3, 3, strides=[9, 9, 0, 1], total_size=36)
    op = bench.ready(
        dml.DML_ELEMENT_WISE_ADD1_OPERATOR_DESC(x, row, x, dml.DML_ACTIVATION_RELU_OPERATOR_DESC())
    )
    buffer, other = bench.buffer(36), bench.buffer(36)
    run(bench, op, [buffer, buffer if wrong else other], [buffer])


@hazard("DML-Binding-in-place", "overlaps inputs[1]", path="outputs[0]")
def the_second_input_is_in_the_output(bench, wrong):
    op, buffer, other = bench.ready(join(4, 4)), bench.buffer(64), bench.buffer(16)
    run(bench, op, [other, binding(buffer, 16, 16)], [binding(buffer, 0 if wrong else 32, 32)])


TEMPORARY = "the temporary resource"


@hazard("DML-Binding-resource-overlap", "overlaps inputs[0]", ORDER, path=TEMPORARY)
def the_temporary_resource_in_an_input(bench, wrong):
    op, buffer = bench.ready(log_sum_exp()), bench.buffer(1024)
    inputs = [binding(buffer, 272 if wrong else 0, 16)]
    run(bench, op, inputs, [bench.buffer(16)], temporary=binding(buffer, 256, 256))


@hazard("DML-Binding-resource-overlap", "overlaps outputs[0]", path=TEMPORARY)
def the_temporary_resource_in_an_output(bench, wrong):
    op, buffer = bench.ready(log_sum_exp()), bench.buffer(1024)
    outputs = [binding(buffer, 256 if wrong else 512, 16)]
    run(bench, op, [bench.buffer(16)], outputs, temporary=binding(buffer, 256, 256))


def initialized(bench, desc, source, persistent):
    op = bench.keep(bench.compile(desc))
    bench.initialize(op, source, persistent)
    return op


@hazard("DML-Binding-resource-overlap", "overlaps the temporary resource", path="the persistent resource")
def the_temporary_resource_in_the_persistent_one(bench, wrong):
    buffer = bench.buffer(1024)
    persistent = binding(buffer, 256 if wrong else 512, 256)
    op = initialized(bench, log_sum_exp(flags=OWNED), [bench.buffer(16)], persistent)
    temporary = binding(buffer, 0, 512)
    run(bench, op, [None], [bench.buffer(16)], temporary=temporary, persistent=persistent)


@hazard("DML-Binding-resource-overlap", "overlaps outputs[0]", path="the persistent resource")
def the_persistent_resource_in_an_output(bench, wrong):
    buffer = bench.buffer(1024)
    persistent = binding(buffer, 256 if wrong else 512, 256)
    op = initialized(bench, join(4, 4, owned=[1]), [None, bench.buffer(16)], persistent)
    run(bench, op, [bench.buffer(16), None], [binding(buffer, 240, 32)], persistent=persistent)


@hazard("DML-Binding-initializer-overlap", "overlaps inputs[0]", ORDER, path="outputs[0]")
def the_persistent_resource_in_an_owned_input(bench, wrong):
    op, buffer = bench.keep(bench.compile(join(80, owned=[0]))), bench.buffer(1024)
    initializer = bench.keep(bench.dml.CreateOperatorInitializer([op]))
    source = span(buffer if wrong else bench.buffer(1024), 16, 320)
    run(bench, initializer, [spans(source)], [binding(buffer, 256, 512)])
