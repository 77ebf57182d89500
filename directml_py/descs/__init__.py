"""Decoding of descs from raw memory to immutable values, and encoding back."""

from .decode import Decoded, Fault, decode_operator_desc, decode_struct
from .encode import encode, encode_tensor, tensor_desc
from .operator_desc import OperatorDesc, Record, Scalar, TensorSlot
from .tensor import TensorDesc
from .tensor_size import DMLCalcBufferTensorSize

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
