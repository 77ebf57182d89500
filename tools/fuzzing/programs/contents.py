"""Shadow memory, word by word: whether a word is defined, by which buffer it was written, and whether it was lost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar, NamedTuple

from . import program_values as v
from .memory_accesses import Touch, touches
from .order import Order

WORD = 4
CLEARED = 7
# The increment per byte of a CPU write to an UPLOAD buffer, which initially has zeros.
FILLED = 0x01010101
UNDEFINED, LOST, INHERITED = "undefined contents", "contents that an activation ended", "inherited contents"
UNINITIALIZED, TWICE = "not initialized", "initialized twice"
OTHER_PERSISTENT, CHANGED = "another persistent resource", "a changed persistent resource"


class Word(NamedTuple):
    """``value`` is a number if the program determines it, else a unique object that only copies equal."""

    defined: bool
    value: object
    writer: str | None = None
    submit: int = -1
    lost: bool = False
    # Submissions with an aliasing barrier after the write that has no resource after it.
    shared: tuple[int, ...] = ()


class Contents:
    """The contents of memory over the submissions of a program, assuming that it waits correctly."""

    KINDS: ClassVar = (UNDEFINED, LOST, INHERITED, UNINITIALIZED, TWICE, OTHER_PERSISTENT, CHANGED)

    def __init__(self, program: v.FuzzProgram, order: Order) -> None:
        self._program, self._order = program, order
        self._positions = {
            step.number: position
            for position, step in enumerate(program.steps)
            if isinstance(step, v.SubmitStep)
        }
        # Submissions of aliasing barriers without a resource after, with the resource before.
        self._barriers = [
            (step.number, command.before)
            for step in program.steps
            if isinstance(step, v.SubmitStep)
            for commands in step.lists
            for command in commands
            if isinstance(command, v.AliasingCall) and command.after is None
        ]
        self._words: dict[int, dict[int, Word]] = {}
        self._zeroed = {buffer.memory: buffer.zeroed for buffer in program.buffers.values()}
        # Persistent resources of initialized operators, with the values after initialization.
        self._persistent: dict[str, tuple[v.BufferPart | None, list[object]]] = {}
        self.hazards: set[str] = set()
        # Hazards that depend on which of two queues is faster.
        self.possible: set[str] = set()

    def word(self, memory: int, index: int) -> Word:
        words = self._words.setdefault(memory, {})
        if index not in words:
            words[index] = Word(True, 0) if self._zeroed[memory] else Word(False, object())
        return words[index]

    def step(self, step: v.Step) -> None:
        if isinstance(step, v.SubmitStep):
            for commands in step.lists:
                for command in commands:
                    self._run(command, step.number)
        elif isinstance(step, v.CpuWriteStep):
            self._fill(step.part)

    def _fill(self, part: v.BufferPart) -> None:
        for memory, index in self._word_positions(part):
            word = self.word(memory, index)
            assert isinstance(word.value, int)
            self._words[memory][index] = word._replace(value=word.value + FILLED)

    def _run(self, command: v.CommandCall, number: int) -> None:
        if isinstance(command, v.AliasingCall):
            self._alias(command, number)
        if isinstance(command, (v.DispatchCall, v.InitializeCall)):
            self._persist(command)
        touched = touches(self._program, command)
        read = [self._read(touch, number, command) for touch in touched if not touch.writes]
        if isinstance(command, v.CopyCall):
            heap = self._program.buffers[command.target.buffer].heap
            # Only a hazard if the CPU then reads it.
            if heap == v.READBACK and not any(word.defined for word in read[0]):
                self.possible.add(UNDEFINED)
        for touch in touched:
            if touch.writes:
                self._write(touch, number, self._written(touch, command, read))
        if isinstance(command, v.InitializeCall):
            self._persistent[command.op] = command.persistent, self._values(command.persistent)

    @staticmethod
    def _written(touch: Touch, command: v.CommandCall, read: list[list[Word]]) -> list[tuple[bool, object]]:
        """Whether each word of what a command writes is defined, and its value."""
        if isinstance(command, v.CopyCall):
            return [(word.defined, word.value) for word in read[0]]
        if isinstance(command, v.ClearCall):
            return [(True, CLEARED) for _ in _words(touch)]
        outcomes: list[tuple[bool, object]] = [(not touch.scratch, object()) for _ in _words(touch)]
        # The copied owned inputs, if they fill the persistent resource.
        owned = [word for words in read for word in words]
        if isinstance(command, v.InitializeCall) and touch.persistent and len(owned) == len(outcomes):
            return [(True, word.value) for word in owned]
        return outcomes

    def _persist(self, command: v.DispatchCall | v.InitializeCall) -> None:
        op = command.op
        if isinstance(command, v.InitializeCall):
            if op in self._persistent:
                self.hazards.add(TWICE)
        elif self._program.ops[op].owned:
            if op not in self._persistent:
                self.hazards.add(UNINITIALIZED)
                return
            part, initial = self._persistent[op]
            if part != command.persistent:
                self.hazards.add(OTHER_PERSISTENT)
                return
            # It may be rewritten with equal values, as by a restore.
            for old_value, current in zip(initial, self._values(part)):
                if old_value != current:
                    are_known = isinstance(old_value, int) and isinstance(current, int)
                    (self.hazards if are_known else self.possible).add(CHANGED)

    def _values(self, part: v.BufferPart | None) -> list[object]:
        return [] if part is None else [self.word(*where).value for where in self._word_positions(part)]

    def _word_positions(self, part: v.BufferPart) -> Iterator[tuple[int, int]]:
        buffer = self._program.buffers[part.buffer]
        start = buffer.offset + part.start
        for index in range(start // WORD, -(-(start + part.size) // WORD)):
            yield buffer.memory, index

    def _read(self, touch: Touch, number: int, command: v.CommandCall) -> list[Word]:
        words = [self.word(touch.memory, index) for index in _words(touch)]
        for word in words:
            if word.writer not in (None, touch.buffer) and not word.lost and word.submit != number:
                self._inherit(word, number)
        if not isinstance(command, v.CopyCall) and not all(word.defined for word in words):
            lost = any(word.lost for word in words)
            self.hazards.add(LOST if lost else UNDEFINED)
        return words

    def _inherit(self, word: Word, number: int) -> None:
        """A read through one buffer of what another wrote: an aliasing barrier orders them, possibly, or not."""
        if any(
            self._comes_first(word.submit, barrier) and self._comes_first(barrier, number)
            for barrier in word.shared
        ):
            return
        may_stand_between = any(
            barrier in word.shared
            or not (self._comes_first(barrier, word.submit) or self._comes_first(number, barrier))
            for barrier, before in self._barriers
            if before in (None, word.writer)
        )
        (self.possible if may_stand_between else self.hazards).add(INHERITED)

    def _comes_first(self, earlier: int, later: int) -> bool:
        return earlier == later or self._order.comes_first(self._positions[earlier], self._positions[later])

    def _write(self, touch: Touch, number: int, written: list[tuple[bool, object]]) -> None:
        words = self._words.setdefault(touch.memory, {})
        for index, (defined, value) in zip(_words(touch), written):
            words[index] = Word(defined, value, touch.buffer, number)

    def _alias(self, barrier: v.AliasingCall, number: int) -> None:
        if barrier.after is None:
            for words in self._words.values():
                for index, word in words.items():
                    if word.writer is not None and barrier.before in (None, word.writer):
                        words[index] = word._replace(shared=(*word.shared, number))
            return
        buffer = self._program.buffers[barrier.after]
        if not buffer.placed:
            return
        end = buffer.offset + -(-buffer.width // v.GRANULE) * v.GRANULE
        words = self._words.setdefault(buffer.memory, {})
        for index, word in words.items():
            others = word.writer not in (None, buffer.name) and not word.lost
            if others and buffer.offset <= index * WORD < end:
                words[index] = Word(False, object(), buffer.name, lost=True)


def _words(touch: Touch) -> range:
    return range(touch.start // WORD, -(-touch.end // WORD))
