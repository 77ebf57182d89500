"""The info queue's messages against the list of all that Direct3D can send."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
from documentation import message_list
from toolchain import need_d3d12_headers

import directml_py as dml
from directml_py.d3d12 import rule_messages
from directml_py.d3d12.info_queue import ID3D12InfoQueue

from ..hazards.every_case import HAZARDS
from ..hazards.hazard import HazardBench
from .message_programs import PROGRAMS

LIST = message_list.rows()
TOLD = {row.id for row in LIST if row.status == "reported"}
BY_NUMBER = {row.id: row for row in LIST}
PREFIX = "D3D12_MESSAGE_ID_"
# Rules of calls, which have a program of their own.
OF_CALLS = ("D3D12-CopyDescriptors-",)
OF_RULES = {
    number: rule for rule, (_, number) in rule_messages.NUMBERS.items() if not rule.startswith(OF_CALLS)
}


# Only C++ programs can be told of it, in the program of tests/com of this name.
OF_C = {dml.D3D12_MESSAGE_ID_USE_OF_ZERO_REFCOUNT_OBJECT: "released.cpp"}


@pytest.mark.parametrize("number", OF_C)
def test_messages_that_c_alone_is_told(number):
    program = Path(__file__).parents[1] / "com/programs" / OF_C[number]
    assert f"{PREFIX}{BY_NUMBER[number].name}" in program.read_text(encoding="utf-8")


def heard(device):
    queue = device.QueryInterface(ID3D12InfoQueue)
    return [queue.GetMessage(index) for index in range(queue.GetNumStoredMessages())]


@pytest.fixture
def listening(debug_bench, info_queue):
    info_queue.SetBreakOnSeverity(dml.D3D12_MESSAGE_SEVERITY_ERROR, False)
    return debug_bench


def test_what_is_told_has_a_program():
    assert set(PROGRAMS) | set(OF_RULES) | set(OF_C) == TOLD
    assert not set(PROGRAMS) & set(OF_RULES)


@pytest.mark.parametrize("number", [pytest.param(number, id=BY_NUMBER[number].name) for number in PROGRAMS])
def test_messages_of_no_rule(listening, number):
    kept = PROGRAMS[number](listening)
    found = [message.ID for message in heard(listening.device)]
    assert found[-1] == number
    assert set(found) <= TOLD
    del kept


@pytest.mark.parametrize("number", [pytest.param(number, id=BY_NUMBER[number].name) for number in OF_RULES])
def test_messages_of_rules(number):
    hazard = next(one for one in HAZARDS if one.rule == OF_RULES[number])
    bench = HazardBench()
    hazard.scenario(bench, hazard.way)
    assert number in [message.ID for message in heard(bench.d3d12)]


def sent():
    """Every D3D12_MESSAGE_ID that a module of the package names."""
    package = Path(dml.__file__).parent
    names = set()
    files = [
        file
        for room in ("d3d12", "dml", "com", "sync_validation")
        for file in package.glob(f"{room}/**/*.py")
    ]
    for file in files:
        for node in ast.walk(ast.parse(file.read_text())):
            name = node.id if isinstance(node, ast.Name) else getattr(node, "attr", "")
            if name.startswith(PREFIX):
                names.add(name.removeprefix(PREFIX))
    return names


def test_nothing_is_sent_that_the_list_does_not_have():
    assert sent() == {BY_NUMBER[number].name for number in TOLD}


def header():
    """The names and numbers of d3d12sdklayers.h; an alias has the number of its original."""
    text = Path("/usr/include/directx/d3d12sdklayers.h").read_text()
    return {name: int(number) for name, number in re.findall(rf"{PREFIX}(\w+)\s*=\s*(\d+)\b", text)}


def test_the_list_is_whole():
    """What it does not have is not about buffers, copies, compute or queues, by a word of its name."""
    need_d3d12_headers()
    known = header()
    assert {row.name: known.get(row.name) for row in LIST} == {row.name: row.id for row in LIST}
    words = [word for words in message_list.elsewhere().values() for word in words]
    unlisted = [name for name, number in known.items() if number not in BY_NUMBER]
    assert [name for name in unlisted if not any(word in name for word in words)] == []


def test_no_message_is_listed_twice():
    assert len(BY_NUMBER) == len({row.name for row in LIST}) == len(LIST)


def test_the_programs_without_their_mistake_are_told_nothing(listening):
    """A whole program of copies, barriers, queries and descriptors."""
    bench, source, result = listening, listening.filled(range(16)), listening.readback(16)
    middle = bench.buffer(16)
    bench.list.CopyResource(middle, source)
    bench.list.ResourceBarrier(
        [dml.CD3DX12_RESOURCE_BARRIER.Transition(middle, dml.D3D12_RESOURCE_STATE_COPY_DEST, 0x800)]
    )
    bench.list.CopyResource(result, middle)
    bench.list.Close()
    bench.queue.ExecuteCommandLists([bench.list])
    fence = bench.device.CreateFence(0)
    bench.queue.Signal(fence, 1)
    fence.SetEventOnCompletion(1)
    assert bytes(result.Map(0, dml.D3D12_RANGE(0, 16))) == bytes(range(16))
    result.Unmap(0, dml.D3D12_RANGE(0, 0))
    bench.device.Evict([middle])
    bench.device.MakeResident([middle])
    bench.device.flush()
    assert heard(bench.device) == []
