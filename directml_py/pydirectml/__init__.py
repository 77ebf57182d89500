"""Drop-in replacement for Microsoft's ``pydirectml`` (``Python/src`` of microsoft/DirectML), over the graph builder.

``install()`` makes ``import pydirectml`` find this module, and ``import directml`` that of the fork aisk/PyDirectML
(``directml_py.pydirectml.fork``); ``python -m directml_py run SCRIPT`` runs a script that way. What does not work in
Microsoft's build works here: both properties of TensorPolicy, data types other than FLOAT32, empty expressions
(which raise). A failing HRESULT is a ``DMLError``, which is a ``RuntimeError``.
"""

from __future__ import annotations

from . import common
from .common import *
from .devices import Binding, Device
from .enumerations import OperatorType, exported
from .expressions import FusedActivation, GRUOutputs, MaxPoolingOutputs
from .expressions import MutableExpression as Expression
from .installation import install
from .module_functions import (
    activation_soft_max,
    average_pooling,
    batch_normalization,
    gru,
    join,
    max_pooling,
    mean_variance_normalization,
    padding,
    reinterpret,
)
from .tensor_data import Dimensions

__all__ = [
    "Binding",
    "Device",
    "Dimensions",
    "Expression",
    "FusedActivation",
    "GRUOutputs",
    "MaxPoolingOutputs",
    "OperatorType",
    "activation_soft_max",
    "average_pooling",
    "batch_normalization",
    "gru",
    "install",
    "join",
    "max_pooling",
    "mean_variance_normalization",
    "padding",
    "reinterpret",
]
__all__ += common.__all__
__all__ += exported()

globals().update(exported())
