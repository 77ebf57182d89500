"""DirectMLX's ``FusedActivation``."""

from __future__ import annotations

from typing import Any

from ...descs.build import build_operator_desc
from ...descs.operator_desc import OperatorDesc
from ...operators import SCHEMAS
from .function_declarations import ACTIVATIONS, FUSED_ALONE


class FusedActivation:
    """``FusedActivation.Relu()``, ``FusedActivation.LeakyRelu(0.2)``; ``FusedActivation()`` is none.

    ``desc`` is the form that the graph builder takes. Raises ``TypeError`` for parameters that the activation lacks.
    """

    def __init__(self, desc: OperatorDesc | None = None) -> None:
        self.desc = desc

    def __repr__(self) -> str:
        return f"FusedActivation({'' if self.desc is None else self.desc})"


def _maker(name: str, parameters: str) -> Any:
    operator = next(
        candidate for candidate in SCHEMAS if candidate.replace("_", "") == f"ACTIVATION{name.upper()}"
    )
    schema = SCHEMAS[operator]
    defaults = dict(word.partition("=")[::2] for word in parameters.split())

    def make(*arguments: float, **keywords: float) -> FusedActivation:
        given = {parameter: float(value) for parameter, value in defaults.items() if value}
        if len(arguments) > len(defaults):
            raise TypeError(f"FusedActivation.{name} takes {len(defaults)} parameters, not {len(arguments)}")
        given |= dict(zip(defaults, arguments)) | keywords
        wrong = given.keys() ^ defaults.keys()
        if wrong:
            state = "has no" if wrong & given.keys() else "needs"
            raise TypeError(f"FusedActivation.{name} {state} parameter {min(wrong)}")
        values = {parameter.capitalize(): value for parameter, value in given.items()}
        return FusedActivation(build_operator_desc(schema, values))

    make.__name__ = name
    make.__qualname__ = f"FusedActivation.{name}"
    make.__doc__ = f"{schema.type_name}({', '.join(parameters.split())})."
    return staticmethod(make)


for _name in FUSED_ALONE:
    setattr(FusedActivation, _name, _maker(_name, ""))
for _line in ACTIVATIONS.strip().splitlines():
    _name, _parameters = _line.split(":")
    setattr(FusedActivation, _name, _maker(_name, _parameters))
