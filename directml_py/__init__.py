"""directml-py: DirectML's structs, object model and operators in Python, on any machine.

Everything that a port of a DirectML program needs is here, under its C name.
"""

from ._version import __version__
from .api import d3d12_enums, d3d12_structs, enums, hresult, iids, operator_descs, structs, wintypes
from .api.d3d12_enums import *
from .api.d3d12_structs import *
from .api.enums import *
from .api.hresult import *
from .api.iids import *
from .api.interface import IUnknown
from .api.operator_descs import *
from .api.structs import *
from .api.wintypes import *
from .d3d12 import *
from .d3d12 import __all__ as _d3d12_names
from .descs import (
    DMLCalcBufferTensorSize,
    OperatorDesc,
    TensorDesc,
    decode_operator_desc,
    decode_struct,
    encode,
    tensor_desc,
)
from .dml import *
from .dml import __all__ as _dml_names
from .evaluate import evaluate, validate
from .validation import Diagnostic, Severity

__all__ = [
    "DMLCalcBufferTensorSize",
    "Diagnostic",
    "IUnknown",
    "OperatorDesc",
    "Severity",
    "TensorDesc",
    "__version__",
    "decode_operator_desc",
    "decode_struct",
    "encode",
    "evaluate",
    "tensor_desc",
    "validate",
]
__all__ += enums.__all__
__all__ += structs.__all__
__all__ += operator_descs.__all__
__all__ += d3d12_enums.__all__
__all__ += d3d12_structs.__all__
__all__ += hresult.__all__
__all__ += iids.__all__
__all__ += wintypes.__all__
__all__ += _d3d12_names
__all__ += _dml_names
