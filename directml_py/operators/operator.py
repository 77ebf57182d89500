"""What every executing operator is, and where to find it by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from ..descs.decode import decode_operator_desc
from ..descs.values import OperatorDesc
from ..kernels.binding import Array, Run
from ..kernels.copy import copies
from ..validation.operator import check_operator
from ..validation.report import Report
from ..validation.rule import Diagnostic, Rule, rule
from ..validation.support import PROPERTIES, applies

R = TypeVar("R")
Inputs = Sequence[Any]
Outputs = Sequence[Array]
Kernel = Callable[..., Run]
Place = tuple[slice, ...]


class Move(NamedTuple):
    """A part of an input tensor that becomes a part of an output tensor; an empty place is the whole tensor."""

    input: int
    input_place: Place
    output: int
    output_place: Place


def moving_kernel(moves: Sequence[Move]) -> Kernel:
    """The kernel of an operator that does nothing but move data."""

    def bind(inputs: Inputs, outputs: Outputs) -> Run:
        return copies(
            [
                (outputs[entry.output][entry.output_place], inputs[entry.input][entry.input_place])
                for entry in moves
            ]
        )

    return bind


class Shape(NamedTuple):
    """What an output tensor must be; how it lies in memory is the caller's choice."""

    data_type: int
    sizes: tuple[int, ...]


Shapes = Mapping[str, "Shape | tuple[Shape, ...]"]


class Operator:
    """One DML_OPERATOR_NAME: the rules that no table can say, and the arithmetic."""

    name: ClassVar[str]

    def constrain(self, desc: OperatorDesc, report: Report) -> None:
        """Report what breaks the operator's own rules.

        Called only if every required tensor is there and has a shape; ranks and types may still disagree.
        """

    def moves(self, desc: OperatorDesc) -> Sequence[Move] | None:
        """What goes where, if the operator only moves data; None if it computes. Graphs need not copy what moves."""
        return None

    def infer(self, desc: OperatorDesc, *args: Any, **kwargs: Any) -> Shapes:
        """What each output tensor must be, by field, from the inputs and attributes of ``desc`` alone.

        An output that the catalog says has the data type and sizes of an input gets them here. Keyword parameters of
        an override are what a desc says through its outputs alone. If inputs or attributes break a rule, what is
        inferred is for the rules to refuse; an output that does not follow from the inputs is left out.
        """
        shapes: dict[str, Shape | tuple[Shape, ...]] = {}
        for entry in desc.struct.tensors:
            if entry.role != "output" or entry.kind != "pointer" or entry.optional:
                continue
            data_type, sizes = required(desc, entry.name, "DataType"), required(desc, entry.name, "Sizes")
            if data_type is not None and sizes is not None:
                shapes[entry.name] = Shape(data_type, sizes)
        return shapes

    def kernel(self, desc: OperatorDesc) -> Kernel:
        """A callable ``(inputs, outputs)`` over NumPy views, or ``(inputs, outputs, scratch)`` if ``scratch`` is
        not 0, that binds them and gives the call which computes; chosen now, bound once for each recorded dispatch,
        run many times. Absent optional inputs are None; output views may be strided."""
        raise NotImplementedError

    def inspect(self, desc: OperatorDesc, inputs: Inputs, report: Report) -> None:
        """Report what the values of the inputs break. Asked under the debug layer alone, before the kernel runs."""

    def scratch(self, desc: OperatorDesc) -> int:
        """Bytes of temporary memory that the kernel takes as its third argument, a uint8 array."""
        return 0


def required(desc: OperatorDesc, output: str, name: str) -> Any:
    """The property (``DataType``, ``Sizes``) that the catalog says ``output`` shares with an input tensor; or None."""
    for entry in desc.schema.same:
        if output not in entry.fields or name not in entry.properties or not applies(entry, desc):
            continue
        for slot in desc.inputs:
            if slot.field in entry.fields and slot.tensor is not None:
                return getattr(slot.tensor, PROPERTIES[name][0])
    return None


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
    if desc is None or faults:
        check_operator(desc, faults, level, report)
    else:
        desc, found = checked(desc, level)
        report.diagnostics += found
    return desc, report


def once_for_equals(function: Callable[..., R]) -> Callable[..., R]:
    """``function`` of an OperatorDesc, and of values beside it, worked out once for equal arguments and remembered.

    Programs describe the same few operators again and again. Where equal values can still differ, as 0.0 and -0.0 do,
    nothing is remembered.
    """
    remembered = lru_cache(maxsize=1024)(function)

    def call(desc: OperatorDesc, *beside: int) -> R:
        return remembered(desc, *beside) if desc.struct.is_exact else function(desc, *beside)

    return call


@once_for_equals
def checked(desc: OperatorDesc, level: int) -> tuple[OperatorDesc, tuple[Diagnostic, ...]]:
    """Everything that is wrong with ``desc`` at ``level``, and the first of the descs that are equal to it."""
    report = Report()
    if check_operator(desc, (), level, report) and desc.name in OPERATORS:
        OPERATORS[desc.name].constrain(desc, report)
    return desc, tuple(report.diagnostics)


@once_for_equals
def kernel_of(desc: OperatorDesc) -> Kernel:
    """The kernel of an operator that executes."""
    return OPERATORS[desc.name].kernel(desc)


def as_float(array: Array) -> Array:
    """FLOAT16 as FLOAT32, in which it is computed; anything else as it is."""
    return array.astype(np.float32) if array.dtype == np.float16 else array
