"""Descriptors that change while a dispatch is in flight."""

from __future__ import annotations

import directml_py as dml

from ..dml.helpers import VIEWS, VOLATILE, identity
from .hazard import binding, hazard

CHANGED = "DML-RecordDispatch-descriptors"
DISPATCH = "the dispatch of DML_OPERATOR_ELEMENT_WISE_IDENTITY"


def separate_desc(bench, op):
    """A table desc whose CPU handle is in a separate heap."""
    desc = bench.table_desc(op)
    count = op.GetBindingProperties().RequiredDescriptorCount
    storage = bench.keep(bench.descriptors(count, flags=dml.D3D12_DESCRIPTOR_HEAP_FLAG_NONE))
    visible = dml.D3D12_CPU_DESCRIPTOR_HANDLE(desc.CPUDescriptorHandle.ptr)
    desc.CPUDescriptorHandle = storage.GetCPUDescriptorHandleForHeapStart()
    return desc, lambda: bench.d3d12.CopyDescriptorsSimple(count, visible, desc.CPUDescriptorHandle, VIEWS)


@hazard(CHANGED, "at index 0", "input 0", path=DISPATCH, ways=["both pending"])
def two_tables_over_the_same_descriptors(bench, wrong):
    op, desc = bench.ready(identity()), None
    for value in range(2):
        if desc is None or (value and not wrong):
            desc = bench.table_desc(op)
        table = bench.keep(bench.dml.CreateBindingTable(desc))
        table.BindInputs([binding(bench.holding(*[value] * 4))])
        table.BindOutputs([binding(bench.buffer(16))])
        bench.record(op, table)
    bench.execute()


@hazard(CHANGED, path=DISPATCH, ways=["pending"])
def one_range_used_again(bench, wrong):
    """Once the first dispatch has run, its descriptors are free."""
    op = bench.ready(identity())
    desc = bench.table_desc(op)
    for value in range(2):
        table = bench.keep(bench.dml.CreateBindingTable(desc))
        table.BindInputs([binding(bench.holding(*[value] * 4))])
        table.BindOutputs([binding(bench.buffer(16))])
        bench.record(op, table)
        if not wrong:
            bench.execute()
    bench.execute()


@hazard(CHANGED, "at index 1", "output 0", path=DISPATCH, ways=["after recording"])
def binding_again(bench, wrong):
    op, other = bench.ready(identity()), bench.buffer(16)
    table = bench.dispatch(op, [bench.buffer(16)], [bench.buffer(16)])
    if not wrong:
        bench.execute()
    table.BindOutputs([binding(other)])
    bench.execute()


@hazard(CHANGED, "at index 0", path=DISPATCH, ways=["after submission"])
def volatile_descriptors(bench, wrong):
    """They may change until the list is submitted."""
    op, late = bench.ready(identity(), VOLATILE), bench.holding(5, 6, 7, 8)
    table = bench.dispatch(op, [bench.buffer(16)], [bench.buffer(16)])
    if not wrong:
        table.BindInputs([binding(late)])
    bench.submit(bench.commands)
    if wrong:
        table.BindInputs([binding(late)])
    bench.wait()


@hazard(CHANGED, "never copied", path=DISPATCH, ways=["not copied"])
def handles_in_different_heaps(bench, wrong):
    op = bench.ready(identity())
    desc, copy = separate_desc(bench, op)
    table = bench.keep(bench.dml.CreateBindingTable(desc))
    table.BindInputs([binding(bench.buffer(16))])
    table.BindOutputs([binding(bench.buffer(16))])
    bench.record(op, table)
    if not wrong:
        copy()
    bench.execute()


@hazard(CHANGED, path=DISPATCH, ways=["overwritten"])
def descriptors_copied_over_others(bench, wrong):
    op = bench.ready(identity())
    first, second = separate_desc(bench, op), separate_desc(bench, op)
    for desc, copy in (first, first if wrong else second):
        table = bench.keep(bench.dml.CreateBindingTable(desc))
        table.BindInputs([binding(bench.buffer(16))])
        table.BindOutputs([binding(bench.buffer(16))])
        bench.record(op, table)
        copy()
    bench.execute()
