"""Decoding faults: their kinds and paths, and that nothing crashes."""

from __future__ import annotations

import ctypes
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from directml_py.abi.keepalive import extent_at
from directml_py.api.enums import (
    DML_OPERATOR_JOIN,
    DML_TENSOR_DATA_TYPE_FLOAT32,
)
from directml_py.api.operator_descs import (
    DML_ACTIVATION_RELU_OPERATOR_DESC,
    DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC,
    DML_GATHER_OPERATOR_DESC,
    DML_GEMM_OPERATOR_DESC,
    DML_JOIN_OPERATOR_DESC,
    DML_REDUCE_OPERATOR_DESC,
    DML_RNN_OPERATOR_DESC,
    DML_SPLIT_OPERATOR_DESC,
)
from directml_py.api.schema_data import OPERATORS
from directml_py.api.structs import (
    DML_BINDING_DESC,
    DML_BUFFER_ARRAY_BINDING,
    DML_BUFFER_BINDING,
    DML_BUFFER_TENSOR_DESC,
    DML_CONSTANT_DATA_GRAPH_NODE_DESC,
    DML_OPERATOR_DESC,
    DML_TENSOR_DESC,
)
from directml_py.descs import decode_operator_desc, decode_struct, tensor_desc
from directml_py.descs.decode import Decoder

FLOAT32 = DML_TENSOR_DATA_TYPE_FLOAT32
JOIN = DML_OPERATOR_JOIN
WILD = 0xDEAD0000


def tensor(**fields):
    """A DML_TENSOR_DESC of FLOAT32 {2,3} with fields of its buffer desc replaced."""
    values = {"DataType": FLOAT32, "DimensionCount": 2, "Sizes": [2, 3], "TotalTensorSizeInBytes": 24}
    return DML_TENSOR_DESC(1, DML_BUFFER_TENSOR_DESC(**{**values, **fields}))


def join(**fields):
    values = {"InputTensors": [tensor(), tensor()], "OutputTensor": tensor(), "Axis": 0}
    return DML_JOIN_OPERATOR_DESC(**{**values, **fields})


def faults_of(value):
    """(path, kind) of every fault, the same for the typed desc and wrapped in a DML_OPERATOR_DESC."""
    _, found = decode_operator_desc(value)
    _, wrapped = decode_operator_desc(DML_OPERATOR_DESC(value._operator_, value))
    assert wrapped == found
    return [(fault.path, fault.kind) for fault in found]


def test_a_sound_desc_has_none():
    assert faults_of(join()) == []


class TestListsThatAreShorterThanTheirCount:
    """A count that includes memory after a list, which would be taken for elements."""

    @staticmethod
    def fault(desc):
        (fault,) = decode_operator_desc(desc).faults
        assert fault.kind == "count"
        return str(fault)

    def test_of_structs(self):
        assert self.fault(join(InputCount=3)) == "InputCount is 3, but InputTensors was given a list of 2"

    def test_of_numbers(self):
        reduce = DML_REDUCE_OPERATOR_DESC(InputTensor=tensor(), OutputTensor=tensor(), AxisCount=2, Axes=[3])
        assert self.fault(reduce) == "AxisCount is 2, but Axes was given a list of 1"
        wrapped = (DML_OPERATOR_DESC * 1)(DML_OPERATOR_DESC(reduce._operator_, reduce))
        assert self.fault(ctypes.pointer(wrapped[0])) == "AxisCount is 2, but Axes was given a list of 1"

    def test_inside_a_tensor(self):
        desc = join(InputTensors=[tensor(), tensor(DimensionCount=4, Strides=[3, 1, 1, 1])])
        text = "InputTensors[1].DimensionCount is 4, but Sizes was given a list of 2"
        assert self.fault(desc) == text
        desc = join(OutputTensor=tensor(Strides=[3]))
        assert self.fault(desc) == "OutputTensor.DimensionCount is 2, but Strides was given a list of 1"

    @pytest.mark.parametrize("data", [b"123", bytearray(3), np.zeros(3, np.uint8)])
    def test_of_bytes(self, data):
        desc = DML_CONSTANT_DATA_GRAPH_NODE_DESC(Data=data, DataSize=100)
        faults = decode_struct(desc, "DML_CONSTANT_DATA_GRAPH_NODE_DESC").faults
        assert [str(fault) for fault in faults] == ["DataSize is 100, but Data was given a list of 3"]

    def test_in_other_memory(self):
        """Pointers have no known length: C arrays, parts of lists, the memory of a former list."""
        block = (ctypes.c_uint32 * 4)(2, 3, 4, 5)
        first = ctypes.cast(block, ctypes.POINTER(ctypes.c_uint32))
        assert faults_of(join(OutputTensor=tensor(DimensionCount=4, Sizes=first))) == []
        desc = DML_REDUCE_OPERATOR_DESC(InputTensor=tensor(), OutputTensor=tensor(), Axes=[3])
        address = ctypes.cast(desc.Axes, ctypes.c_void_p).value
        assert extent_at(address) == 4
        desc.Axes = first
        assert extent_at(address) is None

    def test_fewer_than_there_are(self):
        assert faults_of(join(InputCount=1)) == []


class TestNull:
    def test_a_required_tensor(self):
        assert faults_of(join(OutputTensor=None)) == [("OutputTensor", "null")]
        desc, _ = decode_operator_desc(join(OutputTensor=None))
        assert desc.OutputTensor is None
        assert desc.InputTensors[1].sizes == (2, 3), "the rest is still read"

    def test_a_required_array(self):
        assert faults_of(join(InputCount=2, InputTensors=None)) == [("InputTensors", "null")]
        assert faults_of(
            DML_REDUCE_OPERATOR_DESC(InputTensor=tensor(), OutputTensor=tensor(), AxisCount=1)
        ) == [("Axes", "null")]

    def test_inside_a_tensor(self):
        assert faults_of(join(OutputTensor=DML_TENSOR_DESC(1, None))) == [("OutputTensor.Desc", "null")]
        assert faults_of(join(InputTensors=[tensor(), tensor(Sizes=None)])) == [
            ("InputTensors[1].Sizes", "null")
        ]

    def test_what_may_be_null(self):
        scaled = DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(InputTensor=tensor(), OutputTensor=tensor())
        assert faults_of(scaled) == []
        assert faults_of(join(InputCount=0, InputTensors=None)) == []
        assert faults_of(join(OutputTensor=tensor(Strides=None))) == []
        gemm = DML_GEMM_OPERATOR_DESC(ATensor=tensor(), BTensor=tensor(), OutputTensor=tensor())
        assert faults_of(gemm) == []

    def test_every_required_pointer_of_every_operator(self):
        """A zeroed desc: each required pointer is a fault of its own, arrays of count 0 and optional ones are not."""
        for op in OPERATORS.values():
            zeros = (ctypes.c_uint8 * 512)()
            desc = DML_OPERATOR_DESC(op.value, ctypes.addressof(zeros))
            _, faults = decode_operator_desc(desc)
            expected = [f.name for f in op.struct.fields if f.kind == "pointer" and not f.optional]
            assert [(fault.path, fault.kind) for fault in faults] == [(name, "null") for name in expected], (
                op.name
            )

    def test_the_desc_itself(self):
        for nothing in (None, 0, ctypes.POINTER(DML_OPERATOR_DESC)(), ctypes.c_void_p()):
            desc, faults = decode_operator_desc(nothing)
            assert desc is None
            assert [(fault.path, fault.kind) for fault in faults] == [("desc", "null")]
        desc, faults = decode_operator_desc(DML_OPERATOR_DESC(JOIN, None))
        assert desc is None
        assert [(fault.path, fault.kind) for fault in faults] == [("Desc", "null")]
        assert str(faults[0]) == "Desc is null; DML_JOIN_OPERATOR_DESC is required"


class TestTypes:
    @pytest.mark.parametrize(
        ("value", "text"),
        [(0, "DML_OPERATOR_INVALID"), (9999, "9999"), (2**31 - 1, "2147483647"), (-(1 << 31), "-2147483648")],
    )
    def test_operators(self, value, text):
        desc, faults = decode_operator_desc(DML_OPERATOR_DESC(value, join()))
        assert desc is None
        assert [(fault.path, fault.kind) for fault in faults] == [("Type", "type")]
        assert faults[0].text.startswith(f"is {text}, ")

    @pytest.mark.parametrize("value", [-1, -100, 0xC0000000 - (1 << 32)])
    def test_operators_of_no_version(self, value):
        """If there is a desc, which Microsoft's library checks first."""
        for desc, kind in ((join(), "reserved"), (None, "type")):
            decoded, faults = decode_operator_desc(DML_OPERATOR_DESC(value, desc))
            assert decoded is None
            assert [(fault.path, fault.kind) for fault in faults] == [("Type", kind)]
            assert faults[0].text.startswith(f"is {value}, ")

    @pytest.mark.parametrize("value", [0, 2, -1])
    def test_tensors(self, value):
        bad = tensor()
        bad.Type = value
        assert faults_of(join(InputTensors=[tensor(), bad])) == [("InputTensors[1].Type", "type")]

    def test_nested_operators(self):
        gemm = DML_GEMM_OPERATOR_DESC(
            tensor(), tensor(), None, tensor(), FusedActivation=DML_OPERATOR_DESC(9999)
        )
        assert faults_of(gemm) == [("FusedActivation.Type", "type")]

    @pytest.mark.parametrize("value", [3, -1])
    def test_bindings(self, value):
        desc, faults = decode_struct(DML_BINDING_DESC(value, DML_BUFFER_BINDING()), "DML_BINDING_DESC")
        assert desc.Desc is None
        assert [(fault.path, fault.kind) for fault in faults] == [("Type", "type")]

    @pytest.mark.parametrize("count", [0, 1, 8, 9, 64])
    def test_dimension_counts_that_are_read(self, count):
        """1 to 8 is checked by validation; up to 64 sizes are read, for better messages."""
        bad = tensor(DimensionCount=count, Sizes=[7] * count or None)
        desc, faults = decode_operator_desc(join(OutputTensor=bad))
        assert faults == ()
        assert desc.OutputTensor.sizes == (7,) * count

    @pytest.mark.parametrize("count", [65, 1 << 16, 0xFFFFFFFF])
    def test_dimension_counts_that_are_garbage(self, count):
        assert faults_of(join(OutputTensor=tensor(DimensionCount=count))) == [
            ("OutputTensor.DimensionCount", "count")
        ]


class TestCounts:
    @pytest.mark.parametrize("count", [(1 << 16) + 1, 0x7FFFFFFF, 0xFFFFFFFF])
    def test_arrays(self, count):
        assert faults_of(join(InputCount=count)) == [("InputTensors", "count")]
        reduce = DML_REDUCE_OPERATOR_DESC(0, tensor(), tensor(), AxisCount=count, Axes=[0])
        assert faults_of(reduce) == [("Axes", "count")]

    def test_as_many_as_are_read(self):
        assert faults_of(DML_REDUCE_OPERATOR_DESC(0, tensor(), tensor(), Axes=[0] * (1 << 16))) == []

    def test_raw_data(self):
        node = DML_CONSTANT_DATA_GRAPH_NODE_DESC(Data=b"1234", DataSize=(1 << 32) + 1)
        desc, faults = decode_struct(node, "DML_CONSTANT_DATA_GRAPH_NODE_DESC")
        assert desc.Data is None
        assert [(fault.path, fault.kind) for fault in faults] == [("Data", "count")]

    def test_arrays_of_nothing_are_not_followed(self):
        assert faults_of(join(InputCount=0, InputTensors=WILD)) == []
        bad = tensor(DimensionCount=0, Sizes=WILD, Strides=WILD)
        assert faults_of(join(OutputTensor=bad)) == []


class TestNesting:
    def test_a_fused_activation_that_is_itself(self):
        gemm = DML_GEMM_OPERATOR_DESC(tensor(), tensor(), None, tensor())
        loop = DML_OPERATOR_DESC(gemm._operator_, gemm)
        gemm.FusedActivation = ctypes.addressof(loop)
        ((path, kind),) = faults_of(gemm)
        assert kind == "count"
        assert path.startswith("FusedActivation.FusedActivation.")

    @pytest.mark.parametrize("count", [1, 2, 3, 100, 1 << 16])
    def test_arrays_of_activations_that_are_themselves(self, count):
        """Not only infinite nesting: 100 to the power of 8 descs are practically infinite too."""
        rnn = DML_RNN_OPERATOR_DESC(InputTensor=tensor(), WeightTensor=tensor(), RecurrenceTensor=tensor())
        items = (DML_OPERATOR_DESC * count)(
            *([DML_OPERATOR_DESC(rnn._operator_, ctypes.addressof(rnn))] * count)
        )
        rnn.ActivationDescCount = count
        rnn.ActivationDescs = ctypes.addressof(items)
        found = faults_of(rnn)
        assert found
        assert {kind for _, kind in found} == {"count"}
        assert len(found) < 10_000

    def test_paths_inside(self):
        relu = DML_ACTIVATION_RELU_OPERATOR_DESC(InputTensor=WILD)
        rnn = DML_RNN_OPERATOR_DESC(
            InputTensor=tensor(),
            WeightTensor=tensor(),
            RecurrenceTensor=tensor(),
            ActivationDescs=[DML_ACTIVATION_RELU_OPERATOR_DESC(), relu],
        )
        assert faults_of(rnn) == [("ActivationDescs[1].InputTensor", "unreadable")]

    def test_null_tensors_of_activations_are_right(self):
        """...but those of the operator that they are fused into must not be."""
        gemm = DML_GEMM_OPERATOR_DESC(tensor(), None, None, tensor())
        gemm.FusedActivation = DML_ACTIVATION_RELU_OPERATOR_DESC()
        assert faults_of(gemm) == [("BTensor", "null")]


class TestSeveral:
    def test_all_at_once(self):
        bad = join(
            InputTensors=[tensor(Sizes=WILD), tensor(), tensor(DimensionCount=99), DML_TENSOR_DESC(1, WILD)],
            OutputTensor=None,
        )
        assert faults_of(bad) == [
            ("InputTensors[0].Sizes", "unreadable"),
            ("InputTensors[2].DimensionCount", "count"),
            ("InputTensors[3].Desc", "unreadable"),
            ("OutputTensor", "null"),
        ]
        desc, _ = decode_operator_desc(bad)
        assert [found and found.sizes for found in desc.InputTensors] == [None, (2, 3), None, None]

    def test_interfaces(self):
        bindings = DML_BUFFER_ARRAY_BINDING(Bindings=[DML_BUFFER_BINDING(), DML_BUFFER_BINDING(WILD)])
        _, faults = decode_struct(bindings, "DML_BUFFER_ARRAY_BINDING")
        assert [(fault.path, fault.kind) for fault in faults] == [("Bindings[1].Buffer", "interface")]
        assert "0xDEAD0000" in faults[0].text

    @pytest.mark.parametrize("wild", [1, WILD, 1 << 63, (1 << 64) - 8])
    def test_wild_descs(self, wild):
        desc, faults = decode_operator_desc(wild)
        assert desc is None
        assert [(fault.path, fault.kind) for fault in faults] == [("desc", "unreadable")]
        _, faults = decode_operator_desc(DML_OPERATOR_DESC(JOIN, wild))
        assert [(fault.path, fault.kind) for fault in faults] == [("Desc", "unreadable")]


class TestNoDesc:
    @pytest.mark.parametrize(
        "value",
        [
            1.5,
            "desc",
            b"desc",
            True,
            object(),
            [join()],
            (1, 2),
            {},
            DML_JOIN_OPERATOR_DESC,
            DML_BUFFER_TENSOR_DESC(),
            tensor_desc(FLOAT32, [1]),
            ctypes.byref(tensor_desc(FLOAT32, [1])),
            ctypes.pointer(ctypes.c_int()),
            DML_BINDING_DESC(),
        ],
        ids=lambda value: type(value).__name__,
    )
    def test_refused(self, value):
        with pytest.raises(TypeError, match=r"^desc must be "):
            decode_operator_desc(value)
        with pytest.raises(TypeError, match=r"^thing must be "):
            decode_operator_desc(value, "thing")

    def test_another_operator(self):
        with pytest.raises(TypeError, match="DML_SPLIT_OPERATOR_DESC"):
            decode_struct(join(), "DML_SPLIT_OPERATOR_DESC")


WILD_POINTERS = """
    import ctypes, mmap
    import directml_py as dml
    from directml_py.api.schema_data import OPERATORS
    from directml_py.descs import decode_operator_desc

    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
    libc.munmap.argtypes = libc.mprotect.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    PAGE = mmap.PAGESIZE
    pages = libc.mmap(None, 3 * PAGE, 3, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
    assert libc.munmap(pages + PAGE, 2 * PAGE) == 0
    UNREADABLE = [
        1, 7, 0xDEAD0000, 0xDEAD0003, 0x7FFFFFFFFFFF, 0x8000000000000000, 0xFFFFFFFFFFFFFFF8, 0xFFFFFFFFFFFFFFFF,
        pages + PAGE, pages + PAGE + 1,
        pages + PAGE - 1, pages + PAGE - 3,     # the beginning can be read, the rest cannot
    ]
    READABLE = [pages, pages + 1, pages + 5]    # zeros, at misaligned addresses too

    def tensor():
        return dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, [2, 3], strides=[3, 1])

    def full(op):
        values = {}
        for field in op.struct.fields:
            if field.type == "DML_TENSOR_DESC":
                values[field.name] = [tensor(), tensor()] if field.kind == "array" else tensor()
            elif field.kind == "array":
                relu = dml.DML_ACTIVATION_RELU_OPERATOR_DESC()
                values[field.name] = [relu] if field.type == "DML_OPERATOR_DESC" else [1, 1]
            elif field.type == "DML_SCALE_BIAS":
                values[field.name] = dml.DML_SCALE_BIAS(1, 0)
        return getattr(dml, op.struct.name)(**values)

    def buffer(tensor_at):
        tensor = ctypes.cast(tensor_at, ctypes.POINTER(dml.DML_TENSOR_DESC)).contents
        return tensor, ctypes.cast(tensor.Desc, ctypes.POINTER(dml.DML_BUFFER_TENSOR_DESC)).contents

    def places(op, desc):
        # (path of the fault, struct, pointer field) of every pointer in and under the desc
        for field in op.struct.fields:
            if field.kind not in ("pointer", "array"):
                continue
            yield field.name, desc, field.name
            if field.type != "DML_TENSOR_DESC":
                continue
            first = ctypes.cast(getattr(desc, field.name), ctypes.c_void_p).value
            for index in range(2 if field.kind == "array" else 1):
                path = f"{field.name}[{index}]" if field.kind == "array" else field.name
                inner, innermost = buffer(first + 16 * index)
                yield f"{path}.Desc", inner, "Desc"
                yield f"{path}.Sizes", innermost, "Sizes"
                yield f"{path}.Strides", innermost, "Strides"

    NAMES = "JOIN SPLIT REDUCE GATHER ARGMIN ARGMAX ELEMENT_WISE_IDENTITY CONVOLUTION RNN QUANTIZE".split()
    count = 0
    for op in OPERATORS.values():
        if op.name not in NAMES:
            continue
        paths = [path for path, _, _ in places(op, full(op))]
        for index, path in enumerate(paths):
            desc = full(op)
            assert decode_operator_desc(desc).faults == (), op.name
            _, holder, name = list(places(op, desc))[index]
            for address in UNREADABLE + READABLE:
                setattr(holder, name, address)
                for form in (desc, dml.DML_OPERATOR_DESC(op.value, desc)):
                    found, faults = decode_operator_desc(form)
                    if address in UNREADABLE:
                        assert [(f.path, f.kind) for f in faults] == [(path, "unreadable")], (op.name, path, faults)
                    assert found is not None
                    assert dml.validate(form) or address in READABLE or op.name not in NAMES[:7]
                    repr(form), repr(found)
                count += 1
    print(count)
"""


def test_wild_pointers_in_every_place():
    """In a subprocess, where a crash shows as a signal."""
    text = textwrap.dedent(WILD_POINTERS)
    run = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, (run.returncode, run.stderr[-3000:])
    assert int(run.stdout) > 1000


def test_split_and_gather_name_their_fields():
    split = DML_SPLIT_OPERATOR_DESC(tensor(), OutputTensors=[tensor(), tensor(Strides=WILD)])
    assert faults_of(split) == [("OutputTensors[1].Strides", "unreadable")]
    gather = DML_GATHER_OPERATOR_DESC(tensor(), DML_TENSOR_DESC(1, WILD), tensor())
    assert faults_of(gather) == [("IndicesTensor.Desc", "unreadable")]


@pytest.mark.parametrize("size", [1, 2, 3, 8, 100])
def test_what_crosses_pages_is_read_whole(size):
    """For every position of a page boundary within the memory read, and at its ends."""
    memory = bytes(number % 251 for number in range(3 * 4096))
    held = ctypes.create_string_buffer(memory, len(memory))
    start = ctypes.addressof(held)
    border = -start % 4096
    decoder = Decoder()
    decoder.probing = True
    for place in range(border + 4096 - size - 1, border + 4096 + 2):
        assert decoder.read(start + place, size, "Desc") == memory[place : place + size]
