"""The FlatBuffers schema of serialized graphs: slots of tables, and kinds of attribute values."""

from __future__ import annotations

from ..abi.schema import FieldSchema

OPERATOR_PREFIX = "DML_OPERATOR_"

ROOT_NODES, ROOT_INPUTS, ROOT_OUTPUTS = range(3)
NODE_KIND, NODE_DESC, NODE_NAME, NODE_INPUTS, NODE_OUTPUTS = range(5)
OPERATOR_NODE, CONSTANT_NODE = 1, 2
OPERATOR_TYPE, OPERATOR_INPUTS, OPERATOR_OUTPUTS, OPERATOR_ATTRIBUTES = range(4)
TENSOR_TYPE, TENSOR_SIZES, TENSOR_STRIDES, TENSOR_TOTAL = range(4)
CONSTANT_KIND, CONSTANT_DATA = range(2)
CONSTANT_BY_NAME, CONSTANT_BYTES = 1, 2
ATTRIBUTE_NAME, ATTRIBUTE_KIND, ATTRIBUTE_VALUE = range(3)
ACTIVATION_TYPE, ACTIVATION_ATTRIBUTES = range(2)
SCALAR_KIND, SCALAR_DATA = range(2)
SCALAR_BYTES = 1

ACTIVATION, ACTIVATIONS, UINT32, UINT64, INT32, FLOAT32 = range(1, 7)
UINT_ARRAY, INT_ARRAY, FLOAT_ARRAY, SCALE_BIAS, SIZE_2D, SCALAR, BOOL = range(7, 14)

# The memory layout of each kind, as ``struct`` format codes.
NUMBERS = {UINT32: "I", UINT64: "Q", INT32: "i", FLOAT32: "f", BOOL: "B"}
ARRAYS = {UINT_ARRAY: "I", INT_ARRAY: "i", FLOAT_ARRAY: "f"}
STRUCTS = {SCALE_BIAS: "ff", SIZE_2D: "II"}

_BY_TYPE = {
    "UINT": UINT32,
    "UINT64": UINT64,
    "INT": INT32,
    "FLOAT": FLOAT32,
    "BOOL": BOOL,
    "DML_SCALE_BIAS": SCALE_BIAS,
    "DML_SIZE_2D": SIZE_2D,
    "DML_SCALAR_UNION": SCALAR,
    "DML_OPERATOR_DESC": ACTIVATION,
}
_BY_ELEMENT = {
    "UINT": UINT_ARRAY,
    "INT": INT_ARRAY,
    "FLOAT": FLOAT_ARRAY,
    "DML_OPERATOR_DESC": ACTIVATIONS,
}


def kind_of(entry: FieldSchema) -> int:
    """The kind of an attribute's value; enumerators and flags are UINTs."""
    if entry.kind == "array":
        return _BY_ELEMENT[entry.type]
    return UINT32 if entry.kind in ("enum", "flags") else _BY_TYPE[entry.type]
