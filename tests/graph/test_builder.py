"""The graph builder: its methods, what they infer, and what they reject."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

import directml_py as dml
from directml_py.api.schema_data import OPERATORS as CATALOG
from directml_py.descs.decode import decode_struct
from directml_py.graph import Graph, TensorProperties, interleaved_channel
from directml_py.graph.operator_functions import OperatorMethod, argument_name, snake_case
from directml_py.operators import SCHEMAS

from ..rules.layer import layer_bench, messages

FLOAT32, INT32 = dml.DML_TENSOR_DATA_TYPE_FLOAT32, dml.DML_TENSOR_DATA_TYPE_INT32
UINT32, INT64 = dml.DML_TENSOR_DATA_TYPE_UINT32, dml.DML_TENSOR_DATA_TYPE_INT64
SUM, ARGMAX = dml.DML_REDUCE_FUNCTION_SUM, dml.DML_REDUCE_FUNCTION_ARGMAX
INCREASING = dml.DML_AXIS_DIRECTION_INCREASING


def shape(expression):
    return expression.desc.data_type, expression.desc.sizes


def test_every_operator_has_its_function():
    for name in SCHEMAS:
        method = getattr(Graph, name.lower())
        assert f"DML_{name}_OPERATOR_DESC" in method.__doc__
        assert method.__name__ == name.lower()
    assert inspect.signature(Graph.identity) == inspect.signature(Graph.element_wise_identity)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("join", "(self, inputs, *, axis, outputs=None, name=None)"),
        ("split", "(self, input, *, axis, sizes=None, outputs=None, name=None)"),
        ("gather", "(self, input, indices, *, axis, index_dimensions, outputs=None, name=None)"),
        ("reduce", "(self, input, *, function, axes, output_data_type=None, outputs=None, name=None)"),
        ("argmin", "(self, input, *, axes, axis_direction, output_data_type=None, outputs=None, name=None)"),
        ("identity", "(self, input, *, scale_bias=None, outputs=None, name=None)"),
    ],
)
def test_signatures(name, expected):
    signature = inspect.signature(getattr(Graph, name))
    bare = [entry.replace(annotation=entry.empty) for entry in signature.parameters.values()]
    assert str(signature.replace(parameters=bare, return_annotation=signature.empty)) == expected


def test_annotations():
    parameters = inspect.signature(Graph.reduce).parameters
    assert parameters["function"].annotation == "DML_REDUCE_FUNCTION"
    assert parameters["axes"].annotation == "Sequence[int]"
    assert inspect.signature(Graph.split).return_annotation == "list[Expression]"


def test_all_of_the_catalog_can_have_functions():
    """Argument names are unique and not keywords, for every operator."""
    for schema in CATALOG.values():
        names = list(OperatorMethod(schema).signature.parameters)
        assert len(names) == len(set(names)) > 1


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("IndexDimensions", "index_dimensions"),
        ("SizeND", "size_nd"),
        ("Axes", "axes"),
        ("AxisDirection", "axis_direction"),
        ("ELEMENT_WISE_IDENTITY", "element_wise_identity"),
        ("UPSAMPLE_2D", "upsample_2d"),
        ("Lambda", "lambda_"),
    ],
)
def test_snake_case(name, expected):
    assert snake_case(name) == expected


def test_names_of_tensors():
    fields = {entry.name: entry for op in CATALOG.values() for entry in op.struct.fields if entry.is_tensor}
    assert argument_name(fields["InputTensor"]) == "input"
    assert argument_name(fields["InputTensors"]) == "inputs"
    assert argument_name(fields["IndicesTensor"]) == "indices"


def test_inferred_tensors(graph, x):
    """Shapes by hand."""
    parts = graph.split(x, axis=2, sizes=[2, 1, 3])
    assert [shape(part) for part in parts] == [(FLOAT32, (1, 2, size, 3)) for size in (2, 1, 3)]
    assert shape(graph.join([parts[2], x], axis=2)) == (FLOAT32, (1, 2, 9, 3))
    assert shape(graph.reduce(x, function=SUM, axes=[3, 1])) == (FLOAT32, (1, 1, 6, 1))
    assert shape(graph.reduce(x, function=ARGMAX, axes=[2])) == (UINT32, (1, 2, 1, 3))
    assert shape(graph.reduce(x, function=ARGMAX, axes=[2], output_data_type=INT64)) == (INT64, (1, 2, 1, 3))
    best = graph.argmin(x, axes=[0, 1, 2, 3], axis_direction=INCREASING, output_data_type=INT32)
    assert shape(best) == (INT32, (1, 1, 1, 1))
    assert shape(graph.identity(best)) == (INT32, (1, 1, 1, 1))
    indices = graph.input_tensor("indices", UINT32, [1, 1, 4, 5])
    assert shape(graph.gather(x, indices, axis=1, index_dimensions=2)) == (FLOAT32, (4, 5, 6, 3))
    row = graph.reinterpret(indices, sizes=[1, 1, 1, 20])
    assert shape(graph.gather(x, row, axis=2, index_dimensions=1)) == (FLOAT32, (1, 2, 20, 3))


def test_results(graph, x):
    """One expression, or a list where the desc has an array."""
    assert isinstance(graph.split(x, axis=0, sizes=[1]), list)
    assert graph.join([x], axis=0).graph is graph


def test_policies(graph, x):
    """NCHW sizes {1,2,6,3} in NHWC memory: strides 1 for channels, 2 for columns, 6 for rows, 36 for images."""
    assert graph.identity(x).desc.strides is None
    graph.tensor_policy = interleaved_channel
    nhwc = graph.identity(x)
    assert nhwc.desc.strides == (36, 1, 6, 2)
    assert graph.reduce(nhwc, function=SUM, axes=[1]).desc.strides == (18, 1, 3, 1)
    assert interleaved_channel(FLOAT32, 0, [2, 3, 4]).strides == (12, 1, 3)
    assert interleaved_channel(FLOAT32, 0, [2, 3, 4, 5, 6]).strides == (360, 1, 90, 18, 3)
    assert interleaved_channel(FLOAT32, 0, [2, 3]).strides is None
    graph.tensor_policy = lambda data_type, flags, sizes: TensorProperties((72, 36, 6, 2), 400, 256)
    desc = graph.identity(x).desc
    assert (desc.strides, desc.total_size, desc.alignment) == ((72, 36, 6, 2), 400, 256)
    own = dml.TensorDesc(FLOAT32, (1, 2, 6, 3), (36, 18, 1, 6))
    assert graph.identity(x, outputs=[own]).desc == own
    halves = [dml.TensorDesc(FLOAT32, (1, 2, 3, 3), (36, 18, 3, 1)), dml.TensorDesc(FLOAT32, (1, 2, 3, 3))]
    assert [part.desc for part in graph.split(x, axis=2, outputs=halves)] == halves


def test_names(graph, x):
    assert graph.identity(x).name == "identity0"
    with graph.name_scope("encoder"):
        assert graph.identity(x).name == "encoder/identity0"
        with graph.name_scope("head"):
            first, second = graph.split(x, axis=1, sizes=[1, 1], name="parts")
    assert (first.name, second.name) == ("encoder/head/parts[0]", "encoder/head/parts[1]")
    assert graph.identity(x, name="identity2").name == "identity2"
    assert [graph.identity(x).name for _ in range(2)] == ["identity1", "identity3"]
    assert x.name == "x"
    assert repr(first) == "<Expression encoder/head/parts[0]: FLOAT32 {1,1,6,3}>"


def test_inputs(graph):
    """By index or by name; a name takes the next index."""
    late = graph.input_tensor(2, FLOAT32, [1])
    after = graph.input_tensor("after", INT32, [4], [2], total_size=64, alignment=16)
    first = graph.input_tensor(0, dml.TensorDesc(FLOAT32, (5,)), name="first")
    assert [(one.index, one.name) for one in graph.inputs.values()] == [
        (2, "input2"),
        (3, "after"),
        (0, "first"),
    ]
    assert (after.desc.strides, after.desc.total_size, after.desc.alignment) == ((2,), 64, 16)
    compiled = graph.compile([graph.identity(late), graph.identity(after), graph.identity(first)])
    assert list(compiled.inputs) == ["first", "input1", "input2", "after"]
    arrays = [np.arange(5, dtype=np.float32), None, np.float32([8]), np.int32([1, 2, 3, 4])]
    assert [one.tolist() for one in compiled.run(arrays)] == [[8.0], [1, 2, 3, 4], [0.0, 1.0, 2.0, 3.0, 4.0]]


def test_running_by_name_and_position(branches):
    array = np.arange(36, dtype=np.float32).reshape(1, 2, 6, 3)
    compiled = branches.compile()
    found = compiled.run({"x": array})
    assert list(found) == ["total", "best"]
    named = compiled.run(x=array)
    assert {name: value.tolist() for name, value in named.items()} == {
        name: value.tolist() for name, value in found.items()
    }
    with pytest.raises(TypeError, match="either in a list or by name"):
        compiled.run([array], x=array)
    with pytest.raises(TypeError, match="the input 'x' is given twice"):
        compiled.run({"x": array}, x=array)
    with pytest.raises(ValueError, match="the inputs 'x' are missing"):
        compiled.run()
    # Rows 0 to 1 and twice row 2 of each channel, and three ones: 15 + 2 * 21 + 3, then 18 more in every element.
    assert found["total"].ravel().tolist() == [60.0, 60.0 + 18 * 6 + 2 * 18 * 3]
    # Rising rows: the last element is the largest.
    assert found["best"].dtype == np.int32
    assert found["best"].tolist() == np.full((1, 2, 3, 1), 2).tolist()
    for one, other in zip(compiled.run([array]), found.values(), strict=True):
        np.testing.assert_array_equal(one, other)


def test_arithmetic_with_numbers(graph, x):
    """As in DirectMLX: an identity with a scale and a bias."""
    rows = {"a": x + 2, "b": 2 - x, "c": -x, "d": x / 4, "e": 3 * x, "f": x - 0.5, "g": +x}
    rows |= {"h": 8 / x, "i": x % (x / 4 + 1), "j": 0 / x}
    array = np.arange(1, 37, dtype=np.float32).reshape(1, 2, 6, 3)
    found = graph.compile(rows).run({"x": array})
    expected = [array + 2, 2 - array, -array, array / 4, array * 3, array - 0.5, array]
    expected += [8 / array, np.fmod(array, array / 4 + 1), array * 0]
    for one, other in zip(found.values(), expected, strict=True):
        np.testing.assert_array_equal(one, other)
    for wrong in (lambda: x + "1", lambda: x * None, lambda: None / x, lambda: x % 2):
        with pytest.raises(TypeError):
            wrong()


def test_the_desc_of_a_graph(branches):
    """Indices by hand: parts, ones, identity0, join0, argmax0, reduce0, identity1."""
    record, faults = decode_struct(branches.desc(), "DML_GRAPH_DESC")
    assert faults == ()
    assert (record.InputCount, record.OutputCount, record.NodeCount) == (1, 2, 7)
    nodes = [(node.Type.name.rpartition("_")[2], node.Desc.Name) for node in record.Nodes]
    assert nodes == [
        ("OPERATOR", "parts"),
        ("CONSTANT", "ones"),
        ("OPERATOR", "left/identity0"),
        ("OPERATOR", "left/join0"),
        ("OPERATOR", "argmax0"),
        ("OPERATOR", "reduce0"),
        ("OPERATOR", "identity0"),
    ]
    assert record.Nodes[1].Desc.Data == np.ones(6, np.float32).tobytes()

    def numbers(edges):
        return [tuple(value for _, value in edge.Desc if isinstance(value, int)) for edge in edges]

    assert numbers(record.InputEdges) == [(0, 0, 0)]
    assert numbers(record.IntermediateEdges) == [
        (0, 1, 2, 0),
        (0, 0, 3, 0),
        (2, 0, 3, 1),
        (1, 0, 3, 2),
        (0, 2, 4, 0),
        (3, 0, 5, 0),
        (4, 0, 6, 0),
    ]
    assert numbers(record.OutputEdges) == [(5, 0, 0), (6, 0, 1)]
    assert [edge.Desc.Name for edge in record.OutputEdges] == ["total", "best"]


def test_nodes_without_use_are_left_out(graph, x):
    graph.identity(x, name="unused")
    y = graph.reduce(x, function=SUM, axes=[0])
    compiled = graph.compile([y])
    assert compiled.nodes == [1]
    assert len(compiled.plan.steps) == 1


def test_constants(graph):
    """Any layout and byte order, and scalars; bytes are padded to a multiple of 4."""
    array = np.arange(6, dtype=">i2").reshape(2, 3).T[::-1]
    values = [graph.constant(array), graph.constant(np.uint8(7)), graph.constant(np.zeros(3, np.uint8))]
    assert [shape(one)[1] for one in values] == [(3, 2), (1,), (3,)]
    assert [one.desc.total_size for one in values] == [12, 4, 4]
    found = graph.compile([graph.identity(one) for one in values]).run([])
    np.testing.assert_array_equal(found[0], array)
    assert found[1].tolist() == [7]


def test_a_constant_is_a_copy(graph):
    array = np.ones(4, np.float32)
    y = graph.identity(graph.constant(array))
    array[:] = 5
    with pytest.raises(ValueError, match="read-only"):
        graph.nodes[0].array[:] = 5
    assert graph.compile([y]).run([])[0].tolist() == [1, 1, 1, 1]
    assert graph.compile({"y": y}).run()["y"].tolist() == [1, 1, 1, 1]


def test_owned_inputs(graph, x):
    weights = graph.input_tensor("w", FLOAT32, [1, 2, 1, 3], flags=dml.DML_TENSOR_FLAG_OWNED_BY_DML)
    compiled = graph.compile([graph.join([x, weights], axis=2)])
    assert compiled.operator.GetBindingProperties().PersistentResourceSize >= 24
    arrays = [np.zeros((1, 2, 6, 3), np.float32), np.ones((1, 2, 1, 3), np.float32)]
    assert compiled.run(arrays)[0][0, :, 6].tolist() == [[1, 1, 1], [1, 1, 1]]


@pytest.mark.parametrize("flags", [dml.DML_TENSOR_FLAG_NONE, dml.DML_TENSOR_FLAG_OWNED_BY_DML])
def test_running_again(flags):
    """Under the debug layers too, where an operator may be initialized once only; an owned input may be another one."""
    bench = layer_bench()
    graph = Graph(bench.dml)
    x = graph.input_tensor("x", FLOAT32, [3])
    weights = graph.input_tensor("w", FLOAT32, [3], flags=flags)
    compiled = graph.compile([x * weights])
    for factor in (2, 3):
        arrays = {"x": np.ones(3, np.float32), "w": np.full(3, factor, np.float32)}
        (result,) = compiled.run(arrays).values()
        assert result.tolist() == [factor] * 3
    assert messages(bench) == []


def unaligned(array):
    memory = bytearray(array.nbytes + 1)
    result = np.frombuffer(memory, array.dtype, array.size, 1).reshape(array.shape)
    result[...] = array
    return result


@pytest.mark.parametrize(
    "layout",
    [
        np.copy,
        np.asfortranarray,
        unaligned,
        lambda array: np.stack([array, -array], axis=-1)[..., 0],
        lambda array: array[..., ::-1].copy()[..., ::-1],
        lambda array: np.broadcast_to(array[..., :1], array.shape),
    ],
)
def test_large_arrays(graph, layout):
    """Threads copy them, whatever their layouts, to memory that the next run overwrites, and results from there."""
    shape, rng = (2, 3, 300, 200), np.random.default_rng(3)
    x, y = (graph.input_tensor(name, FLOAT32, shape) for name in "xy")
    compiled = graph.compile({"sum": x + y, "difference": x - y})
    runs = []
    for _ in range(2):
        x, y = rng.random(shape, np.float32), layout(rng.random(shape, np.float32))
        runs.append((compiled.run({"x": x, "y": y}), {"sum": x + y, "difference": x - y}))
    for results, expected in runs:
        for name, array in results.items():
            np.testing.assert_array_equal(array, expected[name])


def test_low_feature_levels(monkeypatch):
    """A graph needs 2_1, a constant 6_2."""
    old = dml.DMLCreateDevice(dml.D3D12CreateDevice(), feature_level=dml.DML_FEATURE_LEVEL_2_0)
    graph = Graph(old)
    y = graph.identity(graph.input_tensor(0, FLOAT32, [1, 1, 1, 1]))
    with pytest.raises(dml.DMLError, match=r"Graph\.compile: .*DML_FEATURE_LEVEL_2_1"):
        graph.compile([y])
    graph = Graph(dml.DMLCreateDevice(dml.D3D12CreateDevice(), feature_level=dml.DML_FEATURE_LEVEL_6_1))
    y = graph.identity(graph.constant(np.ones(4, np.float32)))
    with pytest.raises(dml.DMLError, match="DML_FEATURE_LEVEL_6_2"):
        graph.compile([y])


ERRORS = {
    "no list": (lambda g, x: g.join(x, axis=1), TypeError, r"^Graph\.join: inputs must be a sequence"),
    "empty list": (lambda g, x: g.join([], axis=1), ValueError, r"^Graph\.join: inputs is empty"),
    "an array": (lambda g, x: g.join([x, 3], axis=1), TypeError, r"^Graph\.join: inputs\[1\] must be an Exp"),
    "no axis": (lambda g, x: g.join([x]), TypeError, r"^Graph\.join: .*'axis'"),
    "misspelt": (lambda g, x: g.join([x], axsi=1), TypeError, r"^Graph\.join: .*'axsi'; did you mean axis\?"),
    "unknown": (lambda g, x: g.join([x], axis=1, axes=2), TypeError, r"^Graph\.join: .*'axes'"),
    "None": (
        lambda g, x: g.identity(None),
        TypeError,
        r"^Graph\.identity|^Graph\.element_wise_identity: input",
    ),
    "axis": (lambda g, x: g.join([x], axis=4), dml.DMLError, r"^Graph\.join: [^[]*Axis is 4.*DML-JOIN-axis"),
    "negative": (
        lambda g, x: g.join([x], axis=-1),
        ValueError,
        r"^Graph\.join: axis must be .*not -1",
    ),
    "negative axes": (
        lambda g, x: g.reduce(x, function=SUM, axes=[1, -1]),
        ValueError,
        r"^Graph\.reduce: axes\[1\] must be",
    ),
    "axes": (
        lambda g, x: g.reduce(x, function=SUM, axes=1),
        TypeError,
        r"^Graph\.reduce: axes must be a seq",
    ),
    "split sum": (
        lambda g, x: g.split(x, axis=2, sizes=[2, 2]),
        dml.DMLError,
        r"^Graph\.split: (.|\n)*InputTensor.Sizes is {1,2,6,3}.* must be {1,2,4,3} \[DML-SPLIT-sizes",
    ),
    "split sizes": (lambda g, x: g.split(x, axis=2, sizes="12"), TypeError, r"^Graph\.split: sizes"),
    "function": (
        lambda g, x: g.reduce(x, function="SUM", axes=[1]),
        TypeError,
        r"^Graph\.reduce: function must be an integer, not str",
    ),
    "gather rank": (
        lambda g, x: g.gather(x, g.input_tensor(9, UINT32, [2, 2, 2, 2]), axis=2, index_dimensions=4),
        dml.DMLError,
        r"(.|\n)*DML-GATHER-index-dimensions-before-axis",
    ),
    "gather type": (
        lambda g, x: g.gather(x, x, axis=0, index_dimensions=1),
        dml.DMLError,
        r"(.|\n)*DML-GATHER-data-type",
    ),
    "another graph": (lambda g, x: Graph(g.device).identity(x), ValueError, "another graph"),
    "outputs count": (
        lambda g, x: g.identity(x, outputs=[x.desc, x.desc]),
        ValueError,
        "outputs has 2 tensors; the operator writes 1",
    ),
    "outputs type": (lambda g, x: g.identity(x, outputs=[x]), TypeError, "TensorDesc"),
    "outputs wrong": (
        lambda g, x: g.identity(x, outputs=[dml.TensorDesc(FLOAT32, (1, 2, 3, 6))]),
        dml.DMLError,
        "same-sizes",
    ),
    "reinterpret": (
        lambda g, x: g.reinterpret(x, sizes=[37]),
        dml.DMLError,
        r"^Graph\.reinterpret:(.|\n)*144.*148.*DML-BufferTensor-total-size",
    ),
    "strides": (lambda g, x: g.reinterpret(x, strides=[1]), ValueError, r"reinterpret: strides has 1"),
    "sizes": (lambda g, x: g.input_tensor("y", FLOAT32), TypeError, r"^Graph\.input_tensor: sizes"),
    "zero": (lambda g, x: g.input_tensor("y", FLOAT32, [0]), dml.DMLError, "size-zero"),
    "type": (lambda g, x: g.input_tensor("y", 99, [1]), dml.DMLError, "data-type"),
    "index": (lambda g, x: g.input_tensor(0, FLOAT32, [1]), ValueError, "input 0 already"),
    "name": (lambda g, x: g.input_tensor("x", FLOAT32, [1]), ValueError, "'x' already"),
    "null name": (lambda g, x: g.identity(x, name="a\0b"), ValueError, "null"),
    "surrogate": (lambda g, x: g.identity(x, name="\ud800"), ValueError, "Unicode"),
    "name type": (lambda g, x: g.identity(x, name=3), TypeError, "name must be a str"),
    "constant": (lambda g, x: g.constant([True]), TypeError, "bool"),
    "text": (lambda g, x: g.constant("text"), TypeError, "no data type"),
    "empty constant": (lambda g, x: g.constant(np.zeros((0,), np.int8)), dml.DMLError, "size-zero"),
    "no outputs": (lambda g, x: g.compile(), ValueError, "no outputs"),
    "input as output": (lambda g, x: g.compile([x]), ValueError, r"'output0'.* is 'x'.*identity"),
    "constant as output": (lambda g, x: g.compile([g.constant([1.5])]), ValueError, "identity"),
    "output type": (lambda g, x: g.compile("xy"), TypeError, "outputs must be a list or a dict"),
    "unused output": (
        lambda g, x: g.compile(g.split(x, axis=2, sizes=[2, 1, 3])[1]),
        ValueError,
        "'split0' output 0, 'split0' output 2",
    ),
    "flags": (lambda g, x: g.compile([g.identity(x)], 1 << 30), dml.DMLError, "flags"),
}


@pytest.mark.parametrize("case", ERRORS)
def test_errors(graph, x, case):
    call, kind, message = ERRORS[case]
    with pytest.raises(kind, match=message):
        call(graph, x)


def test_a_refused_call_changes_nothing(graph, x):
    graph.identity(x)
    with pytest.raises(dml.DMLError) as caught:
        graph.reduce(x, function=99, axes=[8, 1, 1])
    assert {found.path for found in caught.value.diagnostics} == {"Function", "Axes[0]", "Axes[2]"}
    with pytest.raises(ValueError, match="another graph"):
        graph.outputs = {"y": Graph(graph.device).input_tensor(0, FLOAT32, [1])}
    assert len(graph.nodes) == 1
    assert graph.outputs == {}
    assert graph.identity(x).name == "identity1"


@pytest.mark.parametrize(
    ("inputs", "kind", "message"),
    [
        ([], ValueError, r"0 arrays; the graph has 1 input: 'x'"),
        ({}, ValueError, "'x' are missing"),
        ({"x": None}, ValueError, "x is present"),
        ({"x": np.zeros((1, 2, 6, 3), np.float32), "y": 1}, ValueError, "no input 'y'; it has 'x'"),
        ([np.zeros((1, 2, 6, 3))], TypeError, "x holds float32 elements, not float64"),
        ({"x": np.zeros((2, 6, 3), np.float32)}, ValueError, r"x has the sizes \{1,2,6,3\}"),
        (None, ValueError, "the inputs .* are missing"),
        (np.zeros(3), TypeError, "list or a dict"),
    ],
)
def test_inputs_that_do_not_fit(branches, inputs, kind, message):
    with pytest.raises(kind, match=message):
        branches.compile().run(inputs)


class TestLayersThatAreAlike:
    """Their descs are made once; what makes a difference to one of them is told apart."""

    def test_equal_arguments_of_other_types_are_refused_as_ever(self):
        graph = Graph()
        x = graph.input_tensor(0, FLOAT32, (4,))
        graph.slice(x, offsets=[0], sizes=[2], strides=[1])
        with pytest.raises(TypeError, match=r"Strides\[0\]|strides\[0\]"):
            graph.slice(x, offsets=[0], sizes=[2], strides=[1.0])
        with pytest.raises(TypeError, match=r"sizes\[0\]"):
            graph.reinterpret(x, sizes=(4.0,))

    def test_zeros_of_both_signs(self):
        graph = Graph()
        x = graph.input_tensor(0, FLOAT32, (4,))
        alphas = [
            graph.nodes[graph.activation_leaky_relu(x, alpha=alpha).source.node].desc.Alpha
            for alpha in (0.0, -0.0, 0.0)
        ]
        assert [np.copysign(1, alpha) for alpha in alphas] == [1, -1, 1]

    def test_a_struct_that_changes(self):
        graph = Graph()
        x = graph.input_tensor(0, FLOAT32, (4,))
        fused = dml.DML_ACTIVATION_LEAKY_RELU_OPERATOR_DESC(Alpha=1)
        first = graph.element_wise_add1(x, x, fused_activation=fused)
        fused.Alpha = 2
        second = graph.element_wise_add1(x, x, fused_activation=fused)
        alphas = [graph.nodes[own.source.node].desc.FusedActivation.Alpha for own in (first, second)]
        assert alphas == [1, 2]

    def test_a_policy_that_decides_each_time(self):
        totals = iter((16, 32))
        graph = Graph(tensor_policy=lambda *_: TensorProperties(None, next(totals), 0))
        x = graph.input_tensor(0, FLOAT32, (4,))
        assert [graph.identity(x).desc.total_size for _ in range(2)] == [16, 32]

    def test_feature_levels(self):
        for level in (dml.DML_FEATURE_LEVEL_6_4, dml.DML_FEATURE_LEVEL_5_0):
            device = dml.DMLCreateDevice(dml.D3D12CreateDevice(), feature_level=level)
            graph = Graph(device)
            x = graph.input_tensor(0, FLOAT32, (1, 1, 1, 4))
            if level == dml.DML_FEATURE_LEVEL_6_4:
                graph.activation_gelu(x)
            else:
                with pytest.raises(dml.DMLError, match="needs DML_FEATURE_LEVEL_5_1"):
                    graph.activation_gelu(x)
