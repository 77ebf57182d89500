"""What is in memory, word by word: whether something wrote it, through which buffer, and whether that still counts."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

from . import values as v
from .accesses import Touch, touches
from .order import Order

WORD = 4
UNDEFINED, LOST, INHERITED = "undefined contents", "contents that an activation ended", "inherited contents"
UNINITIALIZED, TWICE = "not initialized", "initialized twice"
OTHER_PERSISTENT, CHANGED = "another persistent resource", "a changed persistent resource"


class Word(NamedTuple):
    defined: bool
    writer: str | None = None
    submit: int = -1
    lost: bool = False
    # The submissions with an aliasing barrier behind the writing that names no resource after it.
    shared: tuple[int, ...] = ()


class Contents:
    """Submissions in the order of a program that waits for what it needs."""

    KINDS: ClassVar = (UNDEFINED, LOST, INHERITED, UNINITIALIZED, TWICE, OTHER_PERSISTENT, CHANGED)

    def __init__(self, program: v.Program, order: Order) -> None:
        self._program, self._order = program, order
        self._places = {
            step.number: place for place, step in enumerate(program.steps) if isinstance(step, v.Submit)
        }
        # The submissions of aliasing barriers that name no resource after them, with what they name before.
        self._barriers = [
            (step.number, command.before)
            for step in program.steps
            if isinstance(step, v.Submit)
            for commands in step.lists
            for command in commands
            if isinstance(command, v.Aliasing) and command.after is None
        ]
        self._words: dict[int, dict[int, Word]] = {}
        self._initial = {buffer.memory: Word(buffer.zeroed) for buffer in program.buffers.values()}
        self._persistent: dict[str, v.Part | None] = {}
        self._changed: set[str] = set()
        self.hazards: set[str] = set()
        # What depends on which of two queues is faster.
        self.possible: set[str] = set()

    def word(self, memory: int, place: int) -> Word:
        return self._words.setdefault(memory, {}).get(place, self._initial[memory])

    def submit(self, submit: v.Submit) -> None:
        for commands in submit.lists:
            for command in commands:
                self._run(command, submit.number)

    def _run(self, command: v.Command, number: int) -> None:
        if isinstance(command, v.Aliasing):
            self._alias(command, number)
        if isinstance(command, (v.Dispatch, v.Initialize)):
            self._persist(command)
        touched = touches(self._program, command)
        copied = [self._read(touch, number, command) for touch in touched if not touch.writes]
        if isinstance(command, v.Copy):
            heap = self._program.buffers[command.target.buffer].heap
            # No mistake before the CPU reads that and nothing else.
            if heap == v.READBACK and not any(copied[0]):
                self.possible.add(UNDEFINED)
        for touch in touched:
            if touch.writes:
                self._write(touch, number, copied[0] if isinstance(command, v.Copy) else None)

    def _persist(self, command: v.Dispatch | v.Initialize) -> None:
        op = command.op
        if isinstance(command, v.Initialize):
            if op in self._persistent:
                self.hazards.add(TWICE)
            self._persistent[op] = command.persistent
            self._changed.discard(op)
        elif self._program.ops[op].owned:
            if op not in self._persistent:
                self.hazards.add(UNINITIALIZED)
            elif self._persistent[op] != command.persistent:
                self.hazards.add(OTHER_PERSISTENT)
            elif op in self._changed:
                self.hazards.add(CHANGED)

    def _read(self, touch: Touch, number: int, command: v.Command) -> list[bool]:
        found = [self.word(touch.memory, place) for place in _words(touch)]
        for word in found:
            if word.writer not in (None, touch.buffer) and not word.lost and word.submit != number:
                self._inherit(word, number)
        if not isinstance(command, v.Copy) and not all(word.defined for word in found):
            lost = any(word.lost for word in found)
            self.hazards.add(LOST if lost else UNDEFINED)
        return [word.defined for word in found]

    def _inherit(self, word: Word, number: int) -> None:
        """What one buffer left is read through another: an aliasing barrier stands between, or may, or none does."""
        if any(self._comes_first(word.submit, one) and self._comes_first(one, number) for one in word.shared):
            return
        may_stand_between = any(
            one in word.shared or not (self._comes_first(one, word.submit) or self._comes_first(number, one))
            for one, before in self._barriers
            if before in (None, word.writer)
        )
        (self.possible if may_stand_between else self.hazards).add(INHERITED)

    def _comes_first(self, one: int, other: int) -> bool:
        return one == other or self._order.comes_first(self._places[one], self._places[other])

    def _write(self, touch: Touch, number: int, copied: list[bool] | None) -> None:
        words = self._words.setdefault(touch.memory, {})
        for index, place in enumerate(_words(touch)):
            defined = not touch.scratch if copied is None else copied[index]
            words[place] = Word(defined, touch.buffer, number)
        for op, part in self._persistent.items():
            if part is not None and not touch.persistent:
                buffer = self._program.buffers[part.buffer]
                start = buffer.offset + part.start
                if buffer.memory == touch.memory and start < touch.end and touch.start < start + part.size:
                    self._changed.add(op)

    def _alias(self, barrier: v.Aliasing, number: int) -> None:
        if barrier.after is None:
            for words in self._words.values():
                for place, word in words.items():
                    if word.writer is not None and barrier.before in (None, word.writer):
                        words[place] = word._replace(shared=(*word.shared, number))
            return
        buffer = self._program.buffers[barrier.after]
        if not buffer.placed:
            return
        end = buffer.offset + -(-buffer.width // v.GRANULE) * v.GRANULE
        words = self._words.setdefault(buffer.memory, {})
        for place, word in words.items():
            others = word.writer not in (None, buffer.name) and not word.lost
            if others and buffer.offset <= place * WORD < end:
                words[place] = Word(False, buffer.name, lost=True)


def _words(touch: Touch) -> range:
    return range(touch.start // WORD, -(-touch.end // WORD))
