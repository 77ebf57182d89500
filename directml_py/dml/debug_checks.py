"""What a debug device checks while a dispatch executes: that its descriptors still stand, and its initialization."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ..abi.lifetime import Lifetime
from ..abi.rules import rule
from ..validation.report import Report
from .binding_point import PERSISTENT, Views
from .table_desc import DescriptorRange

if TYPE_CHECKING:
    from .compiled_operator import IDMLCompiledOperator

OVERWRITTEN = rule(
    "DML-RecordDispatch-descriptors",
    "The table's GPU descriptors stay as its bindings wrote them from recording, or, with DESCRIPTORS_VOLATILE, from "
    "submission to the end of the dispatch",
    "dml-binding",
    debug=True,
)
EVICTED = rule(
    "DML-RecordDispatch-resident",
    "What is dispatched or initialized was not evicted, or was made resident again",
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
        report.add(EVICTED, title, f"{does} though Evict was called for it, and MakeResident not since")


def check_descriptors(gpu: DescriptorRange, views: Views, count: int, title: str, report: Report) -> None:
    """Report the first of ``count`` descriptors of the GPU range that is not the one that the dispatch was made with.

    What became of a heap that was released nobody can say. Where nothing is bound, as for initializers of operators
    that need no memory, what lies there is left from tables before.
    """
    if gpu.heap is None or not count or not views:
        return
    for place, (slot, view) in enumerate(views.items()):
        if gpu.read(place) != view:
            report.add(
                OVERWRITTEN,
                title,
                f"finds another descriptor at place {place} of its GPU range than the one of {slot.kind} "
                f"{slot.position} that it was made with: it was overwritten, or never copied from the CPU range",
            )
            return
    for place in range(len(views), count):
        if gpu.read(place) is not None:
            report.add(
                OVERWRITTEN,
                title,
                f"finds a descriptor at place {place} of its GPU range, which it has for itself: it was overwritten",
            )
            return


def check_operator(op: IDMLCompiledOperator, views: Views, title: str, report: Report) -> None:
    """Initialization, and the persistent resource that it left."""
    if not op.initialized:
        report.add(UNINITIALIZED, title, "runs before any initializer has initialized the operator")
    persistent = views.get(PERSISTENT)
    if op.initialized and persistent is not None and op.persistent is not None:
        if (persistent.buffer, persistent.offset) != (op.persistent.buffer, op.persistent.offset):
            report.add(
                OTHER_PERSISTENT,
                title,
                f"binds byte {persistent.offset} of {persistent.buffer} as its persistent resource; the operator "
                f"was initialized with byte {op.persistent.offset} of {op.persistent.buffer}",
            )
        elif not np.array_equal(persistent.bytes[: op.persistent_size], op.persistent_content):
            report.add(
                PERSISTENT_CHANGED, title, "finds its persistent resource changed since initialization"
            )


def check_initializer(operators: Sequence[IDMLCompiledOperator | None], title: str, report: Report) -> None:
    """None stands for an operator that was released."""
    for index, op in enumerate(operators):
        if op is None:
            continue
        check_resident(op.life, title, report, f"initializes operators[{index}]")
        if op.initialized or op in operators[:index]:
            report.add(TWICE, title, f"initializes operators[{index}], which is initialized already")
