"""DirectMLX with the names, argument order and defaults of C++.

After ``from directml_py.graph.directmlx import *``, C++'s ``dml::Gemm(a, b)`` is ``Gemm(a, b)``, and
``dml::GemmBuilder(a, b).Alpha(2).Build()`` is ``GemmBuilder(a, b).Alpha(2).Build()``. Lists that are empty or None get
C++'s defaults. Errors are those of the methods of ``Graph``, which do the work.
"""

from __future__ import annotations

from typing import Any, Optional

from ...descs.tensor_size import DMLCalcBufferTensorSize
from .. import CompiledGraph, Expression
from . import special as _special
from .fused_activations import FusedActivation
from .objects import (
    Byte,
    Graph,
    NameScope,
    NullOpt,
    SmallVector,
    Span,
    StringView,
    TensorDesc,
    TensorDimensions,
    TensorPolicy,
    TensorProperties,
    TensorStrides,
)
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

__all__ = [
    "Byte",
    "CompiledGraph",
    "DMLCalcBufferTensorSize",
    "Expression",
    "FusedActivation",
    "Graph",
    "NameScope",
    "NullOpt",
    "Optional",
    "SmallVector",
    "Span",
    "StringView",
    "TensorDesc",
    "TensorDimensions",
    "TensorPolicy",
    "TensorProperties",
    "TensorStrides",
    *_functions,
]
