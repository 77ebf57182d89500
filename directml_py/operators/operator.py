"""What every executing operator is, and where to find it by name."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeVar

import numpy as np
import numpy.typing as npt

from ..descs.decode import decode_operator_desc
from ..descs.values import OperatorDesc
from ..validation.operator import check_operator
from ..validation.report import Report
from ..validation.rule import Rule, rule

Array = npt.NDArray[Any]
Inputs = Sequence[Any]
Outputs = Sequence[Array]
Kernel = Callable[..., None]


class Operator:
    """One DML_OPERATOR_NAME: the rules that no table can say, and the arithmetic."""

    name: ClassVar[str]

    def constrain(self, desc: OperatorDesc, report: Report) -> None:
        """Report what breaks the operator's own rules.

        Called only if every required tensor is there and has a shape; ranks and types may still disagree.
        """

    def kernel(self, desc: OperatorDesc) -> Kernel:
        """A callable ``(inputs, outputs)`` over NumPy views, or ``(inputs, outputs, scratch)`` if ``scratch`` is
        not 0; chosen now, run many times. Absent optional inputs are None; output views may be strided."""
        raise NotImplementedError

    def inspect(self, desc: OperatorDesc, inputs: Inputs, report: Report) -> None:
        """Report what the values of the inputs break. Asked under the debug layer alone, before the kernel runs."""

    def scratch(self, desc: OperatorDesc) -> int:
        """Bytes of temporary memory that the kernel takes as its third argument, a uint8 array."""
        return 0


OPERATORS: dict[str, Operator] = {}
T = TypeVar("T", bound=type[Operator])


def operator(name: str) -> Callable[[T], T]:
    """Class decorator: registers the operator DML_OPERATOR_``name``."""

    def register(kind: T) -> T:
        kind.name = name
        OPERATORS[name] = kind()
        return kind

    return register


def own_rule(operator: str, name: str, text: str) -> Rule:
    """Declare the rule ``DML-OPERATOR-name``, which the operator's page states."""
    return rule(f"DML-{operator}-{name}", text, f"ns-directml-dml_{operator.lower()}_operator_desc")


def check(value: object, level: int, name: str = "desc") -> tuple[OperatorDesc | None, Report]:
    """Decode an operator desc and report everything that is wrong with it at feature level ``level``.

    Raises ``TypeError`` naming ``name`` for what is no desc at all.
    """
    desc, faults = decode_operator_desc(value, name)
    report = Report()
    if check_operator(desc, faults, level, report):
        known = OPERATORS.get(desc.name)
        if known is not None:
            known.constrain(desc, report)
    return desc, report


def as_float(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """FLOAT16 as FLOAT32, in which it is computed; anything else as it is."""
    return array.astype(np.float32) if array.dtype == np.float16 else array
