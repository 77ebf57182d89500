"""``IDMLOperatorInitializer``."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from ..abi.arguments import counted
from ..api.iids import IID_IDMLOperatorInitializer
from ..api.structs import DML_BINDING_PROPERTIES
from ..d3d12.resource import BufferRange
from ..validation.report import Report
from ..validation.rule import rule
from .compiled_operator import IDMLCompiledOperator
from .objects import SAME_DEVICE, IDMLDispatchable
from .removal import hresult_method, same_device

if TYPE_CHECKING:
    from .device import IDMLDevice


COUNT = rule(
    "DML-OperatorInitializer-count",
    "operatorCount is the number of operators given",
    "nf-directml-idmldevice-createoperatorinitializer",
)
IN_FLIGHT = rule(
    "DML-OperatorInitializer-in-flight",
    "An initializer is not reset before its recorded dispatches have executed",
    "nf-directml-idmloperatorinitializer-reset",
    debug=True,
)


class BoundInitializer(NamedTuple):
    """Per operator: its owned inputs (None where nothing is bound) and its persistent resource."""

    inputs: Sequence[Sequence[BufferRange | None]]
    outputs: Sequence[BufferRange | None]


def read_operators(device: IDMLDevice, first: Any, second: Any, method: str) -> list[IDMLCompiledOperator]:
    """The compiled operators of ``(operatorCount, operators)`` or of ``(operators)`` alone."""
    operators = [] if first is None else counted(first, second, "operatorCount", "operators", COUNT)
    report = Report()
    for index, op in enumerate(operators):
        same_device(IDMLCompiledOperator, op, f"operators[{index}]", device, report, SAME_DEVICE)
    device.removal.report(f"{method} failed:", report)
    return operators


class IDMLOperatorInitializer(IDMLDispatchable):
    """Initializes compiled operators (nn-directml-idmloperatorinitializer)."""

    IID = IID_IDMLOperatorInitializer

    def __init__(self, device: IDMLDevice, operators: list[IDMLCompiledOperator]) -> None:
        super().__init__(device)
        self.operators = tuple(operators)

    @hresult_method
    def Reset(self, operatorCount: Any = 0, operators: Any = None) -> None:
        """Take other operators, as ``(count, operators)`` or ``(operators)``; none makes dispatching a no-op."""
        self.operators = tuple(read_operators(self.device, operatorCount, operators, "Reset"))

    def report_reset(self) -> None:
        """Say that the initializer was reset while a dispatch was under way; the dispatch does as recorded."""
        report = Report()
        name = f" {self.name!r}" if self.name else ""
        report.add(
            IN_FLIGHT,
            f"the dispatch of an operator initializer{name}",
            "executes after Reset gave the initializer other operators than it was recorded with",
        )
        self.removal.notify(report)

    def GetBindingProperties(self) -> DML_BINDING_PROPERTIES:
        count = sum(
            sum(need is not None for need in op.owned_needs) + bool(op.persistent_size)
            for op in self.operators
        )
        # At least one, so that a heap and a table for the initializer alone can be made in every case.
        return DML_BINDING_PROPERTIES(max(1, count), 0, 0)

    def prepare(self, bound: BoundInitializer) -> Callable[[], None]:
        """A call that initializes the operators with the bound memory."""
        operators = self.operators
        work = list(zip(operators, bound.inputs, bound.outputs))
        # A recorded dispatch keeps an initializer no more alive than Windows does.
        this = weakref.ref(self)

        def initialize() -> None:
            initializer = this()
            if initializer is not None and initializer.operators is not operators:
                initializer.report_reset()
            for op, inputs, persistent in work:
                op.initialize(inputs, persistent)

        return initialize
