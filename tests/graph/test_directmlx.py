"""DirectMLX's operators and functions on expressions."""

from __future__ import annotations

import inspect
import operator

import numpy as np
import pytest
from sweeps import swept

import directml_py as dml
from directml_py.graph import Graph, directmlx
from directml_py.graph.directmlx import FusedActivation, TensorDesc
from directml_py.graph.directmlx.function_declarations import rows
from directml_py.graph.directmlx.operators import OperatorFunction

FLOAT32, UINT32, UINT8 = (
    dml.DML_TENSOR_DATA_TYPE[f"DML_TENSOR_DATA_TYPE_{n}"] for n in ("FLOAT32", "UINT32", "UINT8")
)


def run(function, *arrays):
    """The result of ``function`` applied to one expression per array."""
    graph = Graph()
    inputs = [graph.input_tensor(index, array.dtype, array.shape) for index, array in enumerate(arrays)]
    result = function(*inputs)
    outputs = (
        [result] if isinstance(result, directmlx.Expression) else [one for one in result if one is not None]
    )
    values = graph.compile(outputs).run(list(arrays))
    return values[0] if len(values) == 1 else values


A = np.array([[1.5, -2, 3], [4, 5, -6]], np.float32)
B = np.array([[1.5, 3, -4], [2, 5, 6]], np.float32)
BITS_A = np.array([0b1100, 7, 1, 0xFFFFFFFF], np.uint32)
BITS_B = np.array([0b1010, 2, 3, 1], np.uint32)


class TestOperators:
    @pytest.mark.parametrize("name", ["lt", "le", "gt", "ge", "eq", "ne"])
    def test_comparisons(self, name):
        result = run(getattr(operator, name), A, B)
        assert result.dtype == np.uint8
        assert (
            result.tolist()
            == getattr(
                np,
                {
                    "lt": "less",
                    "le": "less_equal",
                    "gt": "greater",
                    "ge": "greater_equal",
                    "eq": "equal",
                    "ne": "not_equal",
                }[name],
            )(A, B).tolist()
        )

    @pytest.mark.parametrize("name", ["and_", "or_", "xor", "lshift", "rshift"])
    def test_bits(self, name):
        assert (
            run(getattr(operator, name), BITS_A, BITS_B).tolist()
            == getattr(operator, name)(BITS_A, BITS_B).tolist()
        )

    def test_unary(self):
        assert run(operator.invert, BITS_A).tolist() == (~BITS_A).tolist()
        assert run(abs, A).tolist() == np.abs(A).tolist()

    def test_powers(self):
        positive = np.abs(A)
        np.testing.assert_allclose(run(operator.pow, positive, B), positive**B, rtol=1e-6)
        assert run(lambda a: a**2, A).tolist() == (A**2).tolist()

    def test_in_place_makes_new_ones(self):
        def changed(a, b):
            before = a
            a += b
            a *= 2
            assert a is not before
            return a

        assert run(changed, A, B).tolist() == ((A + B) * 2).tolist()

    @pytest.mark.parametrize("name", ["lt", "le", "gt", "ge", "and_", "lshift", "mod"])
    def test_numbers_where_there_are_none(self, name):
        x = Graph().input_tensor(0, FLOAT32, [1])
        with pytest.raises(TypeError, match=r"not supported between|unsupported operand"):
            getattr(operator, name)(x, 1.0)

    @pytest.mark.parametrize("name", ["eq", "ne"])
    def test_a_number_is_not_silently_unequal(self, name):
        x = Graph().input_tensor(0, FLOAT32, [1])
        with pytest.raises(TypeError, match=r"compared with expressions, not with 1\.0"):
            getattr(operator, name)(x, 1.0)

    @pytest.mark.parametrize(
        "name", ["add", "sub", "mul", "truediv", "mod", "pow", "and_", "lshift", "lt", "eq"]
    )
    def test_an_array_is_refused_instead_of_each_of_its_elements(self, name):
        graph = Graph()
        x = graph.input_tensor(0, FLOAT32, A.shape)
        refused = "combined with expressions and numbers, not with an array"
        with pytest.raises(TypeError, match=refused):
            getattr(operator, name)(x, A)
        with pytest.raises(TypeError, match=f"{refused}|unsupported operand type"):
            getattr(operator, name)(A, x)
        assert not graph.nodes
        with pytest.raises(TypeError, match="does not support ufuncs"):
            np.add(A, x)
        assert run(lambda a: a + a.graph.constant(B), A).tolist() == (A + B).tolist()

    def test_numbers_of_numpy(self):
        one, two = np.float32(1), np.int64(2)
        assert run(lambda a: one - a * two, A).tolist() == (1 - A * 2).tolist()
        assert run(lambda a: two + a / one, A).tolist() == (2 + A).tolist()

    def test_identity(self):
        """``==`` adds a node; dictionaries and sets still distinguish expressions."""
        graph = Graph()
        x, y = (graph.input_tensor(index, FLOAT32, [1]) for index in range(2))
        assert {x: 1, y: 2}[y] == 2
        assert (x == None) is False  # noqa: E711
        assert (x != "x") is True
        assert not graph.nodes

    def test_no_truth(self):
        x = Graph().input_tensor(0, FLOAT32, [1])
        for wrong in (lambda: bool(x), lambda: not x, lambda: x and x, lambda: x < x < x):
            with pytest.raises(TypeError, match="neither true nor false"):
                wrong()


FUNCTIONS = {function.name: function for function in map(OperatorFunction, rows())}


class TestTable:
    @swept("name", sorted(FUNCTIONS))
    def test_arguments_exist_and_are_all_there(self, name):
        """Parameters that a line omits have defaults in the graph's method; those it names exist."""
        function = FUNCTIONS[name]
        there = inspect.signature(getattr(Graph(), function.method)).parameters
        named = {target for targets in function.targets.values() for target in targets} - {"graph"}
        # The sizes that follow from a window cannot be chosen for a QUANTIZED_LINEAR_CONVOLUTION.
        assert named - set(there) <= ({"output_sizes"} if name == "QuantizedLinearConvolution" else set())
        required = {key for key, one in there.items() if one.default is one.empty and key != "self"}
        assert required <= named


IMAGE = np.arange(2 * 5 * 6, dtype=np.float32).reshape(1, 2, 5, 6)
FILTER = np.ones((1, 2, 3, 3), np.float32)


class TestFunctions:
    def test_defaults_of_a_convolution(self):
        expected = [
            [
                [
                    sum(IMAGE[0, c, y + i, x + j] for c in range(2) for i in range(3) for j in range(3))
                    for x in range(4)
                ]
                for y in range(3)
            ]
        ]
        for function in (
            directmlx.Convolution,
            lambda x, w: directmlx.Convolution(x, w, None, strides=[], dilations=None, startPadding=()),
        ):
            assert run(function, IMAGE, FILTER).tolist() == [expected]

    def test_arguments_in_order(self):
        strided = run(
            lambda x, w: directmlx.Convolution(
                x,
                w,
                None,
                dml.DML_CONVOLUTION_MODE_CROSS_CORRELATION,
                dml.DML_CONVOLUTION_DIRECTION_FORWARD,
                [2, 3],
            ),
            IMAGE,
            FILTER,
        )
        whole = run(directmlx.Convolution, IMAGE, FILTER)
        assert strided.tolist() == whole[:, :, ::2, ::3].tolist()

    def test_three_spatial_dimensions(self):
        volume, ones = np.ones((1, 1, 3, 3, 3), np.float32), np.ones((1, 1, 2, 2, 2), np.float32)
        assert run(directmlx.Convolution, volume, ones).tolist() == np.full((1, 1, 2, 2, 2), 8).tolist()

    def test_fused_activations(self):
        negative = run(
            lambda x, w: directmlx.Convolution(x, w, fusedActivation=FusedActivation.LeakyRelu(0.5)),
            IMAGE,
            -FILTER,
        )
        assert negative.tolist() == (run(directmlx.Convolution, IMAGE, FILTER) * -0.5).tolist()
        four = [array.reshape(1, 1, 2, 3) for array in (A, B)]
        added = run(lambda a, b: directmlx.Add(a, b, FusedActivation.Relu()), *four)
        assert added.tolist() == np.maximum(four[0] + four[1], 0).tolist()
        assert run(lambda a, b: directmlx.Add(a, b, FusedActivation()), A, B).tolist() == (A + B).tolist()

    def test_defaults_of_activations(self):
        leaky = run(directmlx.ActivationLeakyRelu, A)
        np.testing.assert_allclose(leaky, np.where(A < 0, A * np.float32(0.01), A), rtol=1e-6)
        hard = run(directmlx.ActivationHardSigmoid, A)
        np.testing.assert_allclose(hard, np.clip(0.2 * A + 0.5, 0, 1), rtol=1e-5)
        assert FusedActivation.HardSigmoid(beta=0.25).desc.Beta == 0.25
        assert FusedActivation.HardSigmoid().desc.Alpha == np.float32(0.2)

    @pytest.mark.parametrize(
        ("make", "text"),
        [
            (lambda: FusedActivation.Linear(1), "needs parameter beta"),
            (lambda: FusedActivation.Relu(1), "takes 0 parameters, not 1"),
            (lambda: FusedActivation.Elu(gamma=1), "has no parameter gamma"),
        ],
    )
    def test_parameters_of_activations(self, make, text):
        with pytest.raises(TypeError, match=text):
            make()

    def test_softmax(self):
        e = np.exp(A)
        np.testing.assert_allclose(
            run(lambda a: directmlx.ActivationSoftmax(a, [0]), A), e / e.sum(0), rtol=1e-5
        )

    def test_gemm(self):
        a, b = A.reshape(1, 1, 2, 3), B.reshape(1, 1, 2, 3)
        product = run(lambda a, b: directmlx.Gemm(a, b, None, 0, dml.DML_MATRIX_TRANSFORM_TRANSPOSE), a, b)
        np.testing.assert_allclose(product[0, 0], A @ B.T)

    def test_reduce_everything_by_default(self):
        assert run(lambda a: directmlx.Reduce(a, dml.DML_REDUCE_FUNCTION_SUM), A).tolist() == [[A.sum()]]
        assert run(lambda a: directmlx.Reduce(a, dml.DML_REDUCE_FUNCTION_SUM, [0]), A).tolist() == [
            A.sum(0).tolist()
        ]

    def test_several_outputs(self):
        values, indices = run(lambda x: directmlx.MaxPooling(x, [2, 2], [2, 2], outputIndices=True), IMAGE)
        assert values[0, 0].tolist() == [[7, 9, 11], [19, 21, 23]]
        assert indices[0, 0].tolist() == [[7, 9, 11], [19, 21, 23]]
        graph = Graph()
        pooled = directmlx.MaxPooling(graph.input_tensor(0, FLOAT32, IMAGE.shape), [2, 2])
        assert pooled.indices is None
        assert pooled.values.desc.sizes == (1, 2, 4, 5)
        top = run(lambda a: directmlx.TopK(a, 1, 2, dml.DML_AXIS_DIRECTION_DECREASING), A)
        assert [one.tolist() for one in top] == [[[3, 1.5], [5, 4]], [[2, 0], [1, 0]]]
        parts = run(lambda a: directmlx.Split(a, 1, [1, 2]), A)
        assert [part.tolist() for part in parts] == [A[:, :1].tolist(), A[:, 1:].tolist()]
        assert run(lambda a, b: directmlx.Join([a, b], 0), A, B).tolist() == [*A.tolist(), *B.tolist()]
        assert run(lambda a: directmlx.Join([a], 0), A).tolist() == A.tolist()

    def test_resample(self):
        """Twice as many pixels, whose centres lie at a quarter and at three quarters of the old ones."""
        twice = run(lambda x: directmlx.Resample(x, [1, 2, 10, 12], dml.DML_INTERPOLATION_MODE_LINEAR), IMAGE)
        rows, columns = (np.clip((np.arange(2 * n) + 0.5) / 2 - 0.5, 0, n - 1) for n in (5, 6))
        # The numbers of IMAGE rise by 30 from plane to plane, 6 from row to row, 1 from column to column.
        expected = np.arange(2)[:, None, None] * 30 + rows[:, None] * 6 + columns
        np.testing.assert_allclose(twice[0], expected, rtol=1e-6)

    def test_slices_and_comparisons(self):
        assert run(lambda a: directmlx.Slice(a, [0, 1], [2, 2], [1, -1]), A).tolist() == A[:, 2:0:-1].tolist()
        assert run(directmlx.Equals, A, B).dtype == np.uint8
        wide = run(lambda a, b: directmlx.Equals(a, b, outputDataType=UINT32), A, B)
        assert (wide.dtype, wide.tolist()) == (np.uint32, [[1, 0, 0], [0, 1, 0]])
        assert run(directmlx.Max, A, B).tolist() == np.maximum(A, B).tolist()
        assert run(lambda a: directmlx.Pow(a, 3), A).tolist() == (A**3).tolist()
        assert run(lambda a: directmlx.Clip(a, -1, 2), A).tolist() == np.clip(A, -1, 2).tolist()

    def test_inputs_constants_and_reinterpretation(self):
        graph = Graph()
        x = directmlx.InputTensor(graph, 0, TensorDesc(FLOAT32, (2, 3)))
        y = directmlx.ConstantData(graph, B.tobytes(), TensorDesc(FLOAT32, (2, 3)))
        flat = directmlx.Reinterpret(x + y, [6], None)
        bits = directmlx.Reinterpret(x * y, UINT32)
        filled = directmlx.FillValueConstant(graph, [2], FLOAT32, 1.5)
        one, other, third = graph.compile([flat, bits, filled]).run([A])
        assert one.tolist() == (A + B).reshape(-1).tolist()
        assert other.tolist() == (A * B).view(np.uint32).tolist()
        assert third.tolist() == [1.5, 1.5]

    def test_gru(self):
        graph = Graph()
        sizes = [1, 4, 2, 3], [1, 1, 15, 3], [1, 1, 15, 5]
        x, w, r = (graph.input_tensor(index, FLOAT32, one) for index, one in enumerate(sizes))
        activations = [FusedActivation.Sigmoid(), FusedActivation.Tanh()]
        forward = dml.DML_RECURRENT_NETWORK_DIRECTION_FORWARD
        made = directmlx.GRU(
            x, w, r, None, None, None, activations, forward, True, directmlx.GRUOutputOptions.Sequence
        )
        assert made.single is None
        assert made.sequence.desc.sizes == (4, 1, 2, 5)

    @pytest.mark.parametrize(
        ("call", "text"),
        [
            (lambda x: directmlx.Gemm(x), "^Gemm: missing a required argument: 'b'"),
            (lambda x: directmlx.Sqrt(x, None, None), "^Sqrt: too many positional"),
            (lambda x: directmlx.Sqrt(3), "^Sqrt: none of the arguments is an Expression"),
            (lambda x: directmlx.Join([], 0), "^Join: none of the arguments is an Expression"),
            (lambda x: directmlx.Gather(x, 3, 0, 1), r"^Graph\.gather: indices must be an Expression"),
        ],
    )
    def test_refusals(self, call, text):
        x = Graph().input_tensor(0, FLOAT32, [2, 3])
        with pytest.raises(TypeError, match=text):
            call(x)


class TestBuilders:
    """``Build()`` is the function; setters come in any order, and arrays are copied."""

    def test_convolution(self):
        padding = [1, 0]

        def built(x, w):
            made = directmlx.ConvolutionBuilder(x, w).EndPadding([0, 2]).Strides([2, 1]).StartPadding(padding)
            padding[0] = 9
            return made.FusedActivation(FusedActivation.LeakyRelu(0.5)).Build()

        def called(x, w):
            activation = FusedActivation.LeakyRelu(0.5)
            return directmlx.Convolution(
                x, w, strides=[2, 1], startPadding=[1, 0], endPadding=[0, 2], fusedActivation=activation
            )

        assert run(built, IMAGE, -FILTER).tolist() == run(called, IMAGE, -FILTER).tolist()
        plain = run(lambda x, w: directmlx.ConvolutionBuilder(x, w, None).Build(), IMAGE, FILTER)
        assert plain.tolist() == run(directmlx.Convolution, IMAGE, FILTER).tolist()

    def test_gemm(self):
        a, b = A.reshape(1, 1, 2, 3), B.reshape(1, 1, 2, 3)
        transpose = dml.DML_MATRIX_TRANSFORM_TRANSPOSE
        product = run(lambda a, b: directmlx.GemmBuilder(a, b).TransB(transpose).Alpha(2).Build(), a, b)
        np.testing.assert_allclose(product[0, 0], 2 * A @ B.T)

    def test_max_pooling(self):
        pooled = run(lambda x: directmlx.MaxPoolingBuilder(x, [2, 2]).Strides([2, 2]).Build().values, IMAGE)
        assert pooled[0, 0].tolist() == [[7, 9, 11], [19, 21, 23]]
        values, indices = run(
            lambda x: directmlx.MaxPoolingBuilder(x, [5, 6]).OutputIndices(True).Build(), IMAGE
        )
        assert (values.ravel().tolist(), indices.ravel().tolist()) == ([29, 59], [29, 59])
