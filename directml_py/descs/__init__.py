"""Raw memory to immutable values, and back."""

from ..abi.structure import Structure
from .decode import Decoded, Fault, decode_operator_desc, decode_struct, describe_struct
from .encode import encode, encode_tensor, tensor_desc
from .sizes import DMLCalcBufferTensorSize
from .tensor import TensorDesc
from .values import OperatorDesc, Record, Scalar, TensorSlot

__all__ = [
    "DMLCalcBufferTensorSize",
    "Decoded",
    "Fault",
    "OperatorDesc",
    "Record",
    "Scalar",
    "TensorDesc",
    "TensorSlot",
    "decode_operator_desc",
    "decode_struct",
    "encode",
    "encode_tensor",
    "tensor_desc",
]

Structure.describe = staticmethod(describe_struct)
