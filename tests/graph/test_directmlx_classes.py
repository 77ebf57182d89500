"""DirectMLX's names, and its classes beside functions."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import directml_py as dml
from directml_py.graph import Graph, directmlx
from directml_py.graph.directmlx import FusedActivation, TensorDesc

from .directmlx_names import CLASSES, FUNCTIONS, OTHERS, entries

FLOAT32 = dml.DML_TENSOR_DATA_TYPE_FLOAT32


class TestNames:
    """Every public name of DirectMLX.h, as the header has it."""

    def test_functions_and_their_parameters(self):
        functions = entries(FUNCTIONS)
        assert len(functions) > 128
        for name, parameters in functions:
            own = list(inspect.signature(getattr(directmlx, name)).parameters)
            if name == "Reinterpret" and "newType" not in parameters:
                own.remove("newType")
            assert own[: len(parameters)] == parameters, name

    def test_classes_and_their_members(self):
        members = {
            "TensorDesc": TensorDesc(),
            "TensorProperties": directmlx.TensorProperties(),
            "FusedActivation": FusedActivation(),
        }
        for name, own in entries(CLASSES):
            kind = members.get(name, getattr(directmlx, name))
            assert [member for member in own if not hasattr(kind, member)] == [], name
        # A keyword of Python.
        assert FusedActivation.None_().desc is None

    def test_all(self):
        names = {name for text in (FUNCTIONS, CLASSES) for name, _ in entries(text)} | set(OTHERS.split())
        assert names - set(directmlx.__all__) == set()
        assert set(directmlx.__all__) - names == {"CompiledGraph"}

    def test_builders_have_the_setters_that_the_header_has(self):
        """Neither fewer nor more."""
        for name, own in entries(CLASSES):
            if name.endswith("Builder"):
                public = {member for member in dir(getattr(directmlx, name)) if member[0] != "_"}
                assert public - {"FUNCTION", "SIGNATURE"} == set(own)


def of(desc):
    """The value of a TensorDesc of either kind."""
    return desc.desc if isinstance(desc, TensorDesc) else desc


def test_misspelt_arguments():
    x = Graph().input_tensor(0, FLOAT32, [1, 1, 2, 2])
    with pytest.raises(TypeError, match=r"^Gemm: there is no argument 'aplha'; did you mean alpha\?$"):
        directmlx.Gemm(x, aplha=2.0)
    with pytest.raises(TypeError, match=r"^GemmBuilder: there is no argument 'beta'"):
        directmlx.GemmBuilder(x, beta=2.0)


class TestClasses:
    """What DirectMLX's classes do beside functions."""

    def test_orders_of_a_tensor_desc(self):
        owned = dml.DML_TENSOR_FLAG_OWNED_BY_DML
        value = dml.TensorDesc(FLOAT32, (1, 2, 3), None, owned)
        strided = dml.TensorDesc(FLOAT32, (1, 2, 3), (12, 6, 2), owned, 64, 16)
        for kind in (TensorDesc, dml.TensorDesc):
            for sizes in ((1, 2, 3), [1, 2, 3], np.array([1, 2, 3])):
                assert of(kind(FLOAT32, owned, sizes)) == value
                assert (
                    of(kind(FLOAT32, 0, sizes))
                    == of(kind(FLOAT32, sizes))
                    == dml.TensorDesc(FLOAT32, (1, 2, 3))
                )
            assert of(kind(FLOAT32, owned, [1, 2, 3], [12, 6, 2], 64, 16)) == strided
        assert hash(dml.TensorDesc(FLOAT32, owned, [1, 2, 3])) == hash(value)
        struct = dml.tensor_desc(FLOAT32, [1, 2, 3], [12, 6, 2], flags=owned, total_size=64, alignment=16)
        assert of(TensorDesc(struct)) == of(TensorDesc(strided)) == strided

    def test_fields_may_be_assigned(self):
        desc = TensorDesc()
        desc.dataType, desc.sizes, desc.totalTensorSizeInBytes = FLOAT32, [2, 3], 24
        assert of(desc) == dml.TensorDesc(FLOAT32, (2, 3))
        desc.sizes[0] = 1
        struct = desc.AsPtr(dml.DML_TENSOR_DESC)
        assert dml.validate(dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(struct, struct)) == []
        buffer = desc.AsPtr(dml.DML_BUFFER_TENSOR_DESC)
        assert (buffer.DimensionCount, buffer.Sizes[:2], buffer.TotalTensorSizeInBytes) == (2, [1, 3], 24)
        assert of(TensorDesc(buffer)) == of(TensorDesc(struct)) == of(desc)

    def test_policies(self):
        nhwc = directmlx.TensorPolicy.InterleavedChannel()
        sizes = [2, 3, 4, 5]
        assert nhwc.Get(FLOAT32, 0, sizes).strides == [60, 1, 15, 3]
        assert directmlx.TensorPolicy.Default().Get(FLOAT32, 0, sizes).totalTensorSizeInBytes == 480
        for desc in (
            TensorDesc(FLOAT32, sizes, nhwc),
            TensorDesc(FLOAT32, dml.DML_TENSOR_FLAG_NONE, sizes, nhwc),
            TensorDesc(FLOAT32, sizes, policy=nhwc),
        ):
            assert of(desc) == dml.TensorDesc(FLOAT32, (2, 3, 4, 5), (60, 1, 15, 3))

        def aligned(data_type, flags, sizes):
            properties = directmlx.TensorProperties()
            properties.totalTensorSizeInBytes = 512
            properties.guaranteedBaseOffsetAlignment = 256
            return properties

        graph = directmlx.Graph(None, nhwc)
        x = directmlx.InputTensor(graph, 0, TensorDesc(FLOAT32, sizes, graph.GetTensorPolicy()))
        first = directmlx.Sqrt(x)
        graph.SetTensorPolicy(aligned)
        second = directmlx.Sqrt(first).GetOutputDesc()
        graph.SetTensorPolicy(directmlx.TensorPolicy.Default())
        assert first.GetOutputDesc().strides == [60, 1, 15, 3]
        assert (second.totalTensorSizeInBytes, second.guaranteedBaseOffsetAlignment) == (512, 256)
        assert of(directmlx.Sqrt(x).GetOutputDesc()) == dml.TensorDesc(FLOAT32, (2, 3, 4, 5))

    def test_the_desc_of_an_output_is_a_copy(self):
        x = Graph().input_tensor(0, FLOAT32, [2, 3])
        sizes = x.GetOutputDesc().sizes
        sizes[0] = 9
        assert x.GetOutputDesc().sizes == [2, 3]

    def test_compile(self):
        """The operator itself, with more inputs than the graph reads if asked."""
        graph = directmlx.Graph()
        x = directmlx.InputTensor(graph, 0, TensorDesc(FLOAT32, [1, 1, 2, 3]))
        y = directmlx.InputTensor(graph, 1, TensorDesc(FLOAT32, [1, 1, 2, 3]))
        compiled = graph.Compile(dml.DML_EXECUTION_FLAG_NONE, [x + y, x - y])
        assert isinstance(compiled, dml.IDMLCompiledOperator)
        assert [len(compiled.inputs), len(compiled.outputs)] == [2, 2]
        assert len(graph.Compile(dml.DML_EXECUTION_FLAG_NONE, [x + y], 5).inputs) == 5
        with pytest.raises(ValueError, match="inputCount is 1; the graph has 2 inputs"):
            graph.Compile(dml.DML_EXECUTION_FLAG_NONE, [x + y], 1)

    def test_name_scopes(self):
        graph = directmlx.Graph()
        x = directmlx.InputTensor(graph, 0, TensorDesc(FLOAT32, [1]))
        graph.PopName()
        with graph.CreateNameScope("block"):
            first = directmlx.Sqrt(x).name
            inner = graph.CreateNameScope("inner")
            second = directmlx.Sqrt(x).name
            del inner
            third = directmlx.Sqrt(x).name
        graph.PushName("tail")
        fourth = directmlx.Sqrt(x).name
        graph.PopName()
        assert [first, second, third, fourth, directmlx.Sqrt(x).name] == [
            "block_sqrt0",
            "block_inner_sqrt0",
            "block_sqrt1",
            "tail_sqrt0",
            "sqrt0",
        ]

    def test_activations_by_number(self):
        elu = FusedActivation(dml.DML_OPERATOR_ACTIVATION_SCALED_ELU, 1.5, 2.5)
        assert elu.desc == FusedActivation.ScaledElu(1.5, 2.5).desc
        assert (elu.desc.Alpha, elu.desc.Gamma) == (1.5, 2.5)
        assert (FusedActivation.Shrink(0.25).param1, FusedActivation.Shrink(0.25).param2) == (0.25, 0.5)
        assert FusedActivation.None_().activation == dml.DML_OPERATOR_INVALID


class TestRefusals:
    @pytest.mark.parametrize(
        ("make", "error", "text"),
        [
            (lambda: TensorDesc(FLOAT32), TypeError, "sizes are missing"),
            (lambda: TensorDesc(FLOAT32, 0), TypeError, "sizes are missing"),
            (lambda: dml.TensorDesc(FLOAT32, 0), TypeError, "sizes are missing"),
            (lambda: dml.TensorDesc(FLOAT32, [1.5]), TypeError, "TensorDesc: sizes"),
            (lambda: TensorDesc(FLOAT32, [1, 2], [1]), ValueError, "strides has 1 element, sizes has 2"),
            (lambda: TensorDesc(FLOAT32, [1], size=3), TypeError, "no argument 'size'"),
            (lambda: TensorDesc(dml.DML_TENSOR_DESC()), dml.DMLError, "desc"),
            (lambda: TensorDesc().AsPtr(int), TypeError, "must be DML_TENSOR_DESC or"),
            (lambda: directmlx.TensorPolicy(3), TypeError, "must be a function"),
            (lambda: directmlx.Graph(None, None, policy=3), TypeError, "no argument 'policy'"),
            (lambda: FusedActivation(dml.DML_OPERATOR_INVALID + 10**6), dml.DMLError, "activation"),
            (lambda: directmlx.GemmBuilder(1, 2, 3, 4), TypeError, "^GemmBuilder: too many positional"),
        ],
    )
    def test_wrong_arguments(self, make, error, text):
        with pytest.raises(error, match=text):
            make()
