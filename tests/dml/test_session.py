"""``Session``: the object model in few calls, without debug-layer messages."""

from __future__ import annotations

import weakref

import numpy as np
import pytest

import directml_py as dml
from directml_py.session import DESCRIPTORS, Session

from ..rules.layer import debug_layer, messages
from .helpers import DEBUG, FLOAT32, OWNED, floats, identity, join, log_sum_exp, split


@pytest.fixture
def session():
    """Under both debug layers, which must not report anything."""
    with debug_layer():
        session = Session(dml.DMLCreateDevice(dml.D3D12CreateDevice(), DEBUG))
    yield session
    assert messages(session) == []


def rows(*values):
    return floats(*values).reshape(1, 1, 1, -1)


def test_evaluate_with_all_resources(session):
    """An owned input and temporary memory."""
    op = session.compile(log_sum_exp(3, flags=dml.DML_TENSOR_FLAG_OWNED_BY_DML))
    assert op.persistent_size
    assert op.temporary_size
    (result,) = session.evaluate(op, [rows(1, 2, 3)])
    assert result.item() == pytest.approx(np.log(np.exp([1, 2, 3]).sum()))
    assert (result.shape, result.flags.writeable) == ((1, 1, 1, 1), True)


def test_evaluate_raises_what_removed_the_device():
    session = Session()
    op = session.compile(identity())
    with pytest.raises(dml.DMLError, match="DML-RecordDispatch-unbound") as caught:
        session.evaluate(op, [])
    assert caught.value.hresult == dml.DXGI_ERROR_DEVICE_REMOVED


def test_staged_weights(session):
    """What an initializer reads may lie in one upload buffer, each tensor at an aligned offset."""
    op = session.compile(join(3, 2, owned=[0, 1]))
    tensors = [slot.tensor for slot in op.inputs]
    weights = session.stage([rows(1, 2, 3), rows(4, 5)], tensors)
    assert [(view.Offset, view.SizeInBytes) for view in weights] == [(0, 12), (256, 8)]
    assert weights[0].Buffer is weights[1].Buffer
    persistent, target = session.initialize(op, weights), session.buffer(20)
    session.dispatch(op, [None, None], [target], persistent)
    session.execute()
    assert session.read(target, np.float32).tolist() == [1, 2, 3, 4, 5]
    assert session.stage([None, rows(1)], [tensors[0], None]) == [None, None]


def test_staged_weights_with_a_large_alignment(session):
    """Two of them in one buffer would be 2 GiB apart."""
    tensors = [
        dml.TensorDesc(FLOAT32, (1, 1, 1, 2), None, OWNED, alignment=size) for size in (1 << 31, 0, 1 << 31)
    ]
    views = session.stage([rows(1, 2), rows(3, 4), rows(5, 6)], tensors)
    assert [(view.Offset, view.SizeInBytes, view.Buffer.GetDesc().Width) for view in views] == [(0, 8, 8)] * 3
    assert [view.Buffer.array(np.float32).tolist() for view in views] == [[1, 2], [3, 4], [5, 6]]


def test_several_dispatches_in_one_list(session):
    """Nothing runs before execute; the list is open again after it."""
    joining, splitting = session.compile(join(1, 3)), session.compile(split(2, 2))
    kept = [session.initialize(op) for op in (joining, splitting)]
    whole, parts = session.upload(floats(0, 0, 0, 0)), [session.buffer(8), session.buffer(8)]
    for first in (1, 5):
        inputs = [session.upload(floats(first)), session.upload(floats(2, 3, 4))]
        before = session.read(whole, np.float32).tolist()
        session.dispatch(joining, inputs, [whole], kept[0])
        session.barrier(whole)
        session.dispatch(splitting, [whole], parts, kept[1])
        assert session.read(whole, np.float32).tolist() == before
        session.execute()
        assert [session.read(part, np.float32).tolist() for part in parts] == [[first, 2], [3, 4]]


def test_what_was_recorded_lives_until_it_has_run(session):
    target = session.buffer(16)
    op = session.compile(join(2, 2, owned=[1]))
    persistent = session.initialize(op, [None, session.upload(floats(3, 4))])
    session.dispatch(op, [session.upload(floats(1, 2)), None], [target], persistent)
    del op, persistent
    session.execute()
    assert session.read(target, np.float32).tolist() == [1, 2, 3, 4]


def test_a_heap_can_be_used_up(session):
    """A table that fits takes the heap's last descriptors; one that does not gets a new heap."""
    heap, op = session.heap, session.compile(identity())
    left = heap.size - session.taken - op.GetBindingProperties().RequiredDescriptorCount
    session.table_desc(op, left)
    assert (session.heap, session.taken) == (heap, heap.size)
    session.table_desc(op)
    assert session.heap is not heap


def test_more_descriptors_than_a_heap_holds(session):
    count = DESCRIPTORS + 1
    op, target = session.compile(join(*[1] * count)), session.buffer(4 * count)
    inputs = [session.upload(floats(number)) for number in range(count)]
    persistent = session.initialize(op)
    for order in (1, -1):
        session.dispatch(op, inputs[::order], [target], persistent)
        session.barrier()
    session.execute()
    assert session.read(target, np.float32).tolist() == list(range(count))[::-1]


def test_bytes_of_any_number(session):
    """Buffer sizes are rounded up to 4 bytes."""
    buffer = session.upload(np.array([1, 2, 3, 4, 5], np.uint8))
    assert session.read(buffer).tolist() == [1, 2, 3, 4, 5, 0, 0, 0]


@pytest.mark.parametrize("strides", [None, [1, 2], [8, 3], [0, 1]])
@pytest.mark.parametrize("kind", ["FLOAT32", "INT8", "INT4", "UINT4"])
def test_tensors_are_laid_out(session, kind, strides):
    tensor = dml.TensorDesc(
        dml.DML_TENSOR_DATA_TYPE[f"DML_TENSOR_DATA_TYPE_{kind}"], (2, 3), strides and tuple(strides)
    )
    array = np.array([[1, 2, 7], [1, 2, 7]], tensor.dtype) - tensor.dtype.type(
        8 if kind.startswith("INT") else 0
    )
    buffer = session.upload(array, tensor)
    assert buffer.width == tensor.total_size
    np.testing.assert_array_equal(session.load(buffer, tensor), array, strict=True)


def logs():
    return log_sum_exp(3, flags=dml.DML_TENSOR_FLAG_OWNED_BY_DML)


def test_what_initialized_lets_go_of_its_buffers(session):
    """Repeatedly: its descriptors are cleared and reused, and no buffer is kept alive."""
    owned, taken = session.upload(floats(1, 2, 3)), session.taken
    lives = [
        weakref.ref(session.initialize(session.compile(logs()), [owned]).buffer) for _ in range(DESCRIPTORS)
    ]
    assert session.taken == taken
    assert [session.heap.read(index) for index in range(taken, taken + 8)] == [None] * 8
    assert not any(life() for life in lives)


def test_descriptors_that_a_recorded_dispatch_has_stay_its_own(session):
    """While a list is pending, an initializer takes other descriptors."""
    first, second = session.compile(logs()), session.compile(logs())
    output = session.buffer(4)
    session.dispatch(first, [None], [output], session.initialize(first, [session.upload(floats(1, 2, 3))]))
    session.initialize(second, [session.upload(floats(4, 5, 6))])
    session.execute()
    expected = np.log(np.exp([1, 2, 3]).sum())
    assert session.read(output, np.float32).item() == pytest.approx(expected)
