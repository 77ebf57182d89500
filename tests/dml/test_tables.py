"""DML_BINDING_TABLE_DESC in every form."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

import directml_py as dml
from directml_py.cffi import ffi
from directml_py.descs.tensor import TensorDesc
from directml_py.dml.binding_point import BindingPoint
from directml_py.dml.bindings import read_bindings
from directml_py.dml.compiled_operator import IDMLCompiledOperator, align
from directml_py.dml.kept_bindings import KeptBindings
from directml_py.dml.tensor_accesses import elements_of
from directml_py.runtime.recording import AccessKind
from directml_py.validation.report import Report

from .helpers import DEBUG, VIEWS, Bench, binding, identity, join, spans

FORMS = {
    "struct": lambda desc: desc,
    "byref": ctypes.byref,
    "pointer": ctypes.pointer,
    "address": ctypes.addressof,
    "cffi": lambda desc: ffi.cast("DML_BINDING_TABLE_DESC *", ctypes.addressof(desc)),
}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize("by_reset", [False, True])
def test_forms(debug_bench, form, by_reset):
    """The table belongs to its operator, as the accepted bindings show."""
    bench = debug_bench
    op, buffer = bench.compile(join(4, 4)), bench.buffer(16)
    desc = bench.table_desc(op)
    if by_reset:
        table = bench.dml.CreateBindingTable(None)
        table.Reset(form(desc))
    else:
        table = bench.dml.CreateBindingTable(form(desc))
    desc.Dispatchable, desc.SizeInDescriptors = None, 0
    table.BindInputs([binding(buffer), binding(buffer)])
    table.BindOutputs([binding(bench.buffer(32))])
    bench.bind_resources(table)
    bench.initialize(op)
    bench.record(op, table)
    assert not bench.removed


@pytest.mark.parametrize(
    "nothing", [None, 0, ctypes.c_void_p(), ctypes.POINTER(dml.DML_BINDING_TABLE_DESC)()]
)
def test_null_makes_an_empty_table(bench, nothing):
    op, buffer = bench.compile(identity()), bench.buffer(16)
    table = bench.dml.CreateBindingTable(nothing)
    table.Reset(bench.table_desc(op))
    table.BindInputs([binding(buffer)])
    table.Reset(nothing)
    assert not bench.removed
    table.BindInputs([binding(buffer)])
    assert bench.removed


def refused(bench, desc):
    with pytest.raises(dml.DMLError) as caught:
        bench.dml.CreateBindingTable(desc)
    assert caught.value.hresult == dml.E_INVALIDARG
    assert not bench.removed
    return [(found.rule, found.path) for found in caught.value.diagnostics]


def test_objects_that_cannot_be_dispatched(bench):
    op = bench.dml.CreateOperator(identity())
    for wrong in (op, bench.dml, bench.recorder, bench.queue, bench.buffer(16)):
        desc = bench.table_desc(bench.compile(identity()))
        desc.Dispatchable = wrong
        assert refused(bench, desc) == [("DML-Desc-interface", "Dispatchable")]


def test_no_dispatchable(bench):
    desc = bench.table_desc(bench.compile(identity()))
    desc.Dispatchable = None
    assert refused(bench, desc) == [("DML-Desc-null", "Dispatchable")]
    for wild in (0x10, bench.compile(identity()).handle):
        desc.Dispatchable = wild
        assert refused(bench, desc) == [("DML-Desc-interface", "Dispatchable")]


@pytest.mark.kind_device
def test_all_that_is_wrong_with_a_desc(bench):
    desc = bench.table_desc(bench.compile(identity()))
    desc.CPUDescriptorHandle.ptr, desc.GPUDescriptorHandle.ptr, desc.SizeInDescriptors = 1, 1, 1
    assert set(refused(bench, desc)) == {
        ("DML-BindingTable-handle", "CPUDescriptorHandle"),
        ("DML-BindingTable-handle", "GPUDescriptorHandle"),
        ("DML-BindingTable-size", "SizeInDescriptors"),
    }


def test_no_desc_at_all(bench):
    for wrong in ("desc", object(), bench.recorder, dml.DML_BINDING_DESC()):
        with pytest.raises(TypeError, match="desc"):
            bench.dml.CreateBindingTable(wrong)
    assert refused(bench, 0x10) == [("DML-Desc-unreadable", "desc")]


@pytest.mark.kind_device
def test_one_heap_for_many_tables(bench):
    """Tables over neighbouring ranges do not touch one another's descriptors."""
    first, second = bench.compile(identity()), bench.compile(identity())
    tables = [bench.table(first), bench.table(second)]
    buffers = [bench.buffer(16) for _ in range(4)]
    tables[1].BindInputs([binding(buffers[2])])
    tables[1].BindOutputs([binding(buffers[3])])
    tables[0].BindInputs([binding(buffers[0])])
    tables[0].BindOutputs([binding(buffers[1])])
    written = [slot for slot in bench.slots() if slot is not None]
    assert len(written) == 4
    assert [slot is not None for slot in bench.slots()[:5]] == [True] * 4 + [False]


def test_how_many_bindings_are_read():
    """65,536 by address, as many as a graph can have; larger counts are rejected without reading any."""
    most = 1 << 16
    descs = (dml.DML_BINDING_DESC * (most + 1))()
    for count, read in ((None, 0), (0, 0), (1, 1), (most, most), (most + 1, None)):
        report = Report()
        found = read_bindings(count, ctypes.addressof(descs), report)
        assert (None if found is None else len(found)) == (read or None)
        said = [(one.rule, one.path) for one in report.diagnostics]
        assert said == ([] if read is not None else [("DML-Binding-count", "bindingCount")])


@pytest.mark.parametrize("count", [-1, 1 << 32])
def test_a_count_that_no_uint_holds(count):
    report = Report()
    assert read_bindings(count, None, report) is None
    (found,) = report.diagnostics
    assert found.message == f"bindingCount is {count}; it must be an unsigned 32-bit number"


@pytest.mark.parametrize(("size", "aligned"), [(0, 0), (1, 16), (15, 16), (16, 16), (17, 32)])
def test_sizes_go_up_to_the_next_multiple(size, aligned):
    assert align(size, 16) == aligned


def test_slots_are_named_as_the_bind_methods_count():
    assert BindingPoint("input", 1).name == "inputs[1]"
    assert BindingPoint("output").name == "outputs[0]"
    assert BindingPoint("input", 2, 3).name == "inputs[2].Bindings[3]"
    assert BindingPoint("temporary").name == "the temporary resource"


@pytest.mark.parametrize("count", [5, 6])
def test_writing_halves_of_bytes(count):
    """Five or six elements of four bits are written to three bytes, of which the last is written as a whole."""
    desc = TensorDesc(dml.DML_TENSOR_DATA_TYPE_INT4, (1, 1, 1, count))
    memory = np.arange(8, dtype=np.uint8)
    assert elements_of(desc, AccessKind.WRITE)(memory).tolist() == [0, 1, 2]
    assert elements_of(desc, AccessKind.READ)(memory).ravel().tolist() == [0, 0, 1, 1, 2, 2][:count]


@pytest.mark.kind_device
@pytest.mark.parametrize(("place", "rules"), [(5, []), (6, ["SIZE"]), (8, ["HANDLE"]), (-1, ["HANDLE"])])
def test_a_table_begins_inside_its_heap(place, rules):
    """Of eight descriptors three are needed."""
    bench = Bench(DEBUG)
    op, heap = bench.compile(join(2, 2)), bench.descriptors(8)
    step = bench.d3d12.GetDescriptorHandleIncrementSize(VIEWS)
    cpu = heap.GetCPUDescriptorHandleForHeapStart().ptr + place * step
    gpu = heap.GetGPUDescriptorHandleForHeapStart().ptr + place * step
    desc = dml.DML_BINDING_TABLE_DESC(
        op, dml.D3D12_CPU_DESCRIPTOR_HANDLE(cpu), dml.D3D12_GPU_DESCRIPTOR_HANDLE(gpu), 3
    )
    if not rules:
        assert bench.dml.CreateBindingTable(desc)
        return
    with pytest.raises(dml.DMLError) as caught:
        bench.dml.CreateBindingTable(desc)
    known = {"SIZE": "DML-BindingTable-size", "HANDLE": "DML-BindingTable-handle"}
    assert {found.rule for found in caught.value.diagnostics} == {known[rule] for rule in rules}


@pytest.mark.kind_device
def test_a_table_recorded_again_has_the_newest_bindings(bench):
    op = bench.compile(identity(scale=2))
    bench.initialize(op)
    first, second = (bench.upload(np.full(4, value, np.float32)) for value in (1, 5))
    targets = [bench.buffer(16) for _ in range(3)]
    table = bench.table(op, [first], [targets[0]])
    bench.record(op, table)
    table.BindOutputs([binding(targets[1])])
    bench.record(op, table)
    bench.record(op, table)
    table.BindInputs([binding(second)])
    table.BindOutputs([binding(targets[2])])
    bench.record(op, table)
    bench.execute()
    assert [bench.read(target, np.float32)[0] for target in targets] == [2, 2, 10]


@pytest.mark.kind_device
@pytest.mark.parametrize("assignments", [2, 5])
def test_memory_that_takes_turns_is_prepared_for_once(bench, monkeypatch, assignments):
    op = bench.compile(identity(scale=2))
    bench.initialize(op)
    memory = [(bench.upload(np.full(4, i, np.float32)), bench.buffer(16)) for i in range(assignments)]
    prepared = []
    for owner, name in ((IDMLCompiledOperator, "prepare"), (KeptBindings, "moved")):
        method = getattr(owner, name)
        monkeypatch.setattr(
            owner, name, lambda self, views, method=method: prepared.append(views) or method(self, views)
        )
    for round in range(3):
        for source, target in memory:
            bench.record(op, bench.table(op, [source], [target]))
        if round == 0:
            prepared.clear()
    assert prepared == []
    bench.execute()
    assert [bench.read(target, np.float32)[0] for _, target in memory] == [2 * i for i in range(assignments)]


def test_a_binding_that_is_refused_leaves_the_dispatch_as_it_was(bench):
    """Recording does nothing afterwards, as the device is removed; what was recorded runs."""
    op = bench.compile(identity(scale=2))
    bench.initialize(op)
    source, target = bench.upload(np.ones(4, np.float32)), bench.buffer(16)
    table = bench.table(op, [source], [target])
    bench.record(op, table)
    table.BindOutputs([binding(bench.buffer(8))])
    assert bench.removed
    bench.record(op, table)
    bench.execute()
    assert bench.read(target, np.float32).tolist() == [2] * 4


def test_a_table_of_an_initializer_that_was_reset(bench):
    """With operators that need the same bindings, and are other ones."""
    ops = [bench.compile(join(4, 4, owned=[1])) for _ in range(2)]
    initializer = bench.dml.CreateOperatorInitializer([ops[0]])
    source = bench.upload(np.arange(4, dtype=np.float32))
    persistent = bench.buffer(ops[0].persistent_size)
    table = bench.table(initializer, [spans(None, source)], [persistent])
    bench.record(initializer, table)
    initializer.Reset([ops[1]])
    bench.record(initializer, table)
    bench.execute()
    assert [op.initialized for op in ops] == [True, True]
