"""Fixed states, and valid sequences of states."""

from __future__ import annotations

import pytest

import directml_py as dml
from directml_py.samples import hello_directml
from directml_py.sync_validation.resource_states import state_name

from ..dml.helpers import identity
from ..rules.layer import debug_layer
from .hazard import (
    COMMON,
    COPY_DEST,
    COPY_SOURCE,
    READBACK,
    UNORDERED_ACCESS,
    UPLOAD,
    HazardBench,
    Transition,
)

GENERIC_READ = dml.D3D12_RESOURCE_STATE_GENERIC_READ


@pytest.fixture
def bench():
    return HazardBench()


def stored(bench):
    return [bench.info.GetMessage(index) for index in range(bench.info.GetNumStoredMessages())]


@pytest.mark.parametrize(("heap", "state"), [(UPLOAD, GENERIC_READ), (READBACK, COPY_DEST)])
def test_transitions_out_of_a_fixed_state(bench, heap, state):
    buffer = bench.buffer(16, heap, name="fixed")
    bench.commands.ResourceBarrier([Transition(buffer, state, COPY_SOURCE)])
    (message,) = stored(bench)
    assert message.ID == dml.D3D12_MESSAGE_ID_RESOURCE_BARRIER_INVALID_HEAP
    assert "'fixed' stays in one state" in message.pDescription
    with pytest.raises(dml.DMLError):
        bench.commands.Close()


def test_copies_against_a_fixed_state(bench):
    bench.commands.CopyResource(bench.buffer(16, UPLOAD), bench.buffer(16))
    bench.commands.CopyResource(bench.buffer(16), bench.buffer(16, READBACK))
    assert [message.ID for message in stored(bench)] == [
        dml.D3D12_MESSAGE_ID_COPYRESOURCE_INVALIDDSTRESOURCE,
        dml.D3D12_MESSAGE_ID_COPYRESOURCE_INVALIDSRCRESOURCE,
    ]


@pytest.mark.parametrize("heap", [UPLOAD, READBACK])
def test_initial_states_against_a_fixed_state(bench, heap):
    with pytest.raises(dml.DMLError, match="initialState must be"):
        bench.d3d12.CreateCommittedResource(
            dml.CD3DX12_HEAP_PROPERTIES(heap), 0, dml.CD3DX12_RESOURCE_DESC.Buffer(16), COMMON
        )


def test_promotion_and_transitions(bench):
    """Promotion by a copy and by a dispatch, then a transition back, in one list."""
    op = bench.ready(identity())
    x, y = bench.buffer(16), bench.buffer(16)
    bench.commands.CopyResource(x, bench.buffer(16, UPLOAD))
    bench.transition(x, COPY_DEST, UNORDERED_ACCESS)
    bench.dispatch(op, [x], [y])
    bench.transition(y, UNORDERED_ACCESS, COPY_SOURCE)
    bench.commands.CopyResource(bench.buffer(16, READBACK), y)
    bench.commands.CopyResource(bench.buffer(16, READBACK), y)
    bench.transition(x, UNORDERED_ACCESS, COMMON)
    bench.commands.CopyResource(x, y)
    bench.execute()
    assert bench.messages() == []


def test_promoted_to_several_read_states(bench):
    """GENERIC_READ holds COPY_SOURCE."""
    x = bench.buffer(16)
    bench.transition(x, COMMON, GENERIC_READ)
    bench.commands.CopyResource(bench.buffer(16), x)
    bench.transition(x, GENERIC_READ, COPY_DEST)
    bench.commands.CopyResource(x, bench.buffer(16))
    bench.execute()
    assert bench.messages() == []


@pytest.mark.parametrize("initial", [COMMON, UNORDERED_ACCESS, COPY_DEST, COPY_SOURCE])
def test_the_initial_state_of_a_buffer_is_common(bench, initial):
    """HelloDirectML creates buffers in the states of their first use, and in others."""
    made = bench.d3d12.CreateCommittedResource(
        dml.CD3DX12_HEAP_PROPERTIES(dml.D3D12_HEAP_TYPE_DEFAULT),
        0,
        dml.CD3DX12_RESOURCE_DESC.Buffer(16, dml.D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS),
        initial,
    )
    bench.dispatch(bench.ready(identity()), [made], [bench.buffer(16)])
    bench.execute()
    assert bench.messages() == []


def test_a_transition_from_the_state_before_the_decay(bench):
    """As HelloDirectML does with its output: written in one call, transitioned in the next."""
    op, y = bench.ready(identity()), bench.buffer(16)
    bench.dispatch(op, [bench.holding(1, 2, 3, 4)], [y])
    bench.execute()
    bench.transition(y, UNORDERED_ACCESS, COPY_SOURCE)
    readback = bench.buffer(16, READBACK)
    bench.commands.CopyResource(readback, y)
    bench.execute()
    assert readback.array("float32").tolist() == [1, 2, 3, 4]
    assert bench.messages() == []


def test_hello_directml(caplog, capsys):
    with debug_layer():
        assert hello_directml.main() == 0
    assert "1.618" in capsys.readouterr().out
    assert not caplog.records


def test_one_mistake_is_one_message(bench):
    """Commands after a missing transition are checked as if it had been recorded."""
    op, y = bench.ready(identity()), bench.buffer(16)
    bench.dispatch(op, [bench.buffer(16)], [y])
    for _ in range(3):
        bench.commands.CopyResource(bench.buffer(16), y)
    bench.transition(y, COPY_SOURCE, UNORDERED_ACCESS)
    bench.dispatch(op, [y], [bench.buffer(16)])
    bench.execute()
    assert [message.rule for message in bench.messages()] == ["D3D12-ResourceState-mismatch"]


@pytest.mark.parametrize(
    ("state", "name"),
    [
        (COMMON, "D3D12_RESOURCE_STATE_COMMON"),
        (UNORDERED_ACCESS, "D3D12_RESOURCE_STATE_UNORDERED_ACCESS"),
        (
            COPY_SOURCE | UNORDERED_ACCESS,
            "D3D12_RESOURCE_STATE_UNORDERED_ACCESS|D3D12_RESOURCE_STATE_COPY_SOURCE",
        ),
        # What GENERIC_READ is made of by its page; members of several bits are not named beside their parts.
        (
            GENERIC_READ,
            "|".join(
                f"D3D12_RESOURCE_STATE_{part}"
                for part in (
                    "VERTEX_AND_CONSTANT_BUFFER",
                    "INDEX_BUFFER",
                    "NON_PIXEL_SHADER_RESOURCE",
                    "PIXEL_SHADER_RESOURCE",
                    "INDIRECT_ARGUMENT",
                    "COPY_SOURCE",
                )
            ),
        ),
    ],
)
def test_names_of_states(state, name):
    assert state_name(state) == name
