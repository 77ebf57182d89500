"""The repr of structs and decoded descs, in the documents' notation."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest
from toolchain import later

import directml_py as dml
from directml_py.abi.interface import IUnknown
from directml_py.descs import TensorDesc, decode_operator_desc

FLOAT32 = dml.DML_TENSOR_DATA_TYPE_FLOAT32
WILD = 0xDEAD0000


class Thing(IUnknown):
    def __repr__(self):
        return "<a thing>"


def join():
    return dml.DML_JOIN_OPERATOR_DESC(
        InputTensors=[dml.tensor_desc(FLOAT32, [1, 1, 2, 3]), dml.tensor_desc(FLOAT32, [1, 1, 2, 4])],
        OutputTensor=dml.tensor_desc(FLOAT32, [1, 1, 2, 7]),
        Axis=3,
    )


JOIN_TEXT = (
    "DML_JOIN_OPERATOR_DESC(InputTensors=[FLOAT32 {1,1,2,3}, FLOAT32 {1,1,2,4}], "
    "OutputTensor=FLOAT32 {1,1,2,7}, Axis=3)"
)


class TestDescs:
    def test_of_the_design(self):
        """The same text for the struct, its decoded desc, and the DML_OPERATOR_DESC around it."""
        assert repr(join()) == JOIN_TEXT
        assert repr(dml.DML_OPERATOR_DESC(dml.DML_OPERATOR_JOIN, join())) == JOIN_TEXT
        assert repr(decode_operator_desc(join()).desc) == JOIN_TEXT

    def test_attributes(self):
        desc = dml.DML_REDUCE_OPERATOR_DESC(
            Function=dml.DML_REDUCE_FUNCTION_SUM,
            InputTensor=dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_INT64, [2, 3]),
            OutputTensor=dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_INT64, [1, 3]),
            Axes=[0],
        )
        assert repr(desc) == (
            "DML_REDUCE_OPERATOR_DESC(Function=DML_REDUCE_FUNCTION_SUM, InputTensor=INT64 {2,3}, "
            "OutputTensor=INT64 {1,3}, Axes={0})"
        )
        desc.Function = 99
        assert "Function=99," in repr(desc)

    def test_nested_and_optional(self):
        x = dml.tensor_desc(FLOAT32, [4])
        scaled = dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(x, x, dml.DML_SCALE_BIAS(2.0, 0.5))
        assert repr(scaled) == (
            "DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(InputTensor=FLOAT32 {4}, OutputTensor=FLOAT32 {4}, "
            "ScaleBias=DML_SCALE_BIAS(Scale=2.0, Bias=0.5))"
        )
        scaled.ScaleBias = None
        assert repr(scaled).endswith("ScaleBias=None)")
        gemm = dml.DML_GEMM_OPERATOR_DESC(
            x, x, None, x, Alpha=1, FusedActivation=dml.DML_ACTIVATION_LEAKY_RELU_OPERATOR_DESC(Alpha=0.25)
        )
        assert repr(gemm) == (
            "DML_GEMM_OPERATOR_DESC(ATensor=FLOAT32 {4}, BTensor=FLOAT32 {4}, CTensor=None, "
            "OutputTensor=FLOAT32 {4}, TransA=DML_MATRIX_TRANSFORM_NONE, TransB=DML_MATRIX_TRANSFORM_NONE, "
            "Alpha=1.0, Beta=0.0, FusedActivation=DML_ACTIVATION_LEAKY_RELU_OPERATOR_DESC(InputTensor=None, "
            "OutputTensor=None, Alpha=0.25))"
        )

    def test_scalars_and_booleans(self):
        fill = dml.DML_FILL_VALUE_CONSTANT_OPERATOR_DESC(
            dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_INT8, [3]),
            dml.DML_TENSOR_DATA_TYPE_INT8,
            dml.DML_SCALAR_UNION(Int8=-5),
        )
        assert repr(fill) == (
            "DML_FILL_VALUE_CONSTANT_OPERATOR_DESC(OutputTensor=INT8 {3}, "
            "ValueDataType=DML_TENSOR_DATA_TYPE_INT8, Value=INT8 -5)"
        )
        sums = dml.DML_CUMULATIVE_SUMMATION_OPERATOR_DESC(HasExclusiveSum=1)
        assert "HasExclusiveSum=True" in repr(sums)

    def test_plain_structs(self):
        assert repr(dml.DML_SIZE_2D(3, 4)) == "DML_SIZE_2D(Width=3, Height=4)"
        assert repr(dml.DML_BUFFER_TENSOR_DESC(FLOAT32, 1, Sizes=[2, 3], TotalTensorSizeInBytes=24)) == (
            "DML_BUFFER_TENSOR_DESC(DataType=DML_TENSOR_DATA_TYPE_FLOAT32, Flags=DML_TENSOR_FLAG_OWNED_BY_DML, "
            "Sizes={2,3}, Strides=None, TotalTensorSizeInBytes=24, GuaranteedBaseOffsetAlignment=0)"
        )
        assert repr(dml.DML_INPUT_GRAPH_EDGE_DESC(0, 1, 2, "x")) == (
            "DML_INPUT_GRAPH_EDGE_DESC(GraphInputIndex=0, ToNodeIndex=1, ToNodeInputIndex=2, Name='x')"
        )

    def test_bindings(self):
        buffer = dml.DML_BUFFER_BINDING(Thing(), 256, 1024)
        text = "DML_BUFFER_BINDING(Buffer=<a thing>, Offset=256, SizeInBytes=1024)"
        assert repr(buffer) == text
        assert repr(dml.DML_BINDING_DESC(dml.DML_BINDING_TYPE_BUFFER, buffer)) == (
            f"DML_BINDING_DESC(Type=DML_BINDING_TYPE_BUFFER, Desc={text})"
        )
        array = dml.DML_BUFFER_ARRAY_BINDING(Bindings=[buffer, dml.DML_BUFFER_BINDING()])
        assert repr(dml.DML_BINDING_DESC(dml.DML_BINDING_TYPE_BUFFER_ARRAY, array)) == (
            "DML_BINDING_DESC(Type=DML_BINDING_TYPE_BUFFER_ARRAY, Desc=DML_BUFFER_ARRAY_BINDING(Bindings=["
            f"{text}, DML_BUFFER_BINDING(Buffer=None, Offset=0, SizeInBytes=0)]))"
        )
        assert repr(dml.DML_BINDING_DESC()) == "DML_BINDING_DESC(Type=DML_BINDING_TYPE_NONE, Desc=None)"

    def test_helpers_of_d3dx12(self):
        """Subclasses of structs."""
        assert repr(dml.CD3DX12_RESOURCE_DESC.Buffer(64)).startswith(
            "D3D12_RESOURCE_DESC(Dimension=D3D12_RESOURCE_"
        )

        class Mine(dml.DML_SIZE_2D):
            pass

        assert repr(Mine(3, 4)) == "DML_SIZE_2D(Width=3, Height=4)"


class TestTensors:
    @pytest.mark.parametrize(
        ("tensor", "text"),
        [
            (TensorDesc(FLOAT32, (1, 2)), "FLOAT32 {1,2}"),
            (TensorDesc(FLOAT32, (1, 2), (2, 1)), "FLOAT32 {1,2} strides {2,1}"),
            (TensorDesc(FLOAT32, (2,), total_size=64), "FLOAT32 {2} in 64 bytes"),
            (TensorDesc(FLOAT32, (2,), alignment=16), "FLOAT32 {2} aligned to 16"),
            (
                TensorDesc(FLOAT32, (2,), flags=dml.DML_TENSOR_FLAG_OWNED_BY_DML),
                "FLOAT32 {2} DML_TENSOR_FLAG_OWNED_BY_DML",
            ),
            (TensorDesc(dml.DML_TENSOR_DATA_TYPE_UNKNOWN, (2,)), "UNKNOWN {2}"),
            (TensorDesc(77, ()), "77 {}"),
        ],
    )
    def test_text(self, tensor, text):
        assert repr(tensor) == text


def test_raw_data_is_not_printed():
    node = dml.DML_CONSTANT_DATA_GRAPH_NODE_DESC(Data=bytes(1 << 20), Name="weights")
    assert repr(node) == "DML_CONSTANT_DATA_GRAPH_NODE_DESC(Data=<1048576 bytes>, Name='weights')"


class TestUnreadable:
    def test_what_is_wrong_is_said(self):
        desc = join()
        desc.OutputTensor = WILD
        assert repr(desc) == (
            "DML_JOIN_OPERATOR_DESC(InputTensors=[FLOAT32 {1,1,2,3}, FLOAT32 {1,1,2,4}], OutputTensor=None, Axis=3) "
            "<OutputTensor points to memory that cannot be read (16 bytes at 0xDEAD0000 cannot be read)>"
        )

    @pytest.mark.parametrize("address", [1, WILD, 1 << 63, (1 << 64) - 8])
    def test_wild_descs(self, address):
        for struct in (
            dml.DML_TENSOR_DESC(1, address),
            dml.DML_OPERATOR_DESC(dml.DML_OPERATOR_JOIN, address),
        ):
            text = repr(struct)
            assert type(struct).__name__ in text
            assert f"0x{address:X} cannot be read" in text

    def test_unknown_types(self):
        assert repr(dml.DML_OPERATOR_DESC(9999, None)) == (
            "<DML_OPERATOR_DESC> <Type is 9999, which is not the DML_OPERATOR_TYPE of an operator>"
        )
        assert "Buffer is 0xDEAD0000, which is not a live ID3D12Resource" in repr(
            dml.DML_BUFFER_BINDING(WILD)
        )


class TestUnions:
    def test_scalar(self):
        assert repr(dml.DML_SCALAR_UNION(Float32=1.0)) == (
            "DML_SCALAR_UNION(UInt64=1065353216, Float32=1.0, Float64=5.263544247e-315)"
        )
        assert repr(dml.DML_SCALAR_UNION()) == "DML_SCALAR_UNION(UInt64=0, Float32=0.0, Float64=0.0)"


GARBAGE = """
    import ctypes, random
    import directml_py as dml
    from directml_py.api import d3d12_structs, operator_descs, structs
    from directml_py.abi.structure import Structure, Union

    kinds = [
        kind
        for module in (d3d12_structs, operator_descs, structs)
        for kind in (getattr(module, name) for name in module.__all__)
    ]
    assert all(issubclass(kind, (Structure, Union)) for kind in kinds)
    rng = random.Random(7)
    live = (ctypes.c_uint8 * 65536)(*(rng.randrange(4) for _ in range(65536)))
    addresses = [ctypes.addressof(live) + n for n in (0, 8, 13)]

    def check(value):
        text = repr(value)
        assert text.startswith(("DML_", "D3D12_", "DXGI_", "LUID(", "<")) or " {" in text, text
        assert " object at 0x" not in text, text

    for kind in kinds:
        size = ctypes.sizeof(kind)
        check(kind())
        check(kind.from_buffer_copy(b"\\xff" * size))
        for _ in range(DRAWN):
            check(kind.from_buffer_copy(rng.randbytes(size)))
            words = [rng.choice([0, 1, 2, 3, 63, 137, WILD, *addresses]) for _ in range(size // 8 + 1)]
            check(kind.from_buffer_copy(b"".join(word.to_bytes(8, "little") for word in words)[:size]))
    print(len(kinds))
"""


@pytest.mark.parametrize("drawn", [3, *later(20)])
def test_no_repr_ever_raises(drawn):
    """Zeros, ones, garbage, and pointers to garbage; in a subprocess, where a crash shows."""
    text = f"WILD, DRAWN = {WILD}, {drawn}\n" + textwrap.dedent(GARBAGE)
    run = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, (run.returncode, run.stderr[-3000:])
    assert int(run.stdout) > 200
