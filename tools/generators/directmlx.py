"""``directml_py/graph/directmlx/__init__.pyi`` and ``fused_activations.pyi``: DirectMLX's functions for type checkers.

Like the methods of ``Graph``, which they call, they are created from a table when the package is imported.
"""

from __future__ import annotations

import inspect
import re

from .graph_functions import written
from .python_text import PYTHON_NOTICE, listing

HEAD = """
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, Optional

from ...abi.fields import Integer, Real
from ...api.enums import {enums}
from ...descs.data_types import DataTypeLike
from ...descs.tensor_size import DMLCalcBufferTensorSize
from .. import CompiledGraph, Expression
from ..functions import ScalarValue, ScaleBias, Size2D
from .fused_activations import FusedActivation
from .objects import {objects}
from .special import {special}

# The type, within classes that have a method of its name.
_FusedActivation = FusedActivation
"""
ACTIVATIONS_HEAD = """
from ...api.enums import DML_OPERATOR_TYPE
from ...descs.operator_desc import OperatorDesc

class FusedActivation:
    activation: DML_OPERATOR_TYPE
    param1: float
    param2: float
    def __init__(self, activation: int = ..., param1: float = ..., param2: float = ...) -> None: ...
    @property
    def desc(self) -> OperatorDesc | None: ...
    @staticmethod
    def None_() -> FusedActivation: ...
"""


def generate() -> dict[str, str]:
    """Uses the package on the path."""
    from directml_py.graph import directmlx
    from directml_py.graph.directmlx import objects
    from directml_py.graph.directmlx.function_declarations import BUILDERS, rows
    from directml_py.graph.directmlx.operators import STRUCT_TYPES, OperatorFunction
    from directml_py.graph.operator_functions import OperatorMethod, method_names
    from directml_py.operators import SCHEMAS

    # Handwritten functions have annotations, too.
    special = [name for name in directmlx.__all__ if is_special(getattr(directmlx, name))]
    handwritten = sorted(
        {name for name in directmlx.__all__ if hasattr(objects, name)} - {"Expression", "CompiledGraph"}
    )
    functions = {one.name: one for one in map(OperatorFunction, rows()) if one.name not in special}
    lines, builders = list[str](), list[str]()
    for name, kind in STRUCT_TYPES.items():
        # Some hide a method of tuples, as they do at run time.
        hiding = {field: "  # type: ignore[assignment]" for field in kind._fields if hasattr(tuple, field)}
        fields = [f"    {field}: Expression | Any{hiding.get(field, '')}" for field in kind._fields]
        lines += [f"class {name}(NamedTuple):", *fields, ""]
    for name, function in functions.items():
        method = OperatorMethod(SCHEMAS[method_names()[function.method]])
        annotations = {one.name: str(one.annotation) for one in method.signature.parameters.values()}
        shown = [
            f"{one.name}: {parameter(one, annotations.get(function.targets[one.name][0], ''))}"
            for one in function.signature.parameters.values()
        ]
        is_list = method.outputs[0].kind == "array"
        plain = "list[Expression]" if is_list else "Expression"
        returns = plain if function.struct is None else function.struct.__name__
        lines.append(f"def {name}({', '.join(shown)}) -> {returns}: ...")
        if name in BUILDERS:
            builders += builder(name, shown, returns)
    lines += builders
    text = "\n".join(lines)
    enums = sorted(set(re.findall(r"\bDML_[A-Z_]+\b(?= \| Integer)", text)))
    docstring = '"""What a type checker knows of DirectMLX\'s functions."""'
    head = HEAD.format(enums=", ".join(enums), special=", ".join(special), objects=", ".join(handwritten))
    activations = [
        f"    @staticmethod\n    def {name}({', '.join(parameters)}) -> FusedActivation: ..."
        for name, parameters in activation_makers().items()
    ]
    about = '"""What a type checker knows of ``FusedActivation``."""'
    return {
        "directml_py/graph/directmlx/__init__.pyi": "\n".join(
            [PYTHON_NOTICE, docstring, head, *listing(directmlx.__all__), text, ""]
        ),
        "directml_py/graph/directmlx/fused_activations.pyi": "\n".join(
            [PYTHON_NOTICE, about, ACTIVATIONS_HEAD, *activations, ""]
        ),
    }


def builder(name: str, parameters: list[str], returns: str) -> list[str]:
    """The class whose setters are the function's optional parameters."""
    from directml_py.graph.directmlx.function_declarations import BUILDERS

    class_name = f"{name}Builder"
    count = next(index for index, one in enumerate(parameters, 1) if one.startswith(f"{BUILDERS[name]}:"))
    lines = [f"class {class_name}:", f"    def __init__(self, {', '.join(parameters[:count])}) -> None: ..."]
    for one in parameters[count:]:
        argument, _, annotation = one.removesuffix(" = ...").partition(": ")
        annotation = re.sub(r"\bFusedActivation\b", "_FusedActivation", annotation)
        lines.append(
            f"    def {argument[0].upper()}{argument[1:]}(self, value: {annotation}) -> {class_name}: ..."
        )
    return [*lines, f"    def Build(self) -> {returns}: ...", ""]


def is_special(value: object) -> bool:
    return str(getattr(value, "__module__", "")).endswith(".directmlx.special")


def parameter(one: inspect.Parameter, annotation: str) -> str:
    """The type and default of one parameter; lists that are filled in have the default ``...``."""
    if one.name == "graph":
        text = "Graph"
    elif not annotation:
        # The arguments from which lists of scales are filled in.
        text = "Sequence[Integer]"
    else:
        text = re.sub(r"\bActivation\b", "FusedActivation", written(annotation, one.name))
    if one.default is one.empty:
        return text
    return f"{text if 'None' in text else f'{text} | None'} = ..."


def activation_makers() -> dict[str, list[str]]:
    """The parameters of the functions that create a FusedActivation."""
    from directml_py.graph.directmlx.function_declarations import ACTIVATIONS, FUSED_ALONE

    makers: dict[str, list[str]] = {name: [] for name in FUSED_ALONE}
    for line in ACTIVATIONS.strip().splitlines():
        name, _, words = line.partition(":")
        makers[name] = [
            f"{word.partition('=')[0]}: float{' = ...' if '=' in word else ''}" for word in words.split()
        ]
    return makers
