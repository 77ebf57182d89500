"""The memory accesses of each command of a program."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from . import program_values as v


class Touch(NamedTuple):
    """An access to bytes ``start`` to ``end`` of a memory through a buffer, with the state that it requires."""

    memory: int
    start: int
    end: int
    buffer: str
    writes: bool
    state: str
    scratch: bool = False
    persistent: bool = False

    def meets(self, other: Touch) -> bool:
        return self.memory == other.memory and max(self.start, other.start) < min(self.end, other.end)

    def conflicts(self, other: Touch) -> bool:
        return (self.writes or other.writes) and self.meets(other)


def touches(program: v.FuzzProgram, command: v.CommandCall) -> tuple[Touch, ...]:
    """The accesses of a command, reads first."""
    return tuple(_touches(program, command))


def _touches(program: v.FuzzProgram, command: v.CommandCall) -> Iterator[Touch]:
    def touch(part: v.BufferPart, writes: bool, state: str, **rest: bool) -> Touch:
        buffer = program.buffers[part.buffer]
        start = buffer.offset + part.start
        return Touch(buffer.memory, start, start + part.size, part.buffer, writes, state, **rest)

    shader = v.UNORDERED_ACCESS
    if isinstance(command, v.CopyCall):
        yield touch(command.source, False, v.COPY_SOURCE)
        yield touch(command.target, True, v.COPY_DEST)
    elif isinstance(command, v.ClearCall):
        yield touch(command.target, True, shader)
    elif isinstance(command, (v.DispatchCall, v.InitializeCall)):
        for part in command.inputs:
            yield touch(part, False, shader)
        if command.temporary is not None:
            yield touch(command.temporary, True, shader, scratch=True)
        if command.persistent is not None:
            yield touch(command.persistent, isinstance(command, v.InitializeCall), shader, persistent=True)
        for part in command.outputs if isinstance(command, v.DispatchCall) else ():
            yield touch(part, True, shader)


def activated(program: v.FuzzProgram, command: v.CommandCall) -> Touch | None:
    """The access of an aliasing barrier that activates a resource: the contents of others there are lost."""
    if not isinstance(command, v.AliasingCall) or command.after is None:
        return None
    buffer = program.buffers[command.after]
    size = -(-buffer.width // v.GRANULE) * v.GRANULE
    return Touch(buffer.memory, buffer.offset, buffer.offset + size, buffer.name, True, v.COMMON)


def names(program: v.FuzzProgram, command: v.CommandCall) -> set[str]:
    """The objects that must live until the command has run, by their names in ``ReleaseStep``."""
    objects = {touch.buffer for touch in touches(program, command)}
    if isinstance(command, v.DispatchCall):
        objects.add(command.op)
    elif isinstance(command, v.InitializeCall):
        # Initializers hold references to their operators, and are released with them.
        objects |= {command.op, f"initializer of {command.op}"}
    elif isinstance(command, (v.UavBarrierCall, v.TransitionCall)) and command.buffer is not None:
        objects.add(command.buffer)
    elif isinstance(command, v.AliasingCall):
        objects |= {name for name in command if name is not None}
    buffers = [program.buffers[name] for name in objects if name in program.buffers]
    return objects | {f"memory {buffer.memory}" for buffer in buffers if buffer.placed}
