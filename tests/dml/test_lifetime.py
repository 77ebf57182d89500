"""Objects are freed with their last reference: no cycles are left to the garbage collector."""

from __future__ import annotations

import contextlib
import gc
import weakref

import pytest

import directml_py as dml

from .helpers import DEBUG, VOLATILE, Bench, binding, identity, join, spans


@pytest.fixture(autouse=True)
def no_collector():
    """Reference counting alone must free objects."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def whole_program(flags, execution):
    """Owned input, dispatch, read back; the objects by name."""
    bench = Bench(flags)
    op = bench.compile(join(4, 4, owned=[1]), execution)
    initializer = bench.dml.CreateOperatorInitializer([op])
    weights, persistent = bench.holding(5, 6, 7, 8), bench.buffer(256)
    first = bench.table(initializer, [spans(None, weights)], [persistent])
    bench.record(initializer, first)
    bench.barrier()
    source, target = bench.holding(1, 2, 3, 4), bench.buffer(32)
    second = bench.table(op, [source, None], [target], persistent=persistent)
    bench.record(op, second)
    bench.execute()
    assert bench.read(target).tolist() == [1, 2, 3, 4, 5, 6, 7, 8]
    return {
        "bench": bench,
        "d3d12": bench.d3d12,
        "device": bench.dml,
        "operator": op.op,
        "compiled": op,
        "initializer": initializer,
        "tables": first,
        "other table": second,
        "recorder": bench.recorder,
        "weights": weights,
        "persistent": persistent,
        "source": source,
        "target": target,
        "heap": bench.heap,
    }


def alive(references):
    return [name for name, reference in references.items() if reference() is not None]


@pytest.mark.parametrize("flags", [0, DEBUG])
@pytest.mark.parametrize("execution", [0, VOLATILE])
def test_a_whole_program(flags, execution):
    found = whole_program(flags, execution)
    references = {name: weakref.ref(value) for name, value in found.items()}
    assert alive(references) == list(references)
    del found
    assert alive(references) == []


def test_a_debug_device_that_was_removed():
    """A raised error must not keep the caller's objects alive."""

    def program():
        bench = Bench(DEBUG)
        table, buffer = bench.table(bench.compile(identity())), bench.buffer(1 << 20)
        references = {"bench": weakref.ref(bench), "table": weakref.ref(table), "buffer": weakref.ref(buffer)}
        with contextlib.suppress(dml.DMLError):
            table.BindInputs([binding(buffer, 8, 16)])
        return bench.dml, references

    device, references = program()
    assert device.GetDeviceRemovedReason() == dml.DXGI_ERROR_DEVICE_REMOVED
    assert alive(references) == []
    reference = weakref.ref(device)
    del device
    assert reference() is None


def test_a_compiled_operator_keeps_its_operator_and_device():
    bench = Bench()
    op = bench.dml.CreateOperator(identity())
    compiled = bench.dml.CompileOperator(op)
    references = {"op": weakref.ref(op), "device": weakref.ref(bench.dml), "d3d12": weakref.ref(bench.d3d12)}
    del bench, op
    assert alive(references) == ["op", "device", "d3d12"]
    assert compiled.GetDevice() is references["device"]()
    del compiled
    assert alive(references) == []


def test_a_table_keeps_its_dispatchable(bench):
    compiled = bench.compile(identity())
    table, reference = bench.table(compiled), weakref.ref(compiled)
    del compiled
    assert reference() is not None
    table.Reset(None)
    assert reference() is None


def test_descs_are_not_kept(bench):
    desc = identity()
    reference = weakref.ref(desc)
    op = bench.compile(desc)
    del desc
    assert reference() is None
    assert op is not None


def test_a_dead_object_is_not_found_again(bench):
    """A binding desc with the bare address of a released buffer."""
    table = bench.table(bench.compile(identity()))
    address = bench.buffer(16).handle
    table.BindInputs(
        [dml.DML_BINDING_DESC(dml.DML_BINDING_TYPE_BUFFER, dml.DML_BUFFER_BINDING(address, 0, 16))]
    )
    with pytest.raises(dml.DMLError) as caught:
        bench.dml.GetParentDevice()
    assert [found.rule for found in caught.value.diagnostics] == ["DML-Desc-interface"]


def test_objects_of_other_kinds_are_no_buffers(bench):
    for wrong in (bench.heap, bench.queue, bench.dml, bench.compile(identity()), bench.commands):
        other = Bench(d3d12=bench.d3d12)
        table = other.table(other.compile(identity()))
        table.BindInputs([binding_of(wrong)])
        with pytest.raises(dml.DMLError) as caught:
            other.dml.GetParentDevice()
        assert [found.rule for found in caught.value.diagnostics] == ["DML-Desc-interface"]
        assert "Buffer" in caught.value.diagnostics[0].path


def binding_of(thing):
    return dml.DML_BINDING_DESC(dml.DML_BINDING_TYPE_BUFFER, dml.DML_BUFFER_BINDING(thing, 0, 16))
