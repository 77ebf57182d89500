"""Every operator desc, filled with random valid values, is decoded from memory unchanged.

The values are drawn from the schema as plain Python data. They are written to memory by plain ctypes classes of this
file, which share nothing with the package but the catalog's field names and C types, and compared field by field with
what is decoded: an encoder and a decoder with the same mistake would not pass.
"""

from __future__ import annotations

import ctypes
import struct
from typing import NamedTuple

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from toolchain import later

from directml_py.api import enums, operator_descs
from directml_py.api.enums import DML_TENSOR_DATA_TYPE
from directml_py.api.schema_data import OPERATORS
from directml_py.api.structs import DML_OPERATOR_DESC
from directml_py.cffi import ffi
from directml_py.descs import OperatorDesc, Record, Scalar, TensorDesc, decode_operator_desc, encode

FAST = settings(
    derandomize=True,
    database=None,
    deadline=None,
    max_examples=12,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.large_base_example],
)

UINTS = st.one_of(st.integers(0, 9), st.integers(0, 2**32 - 1))
INTS = st.one_of(st.integers(-9, 9), st.integers(-(2**31), 2**31 - 1))
FLOATS = st.floats(width=32, allow_nan=False)
DATA_TYPES = [member for member in DML_TENSOR_DATA_TYPE if member]
# How each data type reads the union, by the struct module, and a number that it holds.
SCALARS = {
    "FLOAT32": ("<f", FLOATS),
    "FLOAT16": ("<e", st.floats(width=16, allow_nan=False)),
    "FLOAT64": ("<d", st.floats(allow_nan=False)),
    "UINT64": ("<Q", st.integers(0, 2**64 - 1)),
    "UINT32": ("<I", st.integers(0, 2**32 - 1)),
    "UINT16": ("<H", st.integers(0, 2**16 - 1)),
    "UINT8": ("<B", st.integers(0, 2**8 - 1)),
    "UINT4": ("<B", st.integers(0, 15)),
    "INT64": ("<q", st.integers(-(2**63), 2**63 - 1)),
    "INT32": ("<i", st.integers(-(2**31), 2**31 - 1)),
    "INT16": ("<h", st.integers(-(2**15), 2**15 - 1)),
    "INT8": ("<b", st.integers(-(2**7), 2**7 - 1)),
    "INT4": ("<b", st.integers(-8, 7)),
}


class Tensor(NamedTuple):
    """The contents of a DML_TENSOR_DESC."""

    data_type: int
    flags: int
    sizes: tuple
    strides: tuple | None
    total: int
    alignment: int


class Nested(NamedTuple):
    """The contents of a DML_OPERATOR_DESC."""

    operator: object
    fields: dict


class Number(NamedTuple):
    """The contents of a DML_SCALAR_UNION."""

    data_type: int
    value: float


@st.composite
def tensors(draw):
    sizes = draw(st.lists(UINTS, min_size=1, max_size=8))
    strides = draw(st.none() | st.lists(UINTS, min_size=len(sizes), max_size=len(sizes)))
    return Tensor(
        int(draw(st.sampled_from(DATA_TYPES))),
        draw(st.integers(0, 1)),
        tuple(sizes),
        strides if strides is None else tuple(strides),
        draw(st.integers(0, 2**64 - 1)),
        draw(st.integers(0, 2**32 - 1)),
    )


ACTIVATIONS = [op for op in OPERATORS.values() if op.name.startswith("ACTIVATION_")]


@st.composite
def activations(draw):
    op = draw(st.sampled_from(ACTIVATIONS))
    return Nested(op, draw(fields_of(op.struct, nested=True)))


def element(field):
    if field.type == "DML_TENSOR_DESC":
        return tensors()
    if field.type == "DML_OPERATOR_DESC":
        return activations()
    return {"UINT": UINTS, "INT": INTS, "FLOAT": FLOATS}[field.type]


@st.composite
def fields_of(draw, schema, nested=False):
    """A value for each field: arrays as tuples, absent pointers as None."""
    lengths = {}
    values = {}
    for field in schema.fields:
        absent = field.optional and draw(st.booleans())
        if field.kind == "array":
            if field.counted_by not in lengths:
                lengths[field.counted_by] = draw(st.integers(0, 9))
            count = lengths[field.counted_by]
            absent = absent or (field.optional and not count)
            items = None if absent else draw(st.lists(element(field), min_size=count, max_size=count))
            values[field.name] = items if items is None else tuple(items)
        elif field.is_tensor and nested:
            values[field.name] = None
        elif field.kind == "pointer":
            if field.type == "DML_SCALE_BIAS":
                values[field.name] = None if absent else (draw(FLOATS), draw(FLOATS))
            else:
                values[field.name] = None if absent else draw(element(field))
        elif field.kind == "struct":
            values[field.name] = (draw(UINTS), draw(UINTS))
        elif field.kind == "enum":
            members = [
                member for member in getattr(enums, field.type) if member.name != f"{field.type}_UNKNOWN"
            ]
            values[field.name] = int(draw(st.sampled_from(members)))
        elif field.kind == "union":
            values[field.name] = None
        else:
            kind = {"BOOL": st.booleans(), "UINT": UINTS, "INT": INTS, "FLOAT": FLOATS}[field.type]
            values[field.name] = draw(kind)
    for field in schema.fields:
        if field.kind == "union":
            data_type = values[field.governed_by]
            if data_type not in DATA_TYPES:
                data_type = values[field.governed_by] = int(draw(st.sampled_from(DATA_TYPES)))
            _, numbers = SCALARS[short(data_type)]
            values[field.name] = Number(data_type, draw(numbers))
    return {**values, **lengths}


def short(data_type):
    return DML_TENSOR_DATA_TYPE(data_type).name.removeprefix("DML_TENSOR_DATA_TYPE_")


C_TYPES = {"UINT": ctypes.c_uint32, "INT": ctypes.c_int32, "FLOAT": ctypes.c_float, "BOOL": ctypes.c_int32}


class Memory:
    """Writes values to memory as a C program would, with ctypes classes of its own."""

    class Any(ctypes.Structure):
        _fields_ = (("Type", ctypes.c_int32), ("Desc", ctypes.c_void_p))

    class Buffer(ctypes.Structure):
        _fields_ = (
            ("DataType", ctypes.c_int32),
            ("Flags", ctypes.c_int32),
            ("DimensionCount", ctypes.c_uint32),
            ("Sizes", ctypes.c_void_p),
            ("Strides", ctypes.c_void_p),
            ("TotalTensorSizeInBytes", ctypes.c_uint64),
            ("GuaranteedBaseOffsetAlignment", ctypes.c_uint32),
        )

    def __init__(self):
        self.keep = []

    def at(self, block):
        """The address of a ctypes object that lives as long as this memory."""
        self.keep.append(block)
        return ctypes.addressof(block)

    def array(self, kind, items):
        return None if items is None else self.at((kind * max(1, len(items)))(*items))

    def tensor(self, value):
        uint = ctypes.c_uint32
        sizes, strides = self.array(uint, value.sizes), self.array(uint, value.strides)
        buffer = self.Buffer(
            value.data_type, value.flags, len(value.sizes), sizes, strides, value.total, value.alignment
        )
        return self.Any(1, self.at(buffer))

    def any_operator(self, value):
        return self.Any(value.operator.value, self.at(self.typed(value.operator.struct, value.fields)))

    def typed(self, schema, values):
        c_fields = [(field.name, self.c_type(field)) for field in schema.fields]
        kind = type(schema.name, (ctypes.Structure,), {"_fields_": c_fields})
        return kind(*(self.c_value(field, values[field.name]) for field in schema.fields))

    def c_type(self, field):
        if field.kind in ("pointer", "array"):
            return ctypes.c_void_p
        if field.kind == "union":
            return ctypes.c_uint64
        if field.kind == "struct":
            return ctypes.c_uint32 * 2
        return ctypes.c_int32 if field.kind == "enum" else C_TYPES[field.type]

    def c_value(self, field, value):
        if field.kind == "union":
            code, _ = SCALARS[short(value.data_type)]
            # Bytes outside the member must not matter.
            padded = struct.pack(code, value.value).ljust(8, b"\xa5")
            return int.from_bytes(padded, "little")
        if field.kind == "array" and field.type in C_TYPES:
            return self.array(C_TYPES[field.type], value)
        if field.kind == "array":
            return None if value is None else self.array(self.Any, [self.block(item) for item in value])
        if field.kind == "pointer":
            return None if value is None else self.at(self.block(value))
        if field.kind == "struct":
            return (ctypes.c_uint32 * 2)(*value)
        return value

    def block(self, value):
        if isinstance(value, Tensor):
            return self.tensor(value)
        if isinstance(value, Nested):
            return self.any_operator(value)
        return (ctypes.c_float * 2)(*value)


def check_tensor(found, expected):
    assert isinstance(found, TensorDesc)
    assert isinstance(found.data_type, DML_TENSOR_DATA_TYPE)
    assert found.data_type == expected.data_type
    assert found.flags == expected.flags
    assert found.sizes == expected.sizes
    assert found.strides == expected.strides
    assert found.total_size == expected.total
    assert found.alignment == expected.alignment


def check_operator(found, operator, values):
    assert isinstance(found, OperatorDesc)
    assert found.type == operator.value
    assert found.type.name == f"DML_OPERATOR_{operator.name}"
    assert [name for name, _ in found] == [field.name for field in operator.struct.fields]
    for field in operator.struct.fields:
        check_value(field, getattr(found, field.name), values[field.name])


def check_value(field, found, expected):
    if expected is None:
        assert found is None
    elif isinstance(expected, Tensor):
        check_tensor(found, expected)
    elif isinstance(expected, Nested):
        check_operator(found, expected.operator, expected.fields)
    elif isinstance(expected, Number):
        assert isinstance(found, Scalar)
        assert found.data_type == expected.data_type
        assert found.value == expected.value
        assert type(found.value) is type(expected.value)
    elif field.kind == "array":
        assert isinstance(found, tuple)
        assert len(found) == len(expected)
        for one, other in zip(found, expected):
            check_value(field._replace(kind="element"), one, other)
    elif isinstance(expected, tuple):
        assert isinstance(found, Record)
        assert [value for _, value in found] == list(expected)
    else:
        assert found == expected
        if field.kind == "enum":
            assert isinstance(found, getattr(enums, field.type))
        elif field.kind == "bool":
            assert isinstance(found, bool)


def sound(value, expected, operator):
    desc, faults = decode_operator_desc(value)
    assert faults == ()
    check_operator(desc, operator, expected)
    return desc


@pytest.mark.parametrize("operator", OPERATORS.values(), ids=lambda op: op.name)
@pytest.mark.parametrize("examples", [2, *later(25)])
def test_every_operator(operator, examples):
    kind = getattr(operator_descs, operator.struct.name)

    @settings(FAST, max_examples=examples)
    @given(fields_of(operator.struct))
    def check(values):
        memory = Memory()
        block = memory.typed(operator.struct, values)
        assert ctypes.sizeof(block) == ctypes.sizeof(kind)
        first = sound(kind.from_buffer_copy(block), values, operator)

        struct_again = encode(first)
        assert type(struct_again) is kind
        second = sound(struct_again, values, operator)
        assert second == first
        assert hash(second) == hash(first)
        assert repr(second) == repr(first) == repr(struct_again)

        address = memory.at(block)
        for form in (block, ctypes.byref(block), ffi.cast(f"{operator.struct.name} *", address)):
            assert sound(form, values, operator) == first
        wrapped = memory.Any(operator.value, address)
        ours = DML_OPERATOR_DESC.from_buffer(wrapped)
        for form in (
            wrapped,
            ctypes.byref(wrapped),
            ours,
            ctypes.byref(ours),
            ctypes.pointer(ours),
            ctypes.cast(ctypes.pointer(ours), ctypes.c_void_p),
            ctypes.addressof(ours),
            ffi.cast("DML_OPERATOR_DESC *", ctypes.addressof(ours)),
            ffi.cast("void *", ctypes.addressof(ours)),
        ):
            desc, faults = decode_operator_desc(form)
            assert faults == ()
            assert desc == first

    check()


def test_the_strategy_reaches_everything():
    """Kinds of fields, present and absent pointers, full and empty arrays."""
    seen = set()

    def note(operator):
        @settings(FAST, max_examples=30)
        @given(fields_of(operator.struct))
        def look(values):
            for field in operator.struct.fields:
                value = values[field.name]
                seen.add((field.kind, field.type))
                seen.add(f"{field.kind} absent {value is None}")
                if isinstance(value, tuple) and field.kind == "array":
                    seen.add(f"empty array {not value}")

        look()

    for name in (
        "CONVOLUTION",
        "RNN",
        "FILL_VALUE_CONSTANT",
        "ELEMENT_WISE_CLIP1",
        "SLICE1",
        "UPSAMPLE_2D",
        "JOIN",
    ):
        note(next(op for op in OPERATORS.values() if op.name == name))
    assert {
        ("array", "DML_OPERATOR_DESC"),
        ("array", "DML_TENSOR_DESC"),
        ("array", "UINT"),
        ("array", "INT"),
        ("pointer", "DML_OPERATOR_DESC"),
        ("struct", "DML_SIZE_2D"),
        "pointer absent True",
        "pointer absent False",
        "empty array True",
        "empty array False",
    } <= seen


@pytest.mark.parametrize("name", SCALARS)
def test_unions_of_every_data_type(name):
    fill = next(op for op in OPERATORS.values() if op.name == "FILL_VALUE_CONSTANT")
    data_type = int(DML_TENSOR_DATA_TYPE[f"DML_TENSOR_DATA_TYPE_{name}"])
    output = Tensor(data_type, 0, (4,), None, 32, 0)

    @FAST
    @given(SCALARS[name][1])
    def check(value):
        values = {"OutputTensor": output, "ValueDataType": data_type, "Value": Number(data_type, value)}
        memory = Memory()
        first = sound(memory.typed(fill.struct, values), values, fill)
        assert sound(encode(first), values, fill) == first
        assert repr(first).endswith(f"Value={name} {value!r})")

    check()


class TestDecodedDesc:
    """What a decoded desc is, beyond its fields."""

    @pytest.fixture
    def desc(self):
        x = Tensor(1, 0, (1, 2), None, 8, 0)
        y = Tensor(1, 1, (1, 3), (6, 2), 20, 4)
        out = Tensor(1, 0, (1, 5), None, 20, 0)
        join = next(op for op in OPERATORS.values() if op.name == "JOIN")
        memory = Memory()
        values = {"InputCount": 2, "InputTensors": (x, y), "OutputTensor": out, "Axis": 1}
        block = memory.typed(join.struct, values)
        found, faults = decode_operator_desc(block)
        assert faults == ()
        # The caller's memory is not accessed again.
        for kept in (block, *memory.keep):
            ctypes.memset(ctypes.addressof(kept), 0xEE, ctypes.sizeof(kept))
        return found

    def test_copied_from_memory(self, desc):
        assert desc.InputTensors[1].strides == (6, 2)
        assert desc.OutputTensor.sizes == (1, 5)
        assert desc.Axis == 1

    def test_slots(self, desc):
        assert [(slot.path, slot.field) for slot in desc.inputs] == [
            ("InputTensors[0]", "InputTensors"),
            ("InputTensors[1]", "InputTensors"),
        ]
        assert [slot.tensor.sizes for slot in desc.inputs] == [(1, 2), (1, 3)]
        assert [(slot.path, slot.tensor.sizes) for slot in desc.outputs] == [("OutputTensor", (1, 5))]

    def test_immutable(self, desc):
        for change in (
            lambda: setattr(desc, "Axis", 2),
            lambda: setattr(desc, "Other", 2),
            lambda: delattr(desc, "Axis"),
        ):
            with pytest.raises(AttributeError, match="immutable"):
                change()
        assert desc.Axis == 1

    def test_unknown_fields(self, desc):
        with pytest.raises(AttributeError, match="DML_JOIN_OPERATOR_DESC has no field Axes"):
            _ = desc.Axes

    def test_passes_as_it_is(self, desc):
        assert decode_operator_desc(desc) == (desc, ())

    def test_different_descs_differ(self, desc):
        other = encode(desc)
        other.Axis = 0
        assert decode_operator_desc(other).desc != desc
        other.Axis = 1
        assert decode_operator_desc(other).desc == desc
