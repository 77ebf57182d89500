"""Captures of C++ programs, which need no changes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import directml_py
from directml_py.capturing import VARIABLE
from directml_py.capturing import event_types as e
from directml_py.capturing.page import page
from directml_py.capturing.parser import read_capture
from directml_py.capturing.replay import replay

from .building import facts

# The package that is tested, wherever the library would look for one.
ENVIRONMENT = {"PYTHONPATH": str(Path(directml_py.__file__).parents[1])}


def capture(program, topic, folder):
    facts([program, topic], {**ENVIRONMENT, VARIABLE: str(folder)})
    (log,) = read_capture(folder)
    # A C++ program exits without finalizing the interpreter.
    assert log.ended
    return log


def test_what_a_program_did(builder, tmp_path):
    log = capture(builder.program("object_model", "g++"), "captured", tmp_path / "out")
    dispatches = [
        command
        for _, command in log.ran
        if isinstance(command.what, e.DispatchEvent) and command.what.dispatchable.name == "twice"
    ]
    first, second = dispatches
    assert [one.what.dispatchable.title for one in dispatches] == [
        "DML_OPERATOR_ELEMENT_WISE_IDENTITY 'twice'"
    ] * 2
    (message,) = second.messages
    assert not first.messages
    assert message.rule == "D3D12-UAVBarrier-missing"
    assert "'the middle'" in message.text
    markers = [command.what for _, command in log.ran if isinstance(command.what, e.MarkerEvent)]
    assert markers == [
        e.MarkerEvent("BeginEvent", "forward"),
        e.MarkerEvent("SetMarker", "halfway"),
        e.MarkerEvent("EndEvent", ""),
    ]
    assert [event.marker.text for event in log.events if isinstance(event, e.QueueMarkerEvent)] == ["now"]
    written = {patch.content for patch in second.written}
    assert [log.bytes(content).view("<f4").tolist() for content in written] == [[4, 8, 12, 16]]


@pytest.mark.parametrize(
    "topic", ["captured", "commands", "graphs", "initialization", "operators", "threads"]
)
def test_programs_run_again_to_the_same_bits(builder, tmp_path, topic):
    log = capture(builder.program("object_model", "g++"), topic, tmp_path / "out")
    again = list(replay(log))
    assert again or topic == "commands"
    assert [str(one) for _, differences in again for one in differences] == []
    assert "</html>" in page([log])


def test_the_command(builder, tmp_path):
    program = builder.program("object_model", "g++")
    command = [sys.executable, "-m", "directml_py", "capture"]

    def run(*words):
        environment = {**os.environ, **ENVIRONMENT}
        return subprocess.run([*command, *words], capture_output=True, text=True, env=environment)

    recorded = run(tmp_path / "out", "--", program, "captured")
    assert recorded.returncode == 0, recorded.stderr
    assert "ok the work is done" in recorded.stdout
    again = run("replay", tmp_path / "out")
    assert again.stdout == "3 dispatches replayed, none with a different result\n"


def test_a_process_that_turns_into_the_program_has_no_capture_of_its_own(builder, tmp_path):
    program = builder.program("object_model", "g++")
    command = [sys.executable, "-m", "directml_py", "exec", program, "captured"]
    facts(command, {**ENVIRONMENT, VARIABLE: str(tmp_path / "out")})
    assert len(read_capture(tmp_path / "out")) == 1
