"""Programs as values: their memory, and their calls in order.

Everything is immutable, so a broken program is a correct one with one value replaced. Ranges are in bytes.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

GRANULE = 1 << 16

DEFAULT, UPLOAD, READBACK = "DEFAULT", "UPLOAD", "READBACK"
# Types of queues and command lists.
DIRECT, COMPUTE, COPY = "DIRECT", "COMPUTE", "COPY"
# The halves of a transition.
BEGIN, END = "BEGIN", "END"
COMMON, UNORDERED_ACCESS = "COMMON", "UNORDERED_ACCESS"
COPY_SOURCE, COPY_DEST = "COPY_SOURCE", "COPY_DEST"


class BufferDecl(NamedTuple):
    """``memory`` is the number of a heap that buffers may share, ``offset`` the position of this one in it."""

    name: str
    heap: str
    memory: int
    offset: int
    width: int
    zeroed: bool = True
    placed: bool = False


class OperatorKind(NamedTuple):
    """An operator: the sizes of its tensors and resources in bytes. ``owned`` are inputs owned by DirectML."""

    name: str
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    in_place: bool = False
    owned: tuple[int, ...] = ()
    temporary: int = 0
    persistent: int = 0
    initializer_temporary: int = 0


class BufferPart(NamedTuple):
    """A range of ``size`` bytes of a buffer."""

    buffer: str
    start: int
    size: int


class CopyCall(NamedTuple):
    target: BufferPart
    source: BufferPart


class DispatchCall(NamedTuple):
    """A dispatch of the operator ``op``; ``inputs`` does not include owned ones."""

    op: str
    inputs: tuple[BufferPart, ...]
    outputs: tuple[BufferPart, ...]
    temporary: BufferPart | None = None
    persistent: BufferPart | None = None


class InitializeCall(NamedTuple):
    """A dispatch of the initializer of ``op``; ``inputs`` are the owned ones."""

    op: str
    inputs: tuple[BufferPart, ...]
    temporary: BufferPart | None = None
    persistent: BufferPart | None = None


class ClearCall(NamedTuple):
    """ClearUnorderedAccessViewUint of a view of ``target``."""

    target: BufferPart


class UavBarrierCall(NamedTuple):
    """A UAV barrier; None is a barrier for all buffers."""

    buffer: str | None


class TransitionCall(NamedTuple):
    """A transition barrier, or the ``half`` of a split one."""

    buffer: str
    before: str
    after: str
    half: str = ""


class AliasingCall(NamedTuple):
    before: str | None
    after: str | None


BarrierCall: TypeAlias = "UavBarrierCall | TransitionCall | AliasingCall"
BARRIERS = (UavBarrierCall, TransitionCall, AliasingCall)
CommandCall: TypeAlias = "CopyCall | DispatchCall | InitializeCall | ClearCall | BarrierCall"
CallList: TypeAlias = "tuple[CommandCall, ...]"


class SubmitStep(NamedTuple):
    """Record lists and execute them in one call; with ``of``, execute the recorded lists of that submission again."""

    number: int
    queue: int
    lists: tuple[CallList, ...]
    of: int | None = None


class ResubmitStep(NamedTuple):
    """Execute the lists of submission ``of`` once more."""

    number: int
    queue: int
    of: int


class SignalStep(NamedTuple):
    queue: int
    fence: int
    value: int


class WaitStep(NamedTuple):
    queue: int
    fence: int
    value: int


class CpuWaitStep(NamedTuple):
    """The CPU waits for a fence value."""

    fence: int
    value: int


class CpuWriteStep(NamedTuple):
    """The CPU writes to an UPLOAD buffer."""

    part: BufferPart


class CpuReadStep(NamedTuple):
    """The CPU maps a READBACK buffer and reads it."""

    part: BufferPart


class ResetStep(NamedTuple):
    """The command allocators of a submission are reset."""

    number: int


class ReleaseStep(NamedTuple):
    """Release a buffer, a heap (``memory 3``), an operator, or an ``initializer of`` one."""

    name: str


Step: TypeAlias = (
    "SubmitStep | ResubmitStep | SignalStep | WaitStep | CpuWaitStep | CpuWriteStep | CpuReadStep | ResetStep "
    "| ReleaseStep"
)


class FuzzProgram(NamedTuple):
    """``ops`` are the kinds of operators by name; those without owned inputs are initialized beforehand. ``queues`` are
    the types of queues."""

    buffers: dict[str, BufferDecl]
    ops: dict[str, OperatorKind]
    queues: tuple[str, ...]
    fences: int
    steps: tuple[Step, ...]
