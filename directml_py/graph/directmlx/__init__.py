"""DirectMLX's functions under their C++ names, with its order of arguments and its defaults, on expressions.

After ``from directml_py.graph.directmlx import *``, C++'s ``dml::Gemm(a, b)`` is ``Gemm(a, b)``. A list that is empty
or None is filled in as in C++. Errors are those of the functions of ``Graph``, which do the work.
"""

from __future__ import annotations

from typing import Any

from ...descs.tensor import TensorDesc
from .. import CompiledGraph, Expression, Graph
from . import special as _special
from .fused_activations import FusedActivation
from .operators import STRUCT_TYPES as _STRUCTS
from .operators import plain_functions as _plain_functions

_functions: dict[str, Any] = {
    **_plain_functions(),
    **{
        name: getattr(_special, name)
        for name in (
            "ActivationSoftmax",
            "Add",
            "ConstantData",
            "GRU",
            "GRUOutputOptions",
            "InputTensor",
            "Pow",
            "Reinterpret",
            "RoiAlign",
            "RoiAlignGrad",
        )
    },
    **_STRUCTS,
}
globals().update(_functions)

__all__ = ["CompiledGraph", "Expression", "FusedActivation", "Graph", "TensorDesc", *_functions]
