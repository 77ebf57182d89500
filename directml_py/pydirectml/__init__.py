"""Microsoft's ``pydirectml`` (``Python/src`` of microsoft/DirectML), over the graph builder: a drop-in.

``install()`` makes ``import pydirectml`` find this module, and ``import directml`` that of the fork aisk/PyDirectML
(``directml_py.pydirectml.fork``); ``python -m directml_py run SCRIPT`` runs a script so. What does not work in
Microsoft's build works here: both properties of TensorPolicy, data of other types than FLOAT32, empty expressions
(which raise). A failing HRESULT is a ``DMLError``, which is a ``RuntimeError``.
"""

from __future__ import annotations

from .devices import Binding, Device, GraphBuilder, Model
from .enums import (
    ConvolutionDirection,
    ConvolutionMode,
    ExecutionFlags,
    InterpolationMode,
    MatrixTransform,
    OperatorType,
    OutputOptions,
    PaddingMode,
    RecurrentNetworkDirection,
    TensorDataType,
    TensorFlags,
    exported,
)
from .expressions import Expression, FusedActivation, GRUOutputs, MaxPoolingOutputs
from .functions import (
    activation_identity,
    activation_linear,
    activation_relu,
    activation_sigmoid,
    activation_soft_max,
    activation_tanh,
    add,
    average_pooling,
    batch_normalization,
    convolution,
    divide,
    gather,
    gemm,
    gru,
    input_tensor,
    join,
    local_response_normalization,
    max_pooling,
    mean_variance_normalization,
    multiply,
    padding,
    reinterpret,
    slice,
    subtract,
    up_sample_2d,
    value_scale_2d,
)
from .installation import install
from .tensors import Dimensions, Size2D, TensorData, TensorDesc, TensorPolicy

__all__ = [
    "Binding",
    "ConvolutionDirection",
    "ConvolutionMode",
    "Device",
    "Dimensions",
    "ExecutionFlags",
    "Expression",
    "FusedActivation",
    "GRUOutputs",
    "GraphBuilder",
    "InterpolationMode",
    "MatrixTransform",
    "MaxPoolingOutputs",
    "Model",
    "OperatorType",
    "OutputOptions",
    "PaddingMode",
    "RecurrentNetworkDirection",
    "Size2D",
    "TensorData",
    "TensorDataType",
    "TensorDesc",
    "TensorFlags",
    "TensorPolicy",
    "activation_identity",
    "activation_linear",
    "activation_relu",
    "activation_sigmoid",
    "activation_soft_max",
    "activation_tanh",
    "add",
    "average_pooling",
    "batch_normalization",
    "convolution",
    "divide",
    "gather",
    "gemm",
    "gru",
    "input_tensor",
    "install",
    "join",
    "local_response_normalization",
    "max_pooling",
    "mean_variance_normalization",
    "multiply",
    "padding",
    "reinterpret",
    "slice",
    "subtract",
    "up_sample_2d",
    "value_scale_2d",
]

globals().update(exported())
