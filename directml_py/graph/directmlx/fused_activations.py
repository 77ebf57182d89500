"""DirectMLX's ``FusedActivation``."""

from __future__ import annotations

from typing import Any

from ...abi.arguments import enumerator
from ...api.enums import DML_OPERATOR_INVALID, DML_OPERATOR_TYPE
from ...descs.build import build_operator_desc
from ...descs.operator_desc import OperatorDesc
from ...operators import SCHEMAS
from .function_declarations import ACTIVATIONS, FUSED_ALONE


class FusedActivation:
    """``FusedActivation.Relu()``, ``FusedActivation.LeakyRelu(0.2)``, or any other by its DML_OPERATOR_TYPE, with up to
    two parameters in the order of its struct; ``FusedActivation()`` and ``FusedActivation.None_()`` are none.

    ``desc`` is the form that the graph builder takes. Raises ``TypeError`` for parameters that the activation lacks.
    """

    def __init__(
        self, activation: int = DML_OPERATOR_INVALID, param1: float = 0.0, param2: float = 0.0
    ) -> None:
        self.activation = enumerator(activation, DML_OPERATOR_TYPE, "FusedActivation: activation")
        self.param1 = param1
        self.param2 = param2

    @property
    def desc(self) -> OperatorDesc | None:
        """The operator desc; None if there is no activation. Raises ``ValueError`` for one that has no struct."""
        if self.activation == DML_OPERATOR_INVALID:
            return None
        schema = SCHEMAS.get(self.activation.name.removeprefix("DML_OPERATOR_"))
        if schema is None:
            raise ValueError(f"FusedActivation: {self.activation.name} has no struct")
        fields = [entry.name for entry in schema.struct.fields if entry.kind == "float"]
        return build_operator_desc(schema, dict(zip(fields, (self.param1, self.param2))))

    def __repr__(self) -> str:
        return f"FusedActivation({'' if self.desc is None else self.desc})"


def _maker(name: str, parameters: str) -> Any:
    operator = next(
        candidate for candidate in SCHEMAS if candidate.replace("_", "") == f"ACTIVATION{name.upper()}"
    )
    schema = SCHEMAS[operator]
    defaults = dict(word.partition("=")[::2] for word in parameters.split())

    def make(*arguments: float, **keywords: float) -> FusedActivation:
        values = {parameter: float(value) for parameter, value in defaults.items() if value}
        if len(arguments) > len(defaults):
            raise TypeError(f"FusedActivation.{name} takes {len(defaults)} parameters, not {len(arguments)}")
        values |= dict(zip(defaults, arguments)) | keywords
        wrong = values.keys() ^ defaults.keys()
        if wrong:
            state = "has no" if wrong & values.keys() else "needs"
            raise TypeError(f"FusedActivation.{name} {state} parameter {min(wrong)}")
        return FusedActivation(schema.value, *(values[parameter] for parameter in defaults))

    make.__name__ = name
    make.__qualname__ = f"FusedActivation.{name}"
    make.__doc__ = f"{schema.type_name}({', '.join(parameters.split())})."
    return staticmethod(make)


def _none() -> FusedActivation:
    """No activation: C++'s FusedActivation::None(), whose name is a keyword of Python."""
    return FusedActivation()


for _name in ("None", "None_"):
    setattr(FusedActivation, _name, staticmethod(_none))
for _name in FUSED_ALONE:
    setattr(FusedActivation, _name, _maker(_name, ""))
for _line in ACTIVATIONS.strip().splitlines():
    _name, _parameters = _line.split(":")
    setattr(FusedActivation, _name, _maker(_name, _parameters))
