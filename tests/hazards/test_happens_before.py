"""What queues know of each other, event by event: vector clocks, without devices that order events themselves."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import directml_py as dml
from directml_py.d3d12.resource import BufferRange
from directml_py.d3d12.sync_validation.access import Access, AccessKind
from directml_py.d3d12.sync_validation.happens_before import HappensBefore
from directml_py.session import Session


class Thing:
    """A queue or a fence: something that is not another one."""

    owner = SimpleNamespace(name="")


WRITER, IDLE, READER, FENCE = (Thing() for _ in range(4))


@pytest.fixture(scope="module")
def shared():
    return BufferRange(Session().buffer(16).buffer, 0, 16)


def runs(knowledge, queue, shared, use=None):
    """An execution of ``queue``, which does ``use`` with the bytes; how many others it should have waited for."""
    knowledge.begin(queue, {})
    if use is None:
        return 0
    access = Access(shared, use, dml.D3D12_RESOURCE_STATE_COMMON, "shared")
    return len(list(knowledge.use(queue, "A command", [access], "")))


def signals(knowledge, shared, queue):
    assert runs(knowledge, queue, shared, AccessKind.WRITE if queue is WRITER else None) == 0


@pytest.mark.parametrize(
    ("order", "missing"),
    [
        pytest.param([(WRITER, 1)], 0, id="the writer"),
        pytest.param([(IDLE, 1)], 1, id="another one"),
        pytest.param([(WRITER, 1), (IDLE, 1)], 1, id="the writer first"),
        pytest.param([(IDLE, 1), (WRITER, 1)], 1, id="the writer last"),
        pytest.param([(IDLE, 1), (WRITER, 2)], 1, id="a higher value of the writer"),
    ],
)
def test_a_wait_knows_what_all_signals_tell_that_can_have_ended_it(shared, order, missing):
    """Of several signals up to a value nobody knows which was first."""
    knowledge = HappensBefore()
    for queue, value in order:
        signals(knowledge, shared, queue)
        knowledge.signaled(FENCE, value, queue)
    if (WRITER, 1) not in order and (WRITER, 2) not in order:
        signals(knowledge, shared, WRITER)
    knowledge.waited(FENCE, 1, READER)
    assert runs(knowledge, READER, shared, AccessKind.READ) == missing
