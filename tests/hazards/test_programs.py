"""Random programs: correct ones are clean, and a seeded mistake is found; and the model that predicts hazards."""

from __future__ import annotations

from itertools import pairwise
from random import Random

import pytest
from fuzzing.programs import modelled_states, reference_model, state_machine
from fuzzing.programs import program_values as v
from fuzzing.programs.breaks import BREAKS
from fuzzing.programs.contents import CHANGED, INHERITED, LOST, UNDEFINED
from fuzzing.programs.writer import ProgramWriter
from hypothesis import Phase


def try_programs(count: int, at_least: int):
    """Hypothesis draws them from the same seed in every run; each kind of mistake makes a difference so often."""
    state_machine.ProgramMachine.tried.clear()
    state_machine.run(count, first=2)
    assert min(state_machine.ProgramMachine.tried[mistake] for mistake in BREAKS) >= at_least


def test_programs():
    try_programs(20, 3)


@pytest.mark.slow
def test_many_programs():
    try_programs(250, 60)


def test_what_is_missing_stands_before():
    """A dispatched operator's initializer, and the wait for another queue's submission, come directly before it."""
    initialized, waiting = 0, 0
    for seed in range(100):
        writer = ProgramWriter(Random(seed), state_machine.operator_kinds())
        for number in range(4):
            writer.cpu_step()
            writer.submit(number % len(writer.queues))
        steps = writer.finished().steps
        commands = [
            command
            for step in steps
            if isinstance(step, v.SubmitStep)
            for commands in step.lists
            for command in commands
        ]
        initialized += any(isinstance(command, v.DispatchCall) and command.persistent for command in commands)
        waiting += any(
            isinstance(one, v.WaitStep) and isinstance(two, v.SubmitStep) and one.queue == two.queue
            for one, two in pairwise(steps)
        )
    assert initialized > 6
    assert waiting > 20


@pytest.mark.parametrize(
    ("reported", "failure"),
    [
        (lambda program, play: {"D3D12-UAVBarrier-missing"}, "a correct program is reported"),
        (lambda program, play: set(), "none of"),
        (
            lambda program, play: (found := play(program)) | ({"DML-GATHER-axis"} if found else set()),
            "no hazard",
        ),
    ],
    ids=["a correct program", "nothing", "too much"],
)
def test_what_the_debug_layers_report_wrongly_is_found(monkeypatch, reported, failure):
    """Also that they report nothing, and more than there is."""
    play = state_machine.play
    monkeypatch.setattr(state_machine, "play", lambda program: reported(program, play))
    with pytest.raises(AssertionError, match=failure):
        state_machine.run(10, first=2, phases=[Phase.generate])


# The model, by hand


def buffer(name, memory=None, heap=v.DEFAULT, **rest):
    return v.BufferDecl(name, heap, ord(name[0]) if memory is None else memory, 0, 64, **rest)


BUFFERS = {
    one.name: one
    for one in (
        *(buffer(name) for name in "abc"),
        buffer("fresh", zeroed=False),
        buffer("up", heap=v.UPLOAD),
        buffer("down", heap=v.READBACK),
        buffer("weights"),
        buffer("one", 99, placed=True),
        buffer("two", 99, placed=True),
    )
}
QUEUES = (v.DIRECT, v.DIRECT, v.COPY)
TO_COPY = [v.TransitionCall("b", v.UNORDERED_ACCESS, v.COPY_SOURCE, half) for half in (v.BEGIN, v.END)]
SCALE = v.OperatorKind("scale", (16,), (16,), in_place=True)
OWNING = v.OperatorKind("owning", (16,), (16,), owned=(16,), persistent=16)


def part(name, start=0):
    return v.BufferPart(name, start, 16)


def scale(source, target, start=0):
    return v.DispatchCall("scale", (part(source),), (part(target, start),))


def copy(source, target):
    return v.CopyCall(part(target), part(source))


def initialize(source):
    return v.InitializeCall("owning", (part(source),), persistent=part("weights"))


def owning(source, target):
    return v.DispatchCall("owning", (part(source),), (part(target),), persistent=part("weights"))


def look(*steps):
    return reference_model.look(v.FuzzProgram(BUFFERS, {"scale": SCALE, "owning": OWNING}, QUEUES, 3, steps))


def hazards(*steps):
    return look(*steps).hazards


def run(*commands, queue=0, number=0):
    return v.SubmitStep(number, queue, (commands,))


@pytest.mark.parametrize(
    ("commands", "expected"),
    [
        ([scale("a", "b"), scale("b", "c")], {reference_model.MISSING_BARRIER}),
        ([scale("a", "b"), v.UavBarrierCall("b"), scale("b", "c")], set()),
        ([scale("a", "b"), v.UavBarrierCall("a"), scale("b", "c")], {reference_model.MISSING_BARRIER}),
        ([scale("a", "b"), scale("b", "c", 16)], {reference_model.MISSING_BARRIER}),
        ([scale("a", "b", 16), scale("b", "c")], set()),
        ([scale("a", "b"), scale("a", "c")], set()),
        ([scale("a", "a")], set()),
        (
            [v.DispatchCall("scale", (v.BufferPart("a", 0, 16),), (v.BufferPart("a", 4, 16),))],
            {reference_model.OVERLAP},
        ),
        ([scale("a", "b"), copy("b", "down")], {modelled_states.WRONG_STATE}),
        (
            [scale("a", "b"), v.TransitionCall("b", v.UNORDERED_ACCESS, v.COPY_SOURCE), copy("b", "down")],
            set(),
        ),
        ([scale("a", "one"), scale("b", "two")], {reference_model.MISSING_ALIASING}),
        ([scale("a", "one"), v.UavBarrierCall(None), scale("b", "two")], {reference_model.MISSING_ALIASING}),
        ([scale("a", "one"), v.AliasingCall(None, "two"), scale("b", "two")], set()),
        (
            [scale("a", "one"), v.AliasingCall(None, "one"), scale("b", "two")],
            {reference_model.MISSING_ALIASING},
        ),
        ([scale("a", "one"), v.AliasingCall("one", "two"), scale("two", "b")], {LOST}),
        ([scale("a", "one"), v.AliasingCall("one", None), scale("two", "b")], set()),
        ([scale("fresh", "b")], {UNDEFINED}),
        ([v.ClearCall(part("fresh")), v.UavBarrierCall("fresh"), scale("fresh", "b")], set()),
        ([v.ClearCall(part("a")), scale("a", "b")], {reference_model.MISSING_BARRIER}),
        ([scale("a", "b"), *TO_COPY, copy("b", "down")], set()),
        (
            [scale("a", "b"), TO_COPY[0], copy("a", "down"), TO_COPY[1], copy("b", "down")],
            {modelled_states.WRONG_STATE},
        ),
        ([scale("a", "b"), TO_COPY[0], scale("c", "b", 16), TO_COPY[1]], {modelled_states.SPLIT}),
        ([scale("a", "b"), TO_COPY[1], copy("b", "down")], {modelled_states.SPLIT}),
        ([scale("a", "b"), TO_COPY[0], TO_COPY[0], TO_COPY[1]], {modelled_states.SPLIT}),
        (
            [scale("a", "b"), TO_COPY[0], v.TransitionCall("b", v.UNORDERED_ACCESS, v.COPY_DEST, v.END)],
            {modelled_states.SPLIT},
        ),
        ([scale("a", "b"), TO_COPY[0]], set()),
    ],
)
def test_one_list_by_hand(commands, expected):
    assert hazards(run(*commands)) == expected


def test_two_calls_by_hand():
    """Calls on one queue are ordered; a second resource reads what the first one wrote."""
    assert hazards(run(scale("a", "b")), run(scale("b", "c"), number=1)) == set()
    assert hazards(run(scale("a", "one")), run(scale("two", "b"), number=1)) == {INHERITED}


def test_queues_by_hand():
    first, second = run(scale("a", "b")), run(scale("b", "c"), queue=1, number=1)
    signal = v.SignalStep(0, 0, 1)
    assert hazards(first, second) == {reference_model.MISSING_WAIT}
    assert hazards(first, signal, v.WaitStep(1, 0, 1), second) == set()
    assert hazards(signal, first, v.WaitStep(1, 0, 1), second) == {reference_model.MISSING_WAIT}
    assert hazards(first, signal, second, v.WaitStep(1, 0, 1)) == {reference_model.MISSING_WAIT}
    assert hazards(first, signal, v.CpuWaitStep(0, 1), second) == set()
    assert hazards(v.WaitStep(1, 0, 1), second, first, signal) == set()
    # By way of a third one.
    handed = (v.WaitStep(2, 0, 1), v.SignalStep(2, 2, 1), v.WaitStep(1, 2, 1))
    assert hazards(first, signal, *handed, second) == set()
    assert hazards(first, signal, *handed[1:], second) == {reference_model.MISSING_WAIT}
    assert hazards(first, v.CpuWaitStep(0, 1), signal) == {reference_model.DEADLOCK}
    crossed = (v.WaitStep(0, 1, 1), signal, v.WaitStep(1, 0, 1), v.SignalStep(1, 1, 1))
    assert hazards(*crossed) == {reference_model.DEADLOCK}


def test_what_has_begun_and_not_ended():
    """Any later access, on any queue, may be reported."""
    assert look(run(scale("a", "b"), TO_COPY[0])).possible == {modelled_states.SPLIT}


def test_what_follows_from_what_is_not_recorded():
    """Reads of a rejected dispatch's output find other contents."""
    overlapping = v.DispatchCall("scale", (part("fresh"),), (part("fresh", 4),))
    after = run(v.CopyCall(part("down"), part("fresh", 4)), number=1)
    told = look(run(v.ClearCall(part("fresh")), v.UavBarrierCall("fresh"), overlapping), after)
    assert told.hazards == {reference_model.OVERLAP}
    assert UNDEFINED in told.possible


TWO_FILLS = (v.CpuWriteStep(part("up")), v.CpuWriteStep(part("up")))


@pytest.mark.parametrize(
    ("source", "before", "between", "told"),
    [
        # Zeros over zeros, and a copy of the weights, change nothing.
        ("a", (), [run(copy("b", "weights"), number=1)], (set(), set())),
        ("up", TWO_FILLS, [run(copy("up", "weights"), number=1)], (set(), set())),
        (
            "b",
            (run(scale("a", "b")),),
            [run(copy("weights", "c"), number=1), run(copy("c", "weights"), number=2)],
            (set(), set()),
        ),
        ("up", TWO_FILLS[:1], [TWO_FILLS[1], run(copy("up", "weights"), number=1)], ({CHANGED}, set())),
        ("a", (), [run(v.ClearCall(part("weights")), number=1)], ({CHANGED}, set())),
        ("a", (), [run(v.ClearCall(part("weights", 12)), number=1)], ({CHANGED}, set())),
        ("a", (), [run(v.ClearCall(part("weights", 16)), number=1)], (set(), set())),
        # What is computed may be what was there.
        ("a", (), [run(scale("b", "weights"), number=1)], (set(), {CHANGED})),
    ],
)
def test_persistent_resources_by_hand(source, before, between, told):
    waits = (v.SignalStep(0, 0, 1), v.CpuWaitStep(0, 1))
    steps = (*before, run(initialize(source), number=3), *waits, *between, run(owning("a", "c"), number=4))
    assert look(*steps) == told


def test_executing_again_by_hand():
    first, again = run(copy("up", "a")), v.ResubmitStep(1, 0, 0)
    wait = (v.SignalStep(0, 0, 1), v.CpuWaitStep(0, 1))
    assert hazards(first, *wait, again) == set()
    assert hazards(first, again) == {reference_model.IN_FLIGHT}
    assert hazards(first, wait[0], v.WaitStep(0, 0, 1), again) == {reference_model.IN_FLIGHT}
    assert hazards(first, *wait, v.ResetStep(0), again) == {reference_model.STALE}
    assert hazards(first, *wait, again, v.ResetStep(0)) == {reference_model.RESET}
    assert hazards(first, *wait, again, v.CpuWriteStep(part("up"))) == {reference_model.UPLOAD}
    assert hazards(first, *wait, v.ResubmitStep(1, 2, 0)) == {reference_model.WRONG_ENGINE}
    assert hazards(again, first) == {reference_model.SENSELESS}


@pytest.mark.parametrize("command", [scale("a", "b"), v.ClearCall(part("b")), TO_COPY[0]])
def test_copy_queues_by_hand(command):
    assert hazards(run(command, queue=2)) == {reference_model.WRONG_ENGINE}
    assert hazards(run(copy("a", "b"), queue=2)) == set()


@pytest.mark.parametrize(
    ("commands", "step", "expected"),
    [
        ([copy("a", "down")], v.CpuReadStep(part("down", 8)), reference_model.READBACK),
        ([copy("a", "down")], v.CpuReadStep(part("down", 16)), None),
        ([copy("up", "a")], v.CpuWriteStep(part("up")), reference_model.UPLOAD),
        ([scale("a", "b")], v.ResetStep(0), reference_model.RESET),
        ([scale("a", "b")], v.ReleaseStep("scale"), reference_model.RELEASED),
        ([scale("a", "one")], v.ReleaseStep("memory 99"), reference_model.RELEASED),
        ([scale("a", "b")], v.ReleaseStep("c"), None),
        ([initialize("a")], v.ReleaseStep("owning"), reference_model.RELEASED),
        ([initialize("a")], v.ReleaseStep("initializer of owning"), reference_model.RELEASED),
    ],
)
def test_the_cpu_by_hand(commands, step, expected):
    signal, wait = v.SignalStep(0, 0, 1), v.CpuWaitStep(0, 1)
    assert hazards(run(*commands), signal, step, wait) == ({expected} if expected else set())
    assert hazards(run(*commands), signal, wait, step) == set()
