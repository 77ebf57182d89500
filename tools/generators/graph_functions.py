"""``directml_py/graph/functions.pyi``: the methods of ``Graph``, which are created at run time, for type checkers.

Their signatures follow from the catalog and the operators' shape inference, so this generator imports the package (see
``from_package``).
"""

from __future__ import annotations

import inspect
import re

from .python_text import PYTHON_NOTICE

# Replacements in the annotations that users see.
WORDS = {
    "int": "Integer",
    "float": "Real",
    "DML_SCALE_BIAS": "ScaleBias",
    "DML_SIZE_2D": "Size2D",
    "DML_SCALAR_UNION": "ScalarValue",
    "DML_TENSOR_DATA_TYPE": "DataTypeLike",
    "OperatorDesc": "Activation",
}
HEAD = """
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

from ..abi.fields import Integer, Real, Reference
from ..abi.structure import TypedOperatorDesc
from ..api.enums import {enums}
from ..api.structs import DML_OPERATOR_DESC, DML_SCALAR_UNION, DML_SCALE_BIAS, DML_SIZE_2D
from ..descs.data_types import DataTypeLike
from ..descs.tensor import TensorDesc
from ..descs.operator_desc import OperatorDesc, Record, Scalar
from .expression import Expression

ScaleBias: TypeAlias = DML_SCALE_BIAS | Record | tuple[Real, Real]
Size2D: TypeAlias = DML_SIZE_2D | Record | tuple[Integer, Integer]
ScalarValue: TypeAlias = DML_SCALAR_UNION | Scalar | bytes | Real
Activation: TypeAlias = OperatorDesc | DML_OPERATOR_DESC | TypedOperatorDesc | Reference

{results}
class Functions:
    \"\"\"One function for each operator.\"\"\"
"""


def generate() -> dict[str, str]:
    """Uses the package on the path."""
    from directml_py.graph.operator_functions import OperatorMethod, argument_name, method_names
    from directml_py.operators import SCHEMAS

    methods = {name: OperatorMethod(schema) for name, schema in SCHEMAS.items()}
    results, body = [], []
    for method in methods.values():
        outputs = [(argument_name(one), one) for one in method.outputs]
        returns = "list[Expression]" if outputs[0][1].kind == "array" else "Expression"
        if len(outputs) > 1:
            returns = "".join(word.title() for word in method.name.split("_")) + "Outputs"
            results += [
                f"class {returns}(NamedTuple):",
                # A requested output is an Expression, one that is not requested is None: only the caller knows which.
                *(
                    f"    {name}: {'Expression | Any' if one.optional else 'Expression'}"
                    for name, one in outputs
                ),
                "",
            ]
        body += [
            f"    def {method.name}(self, {parameters(method.signature)}) -> {returns}:",
            f'        """{method.schema.about}',
            "",
            f"        Its desc is {method.schema.struct.name}.",
            '        """',
        ]
    method_of = {name: method.name for name, method in methods.items()}
    body += [
        f"    {name} = {method_of[operator]}"
        for name, operator in method_names().items()
        if name != method_of[operator]
    ]
    text = "\n".join(body)
    head = HEAD.format(
        enums=", ".join(sorted(set(re.findall(r"\bDML_[A-Z_]+\b(?= \| Integer)", text)))),
        results="\n".join(results),
    )
    docstring = '"""What a type checker knows of the functions that ``Graph`` has for operators."""'
    return {"directml_py/graph/functions.pyi": "\n".join([PYTHON_NOTICE, docstring, head, text]) + "\n"}


def parameters(signature: inspect.Signature) -> str:
    parts = []
    named = False
    for one in signature.parameters.values():
        if one.kind is one.KEYWORD_ONLY and not named:
            parts.append("*")
            named = True
        default = "" if one.default is one.empty else f" = {one.default!r}"
        parts.append(f"{one.name}: {written(str(one.annotation), one.name)}{default}")
    return ", ".join(parts)


def written(annotation: str, name: str) -> str:
    """The accepted types for an annotation: NumPy numbers too, and plain tuples for structs."""
    if name == "outputs":
        return annotation
    text = re.sub(r"\w+", lambda match: WORDS.get(match[0], match[0]), annotation)
    text = re.sub(r"\bSequence(?=\[(Integer|Real|Activation)\]$)", "Iterable", text)
    return re.sub(r"\bDML_\w+", r"\g<0> | Integer", text)
