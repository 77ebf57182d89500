"""Operator initializers, persistent resources, and inputs that are OWNED_BY_DML."""

from __future__ import annotations

import numpy as np
import pytest

import directml_py as dml

from .helpers import (
    DEBUG,
    DEFAULT,
    OWNED,
    UPLOAD,
    Bench,
    binding,
    floats,
    identity,
    initialized_and_moved,
    join,
    log_sum_exp,
    span,
    spans,
    tensor,
)

SENTINEL = -7.5


@pytest.mark.parametrize("heap", [DEFAULT, UPLOAD])
def test_owned_inputs_are_copied(bench, heap):
    """Later changes to the input's buffer have no effect."""
    op = bench.compile(join(2, 4, owned=[1]))
    weights = bench.buffer(16, heap, floats(1, 2, 3, 4))
    persistent = bench.buffer(op.GetBindingProperties().PersistentResourceSize)
    bench.initialize(op, [None, weights], persistent)
    bench.fill(weights, floats(*[SENTINEL] * 4))
    del weights
    source, target = bench.holding(8, 9), bench.buffer(24)
    bench.record(op, bench.table(op, [source, None], [target], persistent=persistent))
    bench.execute()
    assert bench.read(target).tolist() == [8, 9, 1, 2, 3, 4]
    bench.fill(source, floats(6, 7))
    bench.record(op, bench.table(op, [source, None], [target], persistent=persistent))
    bench.execute()
    assert bench.read(target).tolist() == [6, 7, 1, 2, 3, 4]


def test_the_copy_is_made_when_the_initializer_runs(bench):
    """Neither at binding nor at recording."""
    op = bench.compile(join(4, owned=[0]))
    weights, persistent, target = bench.holding(1, 1, 1, 1), bench.buffer(256), bench.buffer(16)
    initializer = bench.dml.CreateOperatorInitializer([op])
    bench.record(initializer, bench.table(initializer, [spans(weights)], [persistent]))
    bench.fill(weights, floats(2, 2, 2, 2))
    bench.execute()
    bench.fill(weights, floats(3, 3, 3, 3))
    bench.record(op, bench.table(op, [None], [target], persistent=persistent))
    bench.execute()
    assert bench.read(target).tolist() == [2, 2, 2, 2]


@pytest.mark.kind_device
def test_execution_reads_the_persistent_resource(bench):
    """No copy is hidden in the compiled operator: another persistent resource gives other results."""
    op = bench.compile(join(4, owned=[0]))
    _, persistent = initialized_and_moved(bench, op, [bench.holding(1, 2, 3, 4)])
    target = bench.buffer(16)
    bench.record(op, bench.table(op, [None], [target], persistent=persistent))
    bench.execute()
    assert bench.read(target).tolist() == [1, 2, 3, 4]


def test_only_owned_inputs_need_be_bound(bench):
    op = bench.compile(join(4, 4, 4, owned=[0, 2]))
    persistent, target = bench.buffer(256), bench.buffer(48)
    bench.initialize(op, [bench.holding(*[1] * 4), None, bench.holding(*[3] * 4)], persistent)
    inputs = [None, bench.holding(*[2] * 4), None]
    bench.record(op, bench.table(op, inputs, [target], persistent=persistent))
    bench.execute()
    assert bench.read(target).tolist() == [1] * 4 + [2] * 4 + [3] * 4


def test_several_operators_in_one_initializer(bench):
    """One shared persistent buffer at offsets, inputs at offsets of DEFAULT and UPLOAD buffers."""
    ops = [
        bench.compile(join(4, 4, owned=[1])),
        bench.compile(identity(4, scale=2)),
        bench.compile(log_sum_exp(3, flags=OWNED)),
        bench.compile(join(5, 3, owned=[0, 1])),
    ]
    sizes = [op.GetBindingProperties().PersistentResourceSize for op in ops]
    upload = bench.holding(SENTINEL, 0, 0, 0, 1, 2, 3, 4, heap=UPLOAD)
    default = bench.holding(0, 0, 0, SENTINEL, 10, 20, 30, 40, 50, SENTINEL)
    persistent = bench.buffer(2048)
    bench.fill(persistent, np.full(2048, 0xA5, np.uint8))
    places = [
        binding(persistent, start, size) if size else None
        for start, size in zip((256, 1536, 1024, 512), sizes)
    ]
    initializer = bench.dml.CreateOperatorInitializer(ops)
    table = bench.table(
        initializer,
        [
            spans(None, span(upload, 16, 16)),
            None,
            spans(span(default, 0, 12)),
            spans(span(default, 16, 20), span(upload, 16, 12)),
        ],
        places,
    )
    bench.record(initializer, table)
    bench.execute()
    assert not bench.removed
    kept = bench.read(persistent, np.uint8)
    assert kept[256:272].view(np.float32).tolist() == [1, 2, 3, 4]
    ends = [256 + sizes[0], 512 + sizes[3], 1024 + sizes[2], 1536 + sizes[1]]
    for start, end in zip((0, *ends), (256, 512, 1024, 1536, 2048)):
        assert (kept[start:end] == 0xA5).all()

    bench.fill(upload, np.zeros(8, np.float32))
    bench.fill(default, np.zeros(10, np.float32))
    targets = [bench.buffer(32), bench.buffer(16), bench.buffer(4), bench.buffer(32)]
    source = bench.holding(5, 6, 7, 8)
    bound = [[source, None], [source], [None], [None, None]]
    for op, inputs, target, place in zip(ops, bound, targets, places):
        bench.record(op, bench.table(op, inputs, [target], persistent=place))
    bench.execute()
    assert bench.read(targets[0]).tolist() == [5, 6, 7, 8, 1, 2, 3, 4]
    assert bench.read(targets[1]).tolist() == [10, 12, 14, 16]
    assert bench.read(targets[2])[0] == pytest.approx(np.log(3))
    assert bench.read(targets[3]).tolist() == [10, 20, 30, 40, 50, 1, 2, 3]


def test_owned_inputs_keep_their_layout(bench):
    """A broadcast input: one row in memory, three in the tensor."""
    row = dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, [1, 1, 3, 2], [0, 0, 0, 1], flags=OWNED)
    out = dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, [1, 1, 3, 2])
    op = bench.compile(dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(row, out))
    assert op.inputs[0].tensor.total_size == 8
    target = bench.buffer(24)
    bench.initialize(op, [bench.holding(1, 2)])
    bench.record(op, bench.table(op, [None], [target]))
    bench.execute()
    assert bench.read(target).tolist() == [1, 2] * 3


@pytest.mark.kind_device
@pytest.mark.parametrize(
    "bind",
    [
        lambda table: None,
        lambda table: table.BindInputs(0, None),
        lambda table: (table.BindInputs([binding(None)]), table.BindOutputs([binding(None)])),
        lambda table: table.BindInputs([spans(None)]),
        lambda table: table.BindInputs([]),
        lambda table: table.BindOutputs(0, [binding(None)]),
        lambda table: table.BindTemporaryResource(None),
    ],
)
def test_an_initializer_that_needs_nothing(debug_bench, bind):
    """No binding, NONE and empty ranges are equivalent."""
    op = debug_bench.compile(identity())
    initializer = debug_bench.dml.CreateOperatorInitializer([op])
    table = debug_bench.table(initializer)
    bind(table)
    debug_bench.record(initializer, table)
    debug_bench.execute()
    assert not debug_bench.removed


def test_an_initializer_without_operators(debug_bench):
    initializer = debug_bench.dml.CreateOperatorInitializer(0, None)
    table = debug_bench.table(initializer)
    table.BindInputs(0, None)
    debug_bench.record(initializer, table)
    debug_bench.execute()
    assert not debug_bench.removed


class TestReset:
    def test_the_other_operators_are_initialized(self, bench):
        first, second = bench.compile(join(4, owned=[0])), bench.compile(join(2, owned=[0]))
        initializer = bench.dml.CreateOperatorInitializer([first])
        persistent, target = bench.buffer(256), bench.buffer(8)
        initializer.Reset([second])
        bench.record(initializer, bench.table(initializer, [spans(bench.holding(1, 2))], [persistent]))
        bench.execute()
        bench.record(second, bench.table(second, [None], [target], persistent=persistent))
        bench.execute()
        assert bench.read(target).tolist() == [1, 2]

    def test_what_was_recorded_stays(self, bench):
        op, persistent = bench.compile(join(4, owned=[0])), bench.buffer(256)
        initializer = bench.dml.CreateOperatorInitializer([op])
        bench.record(initializer, bench.table(initializer, [spans(bench.holding(1, 2, 3, 4))], [persistent]))
        initializer.Reset()
        bench.execute()
        assert bench.read(persistent)[:4].tolist() == [1, 2, 3, 4]

    def test_bindings_for_other_needs_are_forgotten(self, bench):
        """16 bytes were bound for the first operator; the second needs 32."""
        small, large = bench.compile(join(4, owned=[0])), bench.compile(join(8, owned=[0]))
        initializer = bench.dml.CreateOperatorInitializer([small])
        table = bench.table(initializer, [spans(bench.buffer(16))], [bench.persistent(small)])
        initializer.Reset([large])
        bench.record(initializer, table)
        with pytest.raises(dml.DMLError, match="not bound"):
            bench.dml.GetParentDevice()
        bench.execute()
        assert bench.d3d12.GetDeviceRemovedReason() == dml.S_OK

    def test_the_table_can_be_bound_anew(self, debug_bench):
        bench = debug_bench
        small, large = bench.compile(join(4, owned=[0])), bench.compile(join(8, owned=[0]))
        initializer = bench.dml.CreateOperatorInitializer([small])
        table = bench.table(initializer, [spans(bench.buffer(16))], [bench.persistent(small)])
        initializer.Reset([large])
        table.BindInputs([spans(bench.holding(*range(8)))])
        table.BindOutputs([binding(bench.persistent(large))])
        bench.bind_resources(table)
        bench.record(initializer, table)
        bench.execute()
        assert bench.read(bench.persistent(large))[:8].tolist() == list(range(8))

    @pytest.mark.kind_device
    def test_a_table_that_is_too_small_now(self, bench):
        op = bench.compile(join(4, owned=[0]))
        initializer = bench.dml.CreateOperatorInitializer([op])
        table = bench.table(initializer)
        initializer.Reset([op, op])
        bench.record(initializer, table)
        with pytest.raises(dml.DMLError, match="DML-BindingTable-size"):
            bench.dml.GetParentDevice()


@pytest.mark.parametrize("alignment", [256, 1 << 16, 1 << 31])
def test_memory_does_not_grow_with_the_alignment_of_bindings(bench, alignment):
    """GuaranteedBaseOffsetAlignment is about the offsets that the program binds; inside of its own memory DirectML
    chooses them. The inputs' bindings begin at 0, a multiple of every alignment."""
    inputs = [tensor(size, flags=OWNED, alignment=alignment) for size in (3, 2)]
    op = bench.compile(dml.DML_JOIN_OPERATOR_DESC(InputTensors=inputs, OutputTensor=tensor(5), Axis=3))
    sizes = op.GetBindingProperties()
    assert 20 <= sizes.PersistentResourceSize <= 64
    assert sizes.TemporaryResourceSize <= 64
    persistent, target = bench.buffer(sizes.PersistentResourceSize), bench.buffer(20)
    bench.initialize(op, [bench.holding(1, 2, 3), bench.holding(4, 5)], persistent)
    bench.record(op, bench.table(op, [None, None], [target], persistent=persistent))
    bench.execute()
    assert bench.read(target).tolist() == [1, 2, 3, 4, 5]


def test_totals_larger_than_the_elements(bench):
    """The owned input's whole range is copied, padding included."""
    desc = dml.DML_JOIN_OPERATOR_DESC(
        InputTensors=[tensor(2, flags=OWNED, total_size=32)], OutputTensor=tensor(2), Axis=3
    )
    op, target = bench.compile(desc), bench.buffer(8)
    bench.initialize(op, [bench.holding(1, 2, 3, 4, 5, 6, 7, 8)])
    bench.record(op, bench.table(op, [None], [target]))
    bench.execute()
    assert bench.read(target).tolist() == [1, 2]


@pytest.mark.parametrize("kind", ["input", "output"])
@pytest.mark.kind_device
def test_why_nothing_may_be_bound(kind):
    bench = Bench(DEBUG)
    ops = [bench.compile(join(4, 4, owned=[0])), bench.compile(identity())]
    table, buffer = bench.table(bench.dml.CreateOperatorInitializer(ops)), bench.buffer(64)
    bind, said = {
        "input": (
            lambda: table.BindInputs([spans(buffer, buffer), binding(None)]),
            "InputTensors[1] is not OWNED_BY_DML",
        ),
        "output": (
            lambda: table.BindOutputs([binding(buffer), binding(buffer)]),
            "operators[1] has a PersistentResourceSize of 0",
        ),
    }[kind]
    with pytest.raises(dml.DMLError) as caught:
        bind()
    assert said in caught.value.diagnostics[0].message


@pytest.mark.parametrize("apart", [True, False])
def test_temporary_and_persistent_memory_of_one_buffer(apart):
    """They may share a buffer, but must not overlap on a strict device."""
    bench = Bench(profile="demanding")
    op = bench.compile(identity())
    initializer = bench.dml.CreateOperatorInitializer([op])
    buffer, sizes = (
        bench.buffer(1024),
        (initializer.GetBindingProperties().TemporaryResourceSize, op.persistent_size),
    )
    table = bench.table(initializer)
    table.BindTemporaryResource(binding(buffer, 0, sizes[0]))
    table.BindOutputs([binding(buffer, 256 if apart else 0, sizes[1])])
    bench.record(initializer, table)
    assert bench.removed is not apart
    if not apart:
        with pytest.raises(dml.DMLError) as caught:
            bench.dml.GetParentDevice()
        assert [found.rule for found in caught.value.diagnostics] == ["DML-Binding-resource-overlap"]
