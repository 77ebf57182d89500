"""Dispatches that depend on one another and may run at once (the page "UAV barriers and resource state barriers")."""

from __future__ import annotations

import directml_py as dml

from ..dml.helpers import identity, join, log_sum_exp, spans
from .hazard import COPY_SOURCE, UNORDERED_ACCESS, Transition, binding, hazard

MISSING = "D3D12-UAVBarrier-missing"


def three(bench, desc=None):
    """A ready identity and buffers ``a``, ``b`` and ``c``."""
    return bench.ready(desc or identity()), *(bench.buffer(16, name=name) for name in "abc")


@hazard(
    MISSING,
    "no UAV barrier",
    "InputTensor",
    "OutputTensor",
    "DML_OPERATOR_ELEMENT_WISE_IDENTITY",
    ways=[1, 2],
)
def page_example_1(bench, wrong):
    """conv1, relu1, batch1, each of which reads the previous one's output; barrier ``wrong`` is omitted."""
    ops = [bench.ready(identity(scale=scale)) for scale in (1.0, 2.0, 3.0)]
    buffers = [bench.buffer(16, name=f"x{index}") for index in range(4)]
    for step, op in enumerate(ops):
        if step and step != wrong:
            bench.barrier()
        bench.dispatch(op, [buffers[step]], [buffers[step + 1]])
    bench.execute()


@hazard(MISSING, "conv1.out", "InputTensors[0]", "DML_OPERATOR_JOIN", ways=["before join1"])
@hazard(MISSING, "pool1.out", "InputTensor", ways=["before conv1"])
def page_example_2(bench, wrong):
    """pool1, then conv1 and conv2, then join1: the two in the middle need no barrier between them."""
    pool, left, right = (bench.ready(identity()) for _ in range(3))
    both = bench.ready(join(4, 4))
    names = ("in", "pool1.out", "conv1.out", "conv2.out")
    x, pooled, one, two = (bench.buffer(16, name=name) for name in names)
    bench.dispatch(pool, [x], [pooled])
    if wrong != "before conv1":
        bench.barrier()
    bench.dispatch(left, [pooled], [one])
    bench.dispatch(right, [pooled], [two])
    if wrong != "before join1":
        bench.barrier()
    bench.dispatch(both, [one, two], [bench.buffer(32)])
    bench.execute()


@hazard(MISSING, "writes OutputTensor", "which the dispatch", "reads as InputTensor")
def a_write_after_a_read(bench, wrong):
    op, a, b, c = three(bench)
    bench.dispatch(op, [a], [b])
    if not wrong:
        bench.barrier(a)
    bench.dispatch(op, [c], [a])
    bench.execute()


@hazard(MISSING, "writes OutputTensor", "writes as OutputTensor", "'c'")
def two_writes(bench, wrong):
    op, a, b, c = three(bench)
    bench.dispatch(op, [a], [c])
    if not wrong:
        bench.barrier(c)
    bench.dispatch(op, [b], [c])
    bench.execute()


@hazard(MISSING, "'b'")
def a_barrier_for_another_buffer(bench, wrong):
    op, a, b, c = three(bench)
    bench.dispatch(op, [a], [b])
    bench.barrier(a if wrong else b)
    bench.dispatch(op, [b], [c])
    bench.execute()


@hazard(MISSING, "bytes 16 to 32 of ID3D12Resource 'shared'")
def ranges_of_one_buffer(bench, wrong):
    """The first dispatch writes bytes 0 to 32 only, even if the binding is larger."""
    wide, narrow = bench.ready(identity(8)), bench.ready(identity(4))
    shared = bench.buffer(64, name="shared")
    bench.dispatch(wide, [bench.buffer(32)], [binding(shared, 0, 64)])
    bench.dispatch(narrow, [binding(shared, 16 if wrong else 32, 32)], [bench.buffer(16)])
    bench.execute()


@hazard(MISSING, ways=["one call"])
def lists_of_one_call(bench, wrong):
    """Lists of one ExecuteCommandLists may overlap; those of two calls may not."""
    op, a, b, c = three(bench)
    first, second = bench.commands, bench.new_list()
    second.SetDescriptorHeaps([bench.heap])
    bench.dispatch(op, [a], [b], first)
    bench.dispatch(op, [b], [c], second)
    if wrong:
        bench.submit(first, second)
    else:
        bench.submit(first)
        bench.submit(second)
    bench.wait()


@hazard(MISSING)
def a_barrier_in_the_second_list(bench, wrong):
    op, a, b, c = three(bench)
    first, second = bench.commands, bench.new_list()
    second.SetDescriptorHeaps([bench.heap])
    bench.dispatch(op, [a], [b], first)
    if not wrong:
        second.ResourceBarrier([dml.CD3DX12_RESOURCE_BARRIER.UAV(b)])
    bench.dispatch(op, [b], [c], second)
    bench.submit(first, second)
    bench.wait()


@hazard(MISSING)
def a_transition_there_and_back(bench, wrong):
    op, a, b, c = three(bench)
    bench.dispatch(op, [a], [b])
    if not wrong:
        bench.transition(b, UNORDERED_ACCESS, COPY_SOURCE)
        bench.transition(b, COPY_SOURCE, UNORDERED_ACCESS)
    bench.dispatch(op, [b], [c])
    bench.execute()


@hazard(MISSING, "InputTensors[1] in the persistent resource", "an operator initializer")
def initialization_and_execution(bench, wrong):
    op = bench.compile(join(4, 4, owned=[1]))
    initializer = bench.dml.CreateOperatorInitializer([op])
    persistent = bench.buffer(256)
    bench.dispatch(initializer, [spans(None, bench.buffer(16))], [persistent])
    if not wrong:
        bench.barrier(persistent)
    bench.dispatch(op, [bench.buffer(16), None], [bench.buffer(32)], persistent=persistent)
    bench.execute()


@hazard(MISSING, "overwrites the temporary resource", "overwrites as the temporary resource")
def one_temporary_resource_for_two(bench, wrong):
    op = bench.ready(log_sum_exp())
    x, scratch = bench.holding(1, 2, 3, 4), bench.buffer(256)
    for _ in range(2):
        bench.dispatch(op, [x], [bench.buffer(4)], temporary=scratch)
        if not wrong:
            bench.barrier(scratch)
    bench.execute()


@hazard(MISSING)
def what_comes_after_a_copy(bench, wrong):
    """Transitions around a copy order the dispatches before and after it, for the buffer that is copied alone."""
    op, a, b, c = three(bench)
    bench.dispatch(op, [a], [b])
    copied = c if wrong else b
    states = (dml.D3D12_RESOURCE_STATE_COMMON if wrong else UNORDERED_ACCESS, COPY_SOURCE)
    bench.commands.ResourceBarrier([Transition(copied, *states)])
    bench.commands.CopyResource(bench.buffer(16), copied)
    bench.commands.ResourceBarrier([Transition(copied, COPY_SOURCE, UNORDERED_ACCESS)])
    bench.dispatch(op, [b], [bench.buffer(16)])
    bench.execute()
