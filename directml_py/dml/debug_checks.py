"""Execution-time checks of a debug device: unchanged descriptors, residency and initialization."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple, Protocol
from weakref import WeakKeyDictionary

import numpy as np

from ..abi.lifetime import Lifetime
from ..abi.rules import rule
from ..validation.report import Report
from .binding_point import PERSISTENT, DescriptorRange, Views

if TYPE_CHECKING:
    import numpy.typing as npt

    from ..runtime.buffer import BufferRange

OVERWRITTEN = rule(
    "DML-RecordDispatch-descriptors",
    "The table's GPU descriptors stay unchanged from recording, or, with DESCRIPTORS_VOLATILE, from submission to the "
    "end of the dispatch",
    "dml-binding",
    debug=True,
)
EVICTED = rule(
    "DML-RecordDispatch-resident",
    "Objects that are dispatched or initialized are resident",
    "nf-directml-idmldevice-evict",
    debug=True,
)
UNINITIALIZED = rule(
    "DML-RecordDispatch-initialized",
    "An operator is initialized before it is dispatched",
    "nf-directml-idmldevice-createoperatorinitializer",
    debug=True,
)
TWICE = rule(
    "DML-OperatorInitializer-once",
    "An operator is initialized only once",
    "nn-directml-idmlcompiledoperator",
    debug=True,
)
OTHER_PERSISTENT = rule(
    "DML-BindPersistentResource-same",
    "The persistent resource is the range that the operator was initialized with",
    "nf-directml-idmlbindingtable-bindpersistentresource",
    debug=True,
)
PERSISTENT_CHANGED = rule(
    "DML-BindPersistentResource-unchanged",
    "Nothing writes to the persistent resource after initialization",
    "nf-directml-idmlbindingtable-bindpersistentresource",
    debug=True,
)


def check_resident(life: Lifetime, title: str, report: Report, does: str = "runs") -> None:
    if not life.is_resident:
        report.add(EVICTED, title, f"{does} after Evict was called for it, without MakeResident since")


def check_descriptors(gpu: DescriptorRange, views: Views, count: int, title: str, report: Report) -> None:
    """Report the first of ``count`` descriptors of the GPU range that differs from those of the recorded dispatch.

    A released heap cannot be checked. Where nothing is bound, as for initializers of operators that need no memory, the
    range may hold descriptors of earlier tables.
    """
    if gpu.heap is None or not count or not views:
        return
    for index, (slot, view) in enumerate(views.items()):
        if gpu.read(index) != view:
            report.add(
                OVERWRITTEN,
                title,
                f"finds at index {index} of its GPU range {_instead(gpu, index)} the one recorded for {slot.kind} "
                f"{slot.position}: {_why(gpu, index)}",
            )
            return
    for index in range(len(views), count):
        if gpu.read(index) is not None:
            report.add(
                OVERWRITTEN,
                title,
                f"finds a descriptor at index {index} of its GPU range, which is reserved for it: {_why(gpu, index)}",
            )
            return


def _instead(gpu: DescriptorRange, index: int) -> str:
    return "nothing instead of" if gpu.is_empty(index) else "a descriptor other than"


def _why(gpu: DescriptorRange, index: int) -> str:
    writer = gpu.writer(index)
    if writer:
        return f"it was overwritten by {writer}"
    return "it was never copied from the CPU range" if gpu.is_empty(index) else "it was overwritten"


class Initializable(Protocol):
    """What the checks need to know of a compiled operator."""

    life: Lifetime
    initialized: bool

    @property
    def persistent_size(self) -> int: ...


class PersistentCopy(NamedTuple):
    """What an operator was initialized with, and what initialization stored there."""

    view: BufferRange
    content: npt.NDArray[np.uint8]


_persistent: WeakKeyDictionary[Initializable, PersistentCopy] = WeakKeyDictionary()


def remember_persistent(op: Initializable, view: BufferRange) -> None:
    """``op`` has been initialized with ``view``."""
    _persistent[op] = PersistentCopy(view, view.bytes[: op.persistent_size].copy())


def check_operator(op: Initializable, views: Views, title: str, report: Report) -> None:
    """Check that the operator is initialized and its persistent resource unchanged."""
    if not op.initialized:
        report.add(UNINITIALIZED, title, "runs before any initializer has initialized the operator")
    persistent, remembered = views.get(PERSISTENT), _persistent.get(op)
    if op.initialized and persistent is not None and remembered is not None:
        if persistent[:2] != remembered.view[:2]:
            report.add(
                OTHER_PERSISTENT,
                title,
                f"binds byte {persistent.offset} of {persistent.buffer} as its persistent resource; the operator "
                f"was initialized with byte {remembered.view.offset} of {remembered.view.buffer}",
            )
        elif not np.array_equal(persistent.bytes[: op.persistent_size], remembered.content):
            report.add(
                PERSISTENT_CHANGED, title, "finds its persistent resource changed since initialization"
            )


def check_initializer(operators: Sequence[Initializable | None], title: str, report: Report) -> None:
    """Check residency and repeated initialization; None stands for a released operator."""
    for index, op in enumerate(operators):
        if op is None:
            continue
        check_resident(op.life, title, report, f"initializes operators[{index}]")
        if op.initialized or op in operators[:index]:
            report.add(TWICE, title, f"initializes operators[{index}], which is initialized already")
