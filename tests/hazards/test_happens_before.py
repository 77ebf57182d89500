"""Vector clocks, event by event, without a device that orders events itself."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

import directml_py as dml
from directml_py.runtime.buffer import BufferRange
from directml_py.runtime.recording import Access, AccessKind
from directml_py.session import Session
from directml_py.sync_validation.happens_before import HappensBefore


class Thing:
    """A stand-in for a queue or a fence, compared by identity."""

    owner = SimpleNamespace(name="")


WRITER, IDLE, READER, FENCE = (Thing() for _ in range(4))


@pytest.fixture
def shared():
    return BufferRange(Session().buffer(16).buffer, 0, 16)


def runs(happens_before, queue, shared, use=None):
    """An execution of ``queue`` that accesses the bytes by ``use``. Returns the number of hazards."""
    happens_before.begin(queue, {})
    if use is None:
        return 0
    access = Access(shared, use, dml.D3D12_RESOURCE_STATE_COMMON, "shared")
    return len(list(happens_before.use(queue, "A command", [access], "")))


def signals(happens_before, shared, queue):
    assert runs(happens_before, queue, shared, AccessKind.WRITE if queue is WRITER else None) == 0


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
def test_a_wait_joins_what_all_possible_signals_have_in_common(shared, order, missing):
    """It is unknown which of several signals of a value came first."""
    happens_before = HappensBefore()
    for queue, value in order:
        signals(happens_before, shared, queue)
        happens_before.signaled(FENCE, value, queue)
    if (WRITER, 1) not in order and (WRITER, 2) not in order:
        signals(happens_before, shared, WRITER)
    happens_before.waited(FENCE, 1, READER)
    assert runs(happens_before, READER, shared, AccessKind.READ) == missing
