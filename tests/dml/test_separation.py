"""Dispatches whose bindings share memory: they run, as on Windows, with the results of separate memory."""

from __future__ import annotations

import random

import numpy as np
import pytest
from sweeps import swept

import directml_py as dml
from directml_py.descs.encode import encode
from directml_py.testing.decision_source import RandomSource
from directml_py.testing.valid_descs import operators_at, valid_desc

from .helpers import OWNED, VOLATILE, Bench, binding, identity, join, log_sum_exp, span, spans, split, tensor

# A strict device is removed for what these do.
pytestmark = pytest.mark.kind_device

LEVEL = dml.DML_FEATURE_LEVEL_6_4
OPERATORS = [name for name in operators_at(LEVEL) if name not in ("RANDOM_GENERATOR", "DIAGONAL_MATRIX1")]
UNIT = 16


def run(bench, op, inputs, outputs, **resources):
    bench.record(op, bench.table(op, inputs, outputs, **resources))
    bench.execute()
    assert not bench.removed


@pytest.mark.parametrize("flags", [0, VOLATILE])
def test_an_output_that_overlaps_its_input_by_half(bench, flags):
    op, buffer = bench.compile(identity(8, scale=2), flags), bench.holding(*range(16))
    bench.initialize(op)
    run(bench, op, [binding(buffer, 0, 32)], [binding(buffer, 16, 32)])
    assert bench.read(buffer).tolist() == [0, 1, 2, 3, *range(0, 16, 2), 12, 13, 14, 15]


def test_a_join_of_its_own_output(bench):
    """The halves change places."""
    op, buffer = bench.compile(join(4, 4)), bench.holding(*range(8))
    bench.initialize(op)
    run(bench, op, [binding(buffer, 16, 16), binding(buffer, 0, 16)], [binding(buffer, 0, 32)])
    assert bench.read(buffer).tolist() == [4, 5, 6, 7, 0, 1, 2, 3]


def test_the_last_of_equal_outputs_remains(bench):
    op, both = bench.compile(split(4, 4)), bench.buffer(16)
    bench.initialize(op)
    run(bench, op, [bench.holding(*range(8))], [both, both])
    assert bench.read(both).tolist() == [4, 5, 6, 7]


def test_elements_between_those_of_another_output(bench):
    """Every second row of four elements belongs to the other output; nothing else is stored."""
    one = tensor(2, 4, strides=[16, 16, 8, 1])
    op = bench.compile(dml.DML_SPLIT_OPERATOR_DESC(tensor(2, 8), OutputTensors=[one, one], Axis=3))
    bench.initialize(op)
    buffer = bench.buffer(64)
    run(bench, op, [bench.holding(*range(1, 17))], [binding(buffer, 0, 48), binding(buffer, 16, 48)])
    assert bench.read(buffer).tolist() == list(range(1, 17))


def test_temporary_memory_in_an_output(bench):
    op, buffer = bench.compile(log_sum_exp()), bench.buffer(256)
    bench.initialize(op)
    source, apart = bench.holding(1, 2, 3, 4), bench.buffer(16)
    run(bench, op, [source], [apart])
    run(bench, op, [source], [binding(buffer, 0, 16)], temporary=buffer)
    assert bench.read(buffer)[:4].tolist() == bench.read(apart).tolist()
    run(bench, op, [binding(buffer, 0, 16)], [apart], temporary=buffer)


def test_a_persistent_resource_that_the_output_overwrites(bench):
    """This dispatch still reads what was initialized."""
    op, buffer = bench.compile(join(4, 4, owned=[1])), bench.buffer(1024)
    persistent = binding(buffer, 256, 256)
    bench.initialize(op, [None, bench.holding(5, 6, 7, 8)], persistent)
    run(bench, op, [bench.holding(1, 2, 3, 4), None], [binding(buffer, 256, 32)], persistent=persistent)
    assert bench.read(buffer)[64:72].tolist() == [1, 2, 3, 4, 5, 6, 7, 8]


def test_an_initializer_that_overwrites_what_it_reads(bench):
    """Each of two operators is initialized with what lies where the other's persistent resource comes to lie."""
    ops = [bench.compile(join(4, owned=[0])) for _ in range(2)]
    buffer = bench.holding(1, 2, 3, 4, *[0] * 60, 5, 6, 7, 8, *[0] * 60)
    initializer = bench.dml.CreateOperatorInitializer(ops)
    inputs = [spans(span(buffer, start, 16)) for start in (256, 0)]
    places = [binding(buffer, start, 256) for start in (0, 256)]
    run(bench, initializer, inputs, places)
    for op, place, expected in zip(ops, places, ([5, 6, 7, 8], [1, 2, 3, 4])):
        target = bench.buffer(16)
        run(bench, op, [None], [target], persistent=place)
        assert bench.read(target).tolist() == expected


def test_an_error_that_does_not_remove_the_device(layer_bench):
    """It is raised at the call if the info queue breaks on errors, and the dispatch is recorded all the same."""
    bench = layer_bench
    info = bench.d3d12.QueryInterface(dml.ID3D12InfoQueue)
    op, buffer = bench.compile(join(4, 4)), bench.holding(*range(8))
    bench.initialize(op)
    bound = [[binding(buffer, 16, 16), binding(buffer, 0, 16)], [buffer]]
    for breaks in (True, False):
        info.ClearStoredMessages()
        info.SetBreakOnSeverity(dml.D3D12_MESSAGE_SEVERITY_ERROR, breaks)
        table = bench.table(op, *bound)
        if breaks:
            with pytest.raises(dml.DMLError, match="breaks at a call that took effect") as caught:
                bench.record(op, table)
            assert {found.rule for found in caught.value.diagnostics} == {"DML-Binding-in-place"}
        else:
            bench.record(op, table)
        assert info.GetMessage(0).Severity == dml.D3D12_MESSAGE_SEVERITY_ERROR
        assert not bench.removed
        bench.execute()
    # Twice, so that the halves are back.
    assert bench.read(buffer).tolist() == list(range(8))


@pytest.mark.parametrize("profile", ["strict", "demanding"])
@pytest.mark.parametrize("start", [0, 16])
def test_strict_devices_refuse(profile, start):
    bench = Bench(profile=profile)
    op, buffer = bench.compile(join(4)), bench.buffer(64)
    bench.initialize(op)
    bench.record(op, bench.table(op, [binding(buffer, 0, 32)], [binding(buffer, start, 32)]))
    assert bench.removed
    with pytest.raises(dml.DMLError) as caught:
        bench.dml.GetParentDevice()
    expected = "DML-Binding-in-place" if start == 0 else "DML-Binding-ranges-overlap"
    assert [found.rule for found in caught.value.diagnostics] == [expected]


class Sharing:
    """An operator that is dispatched over buffers of its own, and with its bindings anywhere in one buffer."""

    def __init__(self, seed, name):
        self.pick, self.bench = random.Random(seed), Bench(feature_level=LEVEL)
        self.desc = valid_desc(RandomSource(seed), name, LEVEL, 200)
        self.op = self.bench.compile(encode(self.desc))
        self.inputs, self.outputs = (
            [None if slot.tensor is None or int(slot.tensor.flags) & OWNED else slot.tensor for slot in slots]
            for slots in (self.desc.inputs, self.desc.outputs)
        )
        self.bench.initialize(self.op, self.owned())
        most = max(self.size(one) for one in (*self.inputs, *self.outputs) if one is not None)
        self.width = 3 * most + 256
        self.content = np.frombuffer(self.pick.randbytes(self.width), np.uint8) & 0x3F

    @staticmethod
    def size(tensor):
        return -(-tensor.total_size // 4) * 4

    def owned(self):
        return [
            self.bench.buffer(self.size(slot.tensor))
            if slot.tensor is not None and int(slot.tensor.flags) & OWNED
            else None
            for slot in self.desc.inputs
        ]

    def places(self, tensors):
        """A range for each, at a multiple of what it is aligned to."""
        found = []
        for one in tensors:
            if one is None:
                found.append(None)
                continue
            step = max(UNIT, one.alignment)
            found.append(self.pick.randrange((self.width - self.size(one)) // step + 1) * step)
        return found

    def check(self):
        bench, buffer = self.bench, self.bench.buffer(self.width, data=self.content)
        places = [self.places(tensors) for tensors in (self.inputs, self.outputs)]
        apart = [
            [
                None
                if one is None
                else bench.buffer(self.size(one), data=self.content[place:][: self.size(one)])
                for one, place in zip(tensors, starts)
            ]
            for tensors, starts in zip((self.inputs, self.outputs), places)
        ]
        run(bench, self.op, *apart)
        expected = self.content.copy()
        for one, place, result in zip(self.outputs, places[1], apart[1]):
            if one is not None:
                one.store(expected[place:], one.view(bench.read(result, np.uint8)))
        shared = [
            [
                None if one is None else binding(buffer, place, self.size(one))
                for one, place in zip(tensors, starts)
            ]
            for tensors, starts in zip((self.inputs, self.outputs), places)
        ]
        run(bench, self.op, *shared)
        np.testing.assert_array_equal(
            bench.read(buffer, np.uint8), expected, err_msg=repr((self.desc, places))
        )


@pytest.mark.slow
@swept("name", OPERATORS)
def test_every_operator_has_the_results_of_separate_memory(name):
    for seed in range(2):
        sharing = Sharing(seed, name)
        for _ in range(2):
            sharing.check()
