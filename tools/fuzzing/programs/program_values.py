"""What a program is: the memory that it has, and the calls that it makes, one after the other.

Everything is a value, so that a broken program is a right one with one value replaced. Ranges are in bytes.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

GRANULE = 1 << 16

DEFAULT, UPLOAD, READBACK = "DEFAULT", "UPLOAD", "READBACK"
# What queues are, and lists for them.
DIRECT, COMPUTE, COPY = "DIRECT", "COMPUTE", "COPY"
# The halves of a transition.
BEGIN, END = "BEGIN", "END"
COMMON, UNORDERED_ACCESS = "COMMON", "UNORDERED_ACCESS"
COPY_SOURCE, COPY_DEST = "COPY_SOURCE", "COPY_DEST"


class Buffer(NamedTuple):
    """``memory`` numbers what resources may share; ``offset`` is where in it this one begins."""

    name: str
    heap: str
    memory: int
    offset: int
    width: int
    zeroed: bool = True
    placed: bool = False


class Kind(NamedTuple):
    """An operator: the bytes of its tensors, and of what it needs besides. ``owned`` are inputs owned by DirectML."""

    name: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    in_place: bool = False
    owned: tuple[int, ...] = ()
    temporary: int = 0
    persistent: int = 0
    initializer_temporary: int = 0


class Part(NamedTuple):
    """``size`` bytes of a buffer."""

    buffer: str
    start: int
    size: int


class Copy(NamedTuple):
    target: Part
    source: Part


class Dispatch(NamedTuple):
    """Of the operator ``op``; owned inputs are not among ``inputs``."""

    op: str
    inputs: tuple[Part, ...]
    outputs: tuple[Part, ...]
    temporary: Part | None = None
    persistent: Part | None = None


class Initialize(NamedTuple):
    """A dispatch of the initializer of ``op``; ``inputs`` are the owned ones."""

    op: str
    inputs: tuple[Part, ...]
    temporary: Part | None = None
    persistent: Part | None = None


class Clear(NamedTuple):
    """ClearUnorderedAccessViewUint of a view of ``target``."""

    target: Part


class Unordered(NamedTuple):
    """A UAV barrier; None is one for all."""

    buffer: str | None


class Transition(NamedTuple):
    """All of it, or the ``half`` that is named."""

    buffer: str
    before: str
    after: str
    half: str = ""


class Aliasing(NamedTuple):
    before: str | None
    after: str | None


Barrier: TypeAlias = "Unordered | Transition | Aliasing"
BARRIERS = (Unordered, Transition, Aliasing)
Command: TypeAlias = "Copy | Dispatch | Initialize | Clear | Barrier"
List: TypeAlias = "tuple[Command, ...]"


class Submit(NamedTuple):
    """Record lists, and execute them in one call; not record those that are the lists of submission ``of``."""

    number: int
    queue: int
    lists: tuple[List, ...]
    of: int | None = None


class Again(NamedTuple):
    """Execute the lists of submission ``of`` once more."""

    number: int
    queue: int
    of: int


class Signal(NamedTuple):
    queue: int
    fence: int
    value: int


class Wait(NamedTuple):
    queue: int
    fence: int
    value: int


class Await(NamedTuple):
    """The CPU waits."""

    fence: int
    value: int


class Fill(NamedTuple):
    """The CPU writes to an UPLOAD buffer."""

    part: Part


class Look(NamedTuple):
    """The CPU maps a READBACK buffer and reads it."""

    part: Part


class Reset(NamedTuple):
    """The allocators of a submission are reset."""

    number: int


class Release(NamedTuple):
    """A buffer goes, or the memory of placed ones (``memory 3``), an operator, or an ``initializer of`` one."""

    name: str


Step: TypeAlias = "Submit | Again | Signal | Wait | Await | Fill | Look | Reset | Release"


class Program(NamedTuple):
    """``ops`` are operators by name, the kind of each; those without owned inputs are initialized beforehand.
    ``queues`` are their types."""

    buffers: dict[str, Buffer]
    ops: dict[str, Kind]
    queues: tuple[str, ...]
    fences: int
    steps: tuple[Step, ...]
