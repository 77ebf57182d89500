"""Undefined memory holds a pattern; memory that the CPU can write counts as defined."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest

import directml_py as dml
from directml_py.descs.operator_desc import TensorSlot
from directml_py.dml import IDMLCompiledOperator
from directml_py.sync_validation.shadow_memory import PATTERN, SHADOWS

from ..dml.graphs import graph
from ..dml.helpers import DEFAULT, READBACK, UPLOAD, Bench, identity, join, log_sum_exp, tensor
from .hazard import HazardBench

NOT_ZEROED = dml.D3D12_HEAP_FLAG_CREATE_NOT_ZEROED


@pytest.fixture
def bench():
    made = HazardBench()
    yield made
    assert made.messages() == []


@pytest.mark.parametrize("placed", [False, True])
def test_the_pattern_is_visible(placed):
    bench = HazardBench()
    fresh = bench.undefined(16, placed=placed)
    assert bench.read(fresh, np.uint8).tolist() == [PATTERN] * 16
    assert {message.rule for message in bench.messages()} == {"D3D12-Contents-undefined"}


def test_without_the_debug_layer_memory_is_zero():
    bench = Bench()
    buffer = bench.d3d12.CreateCommittedResource(
        dml.CD3DX12_HEAP_PROPERTIES(DEFAULT), NOT_ZEROED, dml.CD3DX12_RESOURCE_DESC.Buffer(16), 0
    )
    assert bench.read(buffer).tolist() == [0] * 4
    assert SHADOWS.get(buffer.placement.allocation) is None


def test_a_map_that_ends_with_its_resource(bench):
    bench.minds_zeros()
    made = bench.buffer(16, READBACK)
    made.Map()
    bench.kept.clear()
    del made
    (told,) = bench.messages()
    assert (told.rule, told.origin.startswith("mapped at " + __file__)) == ("D3D12-Contents-unwritten", True)
    bench.info.ClearStoredMessages()


@pytest.mark.parametrize("heap", [UPLOAD, READBACK])
def test_what_the_cpu_reaches_is_defined(bench, heap):
    """CPU writes cannot be tracked."""
    state = dml.D3D12_RESOURCE_STATE_GENERIC_READ if heap == UPLOAD else dml.D3D12_RESOURCE_STATE_COPY_DEST
    made = bench.d3d12.CreateCommittedResource(
        dml.CD3DX12_HEAP_PROPERTIES(heap), NOT_ZEROED, dml.CD3DX12_RESOURCE_DESC.Buffer(16), state
    )
    assert made.array().tolist() == [PATTERN] * 16
    if heap == UPLOAD:
        made.array("float32")[:] = 3
        x, op = bench.undefined(16), bench.ready(identity())
        bench.run(lambda commands: commands.CopyResource(x, made))
        bench.dispatch(op, [x], [target := bench.buffer(16)])
        bench.execute()
        assert bench.read(target).tolist() == [3] * 4


def test_padding_and_the_temporary_resource_hold_the_pattern(bench):
    spread = tensor(4, strides=[8, 8, 8, 2], total_size=32)
    op = bench.ready(dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(tensor(4), spread))
    x, target = bench.holding(1, 2, 3, 4), bench.holding(*range(10))
    bench.dispatch(op, [x], [target])
    reduce, scratch = bench.ready(log_sum_exp()), bench.buffer(256)
    bench.dispatch(reduce, [x], [bench.buffer(4)], temporary=scratch)
    bench.execute()
    padding = np.full(1, PATTERN, np.uint8).repeat(4).view(np.float32)[0]
    assert bench.read(target).tolist() == [1, padding, 2, padding, 3, padding, 4, padding, 8, 9]
    size = reduce.GetBindingProperties().TemporaryResourceSize
    found = bench.read(scratch, np.uint8)
    assert (found[:size] == PATTERN).all()
    assert not found[size:].any()


def test_gaps_that_nobody_reads(bench):
    """An input with the strides of the output that was written: no element of it is undefined."""
    spread = tensor(2, 2, strides=[16, 16, 8, 2], total_size=48)
    into = bench.ready(dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(tensor(2, 2), spread))
    out_of = bench.ready(dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(spread, tensor(2, 2)))
    middle, target = bench.undefined(48), bench.buffer(16)
    bench.dispatch(into, [bench.holding(1, 2, 3, 4)], [middle])
    bench.barrier()
    bench.dispatch(out_of, [middle], [target])
    bench.execute()
    assert bench.read(target).tolist() == [1, 2, 3, 4]


@pytest.mark.parametrize("kind", ["UINT8", "FLOAT16", "FLOAT64", "INT64"])
def test_elements_of_other_sizes(kind):
    """The first element with an undefined byte is reported, for every element size."""
    bench = HazardBench()
    data_type, dtype = getattr(dml, f"DML_TENSOR_DATA_TYPE_{kind}"), np.dtype(kind.lower())
    desc = dml.tensor_desc(data_type, [1, 1, 4, 8])
    op = bench.ready(dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(desc, desc))
    fresh, size = bench.undefined(32 * dtype.itemsize), 13 * dtype.itemsize
    bench.fill(fresh, b"\x00" * (size - 1 if dtype.itemsize > 1 else size))
    bench.dispatch(op, [fresh], [bench.buffer(32 * dtype.itemsize)])
    bench.execute()
    (message,) = bench.messages()
    place = "{0,0,1,4}" if dtype.itemsize > 1 else "{0,0,1,5}"
    assert f"element {place} was never written" in message.message


def test_a_broadcast_input(bench):
    one = tensor(4, strides=[0, 0, 0, 0], total_size=4)
    op = bench.ready(dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(one, tensor(4)))
    x = bench.undefined(32)
    bench.fill(x, np.full(1, 7, np.float32))
    bench.dispatch(op, [x], [target := bench.buffer(16)])
    bench.execute()
    assert bench.read(target).tolist() == [7] * 4


def test_a_whole_output_defines_memory(bench):
    op, both = bench.ready(identity()), bench.ready(join(4, 4))
    fresh, target = bench.undefined(16), bench.undefined(32)
    bench.dispatch(op, [bench.holding(1, 2, 3, 4)], [fresh])
    bench.barrier()
    bench.dispatch(both, [fresh, fresh], [target])
    bench.execute()
    assert bench.read(target).tolist() == [1, 2, 3, 4] * 2


@pytest.mark.parametrize("count_leaves", [False, True])
def test_coordinates_of_a_graph(count_leaves):
    """If the count is internal to the graph, or computed by another node, the number of coordinates is unknown."""
    bench = HazardBench()
    one, column = (dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_UINT32, [1, 1, rows, 1]) for rows in (1, 4))
    search = bench.dml.CreateOperator(dml.DML_NONZERO_COORDINATES_OPERATOR_DESC(tensor(4), one, column))
    number = bench.dml.CreateOperator(dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(one, one, None))
    outputs = [(1, 0, 0), (0, 1, 1), (0, 1, 2), *([(0, 0, 3)] if count_leaves else [])]
    op = bench.keep(bench.dml.CompileGraph(graph([search, number], [(0, 0, 0)], outputs, [(0, 0, 1, 0)])))
    bench.initialize(op)
    copy = bench.ready(dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(column, column, None))
    made = [bench.buffer(16) for _ in outputs]
    bench.dispatch(op, [bench.buffer(16, data=np.array([0, 0, 0, 7], np.float32))], made)
    for places in made[1:3]:
        bench.barrier()
        bench.dispatch(copy, [places], [bench.buffer(16)])
    bench.execute()
    found = ["{0,0,1,0} was never written" in message.message for message in bench.messages()]
    assert found == ([True, True] if count_leaves else [])


class Copy:
    """A program that copies one tensor of 4-bit elements."""

    title, in_place, temporary_size, unused, operators = "a copy", frozenset(), 0, frozenset(), ()

    def __init__(self, tensor):
        self.inputs = self.outputs = (TensorSlot("Tensor", "Tensor", tensor),)
        self.tensor = tensor
        self.results = {}

    def bind(self, inputs, outputs, temporary, notify=None):
        return lambda: self.tensor.store(outputs[0], self.tensor.load(inputs[0]))


@pytest.mark.parametrize(
    ("size", "undefined"), [(4, None), (3, "{1,2}"), (2, "{1,0}"), (1, "{0,2}"), (0, "{0,0}")]
)
def test_elements_of_half_a_byte(size, undefined):
    """Two rows of three in four bytes: the fourth element of each row is padding."""
    bench = HazardBench()
    nibbles = dml.TensorDesc(dml.DML_TENSOR_DATA_TYPE_INT4, (2, 3), (4, 1))
    op = bench.keep(IDMLCompiledOperator(bench.dml, dml.DML_EXECUTION_FLAG_NONE, Copy(nibbles)))
    bench.initialize(op)
    fresh, middle, target = bench.undefined(4), bench.undefined(4), bench.buffer(4)
    if size:
        bench.fill(fresh, np.full(size, 0x21, np.uint8))
    bench.dispatch(op, [fresh], [middle])
    bench.barrier()
    bench.dispatch(op, [middle], [target])
    bench.execute()
    texts = [message.message for message in bench.messages()]
    if undefined is None:
        assert texts == []
        assert nibbles.load(bench.read(target, np.uint8)).tolist() == [[1, 2, 1]] * 2
    else:
        (text,) = texts
        assert f"element {undefined} was never written" in text


def test_shadow_memory_keeps_no_memory_alive():
    """Memory that commands used is freed with its resource."""
    bench = HazardBench()
    buffers = [Bench.buffer(bench, 16) for _ in range(2)]
    allocation = weakref.ref(buffers[0].placement.allocation)
    bench.run(lambda commands: commands.CopyResource(*buffers))
    buffers.clear()
    gc.collect()
    assert allocation() is None
