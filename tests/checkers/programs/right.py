"""A user's program in which every type is right. It runs, so that what is asserted of types is true."""

import ctypes

import numpy as np
from typing_extensions import assert_type

import directml_py as dml
from directml_py.graph import Expression, Graph
from directml_py.graph import directmlx as dmlx
from directml_py.pydirectml import fork

FLOAT32 = dml.DML_TENSOR_DATA_TYPE_FLOAT32

x = dml.tensor_desc(FLOAT32, [1, 1, 2, 3])
assert_type(x, dml.DML_TENSOR_DESC)
y = dml.tensor_desc(FLOAT32, np.shape(np.zeros((1, 1, 2, 4))), strides=[16, 16, 8, 1])
join = dml.DML_JOIN_OPERATOR_DESC(
    InputTensors=[x, y], OutputTensor=dml.tensor_desc(FLOAT32, [1, 1, 2, 7]), Axis=3
)

# Reading a field gives what ctypes gives; writing takes what the struct converts.
assert_type(join.Axis, int)
assert_type(join.InputTensors, "ctypes._Pointer[dml.DML_TENSOR_DESC]")
assert_type(join.InputTensors.contents.Type, int)
join.InputTensors = (x, ctypes.byref(y), ctypes.pointer(x))
join.InputTensors = (dml.DML_TENSOR_DESC * 2)(x, y)
join.InputCount = np.uint32(2)
join.OutputTensor = ctypes.pointer(x)
join.OutputTensor = ctypes.addressof(x)
join.OutputTensor = dml.tensor_desc(FLOAT32, [1, 1, 2, 7])
assert_type(dml.DML_JOIN_OPERATOR_DESC.Axis.offset, int)
assert_type(join.replace(Axis=2), dml.DML_JOIN_OPERATOR_DESC)
assert_type(dml.DML_JOIN_OPERATOR_DESC(join), dml.DML_JOIN_OPERATOR_DESC)
structure: ctypes.Structure = join
ctypes.sizeof(join)

# A void pointer, a fused operator, a union, a struct by value, a name, an interface.
desc = dml.DML_OPERATOR_DESC(dml.DML_OPERATOR_JOIN, ctypes.byref(join))
desc.Desc = join
relu = dml.DML_ACTIVATION_RELU_OPERATOR_DESC()
add = dml.DML_ELEMENT_WISE_ADD1_OPERATOR_DESC(ATensor=x, BTensor=x, OutputTensor=x, FusedActivation=relu)
clip = dml.DML_ELEMENT_WISE_CLIP1_OPERATOR_DESC(InputTensor=x, OutputTensor=x, MinMaxDataType=FLOAT32)
clip.Min.Float32 = -1
clip.Max = dml.DML_SCALAR_UNION(Float32=1.0)
assert_type(clip.Max.Float32, float)
lstm = dml.DML_LSTM_OPERATOR_DESC(ActivationDescs=[dml.DML_OPERATOR_DESC(), relu])
node = dml.DML_OPERATOR_GRAPH_NODE_DESC(Name="join")
assert_type(node.Name, "bytes | None")

device = dml.D3D12CreateDevice()
device_1: dml.ID3D12Device = device
queue = device.CreateCommandQueue(dml.D3D12_COMMAND_QUEUE_DESC(Type=dml.D3D12_COMMAND_LIST_TYPE_DIRECT))
assert_type(queue, dml.ID3D12CommandQueue)
buffer = device.CreateCommittedResource(
    dml.CD3DX12_HEAP_PROPERTIES(dml.D3D12_HEAP_TYPE_DEFAULT),
    dml.D3D12_HEAP_FLAG_NONE,
    dml.CD3DX12_RESOURCE_DESC.Buffer(16, dml.D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS),
    dml.D3D12_RESOURCE_STATE_COMMON,
    None,
)
barrier = dml.CD3DX12_RESOURCE_BARRIER.UAV(buffer)
assert_type(barrier.Transition.StateAfter, int)
binding = dml.DML_BINDING_DESC(dml.DML_BINDING_TYPE_BUFFER, dml.DML_BUFFER_BINDING(buffer, 0, 16))
binding.Desc = None

(joined,) = dml.evaluate(join, [np.zeros((1, 1, 2, 3), np.float32), np.ones((1, 1, 2, 4), np.float32)])
assert joined.shape == (1, 1, 2, 7)
problems: list[dml.Diagnostic] = dml.validate(join)

graph = Graph()
rows = graph.input_tensor("rows", FLOAT32, [1, 1, 3, 6])
left, right = graph.split(rows, axis=3, sizes=[2, 4])
largest = graph.reduce(right, function=dml.DML_REDUCE_FUNCTION_MAX, axes=[np.int64(3)])
assert_type(largest, Expression)
assert_type(graph.sqrt(largest), Expression)
assert_type(2 * abs(right) + right**2 - right / 2, Expression)
assert_type(graph.top_k(rows, axis=3, k=2).output_index, Expression)
clipped = graph.clip1(left, min_max_data_type=np.float32, min=0, max=0.5, scale_bias=(2, 0))
twice = graph.upsample_2d(rows, scale_size=(1, 2), interpolation_mode=dml.DML_INTERPOLATION_MODE_LINEAR)
compiled = graph.compile({"joined": graph.join([clipped, largest], axis=3)})
assert compiled.run({"rows": np.ones((1, 1, 3, 6), np.float32)})["joined"].shape == (1, 1, 3, 3)

product = dmlx.Gemm(
    rows, rows, transB=dml.DML_MATRIX_TRANSFORM_TRANSPOSE, fusedActivation=dmlx.FusedActivation.Relu()
)
assert_type(product, Expression)
builder = dmlx.GemmBuilder(rows, rows).Alpha(2).FusedActivation(dmlx.FusedActivation.None_())
assert_type(builder, dmlx.GemmBuilder)
assert_type(builder.TransB(dml.DML_MATRIX_TRANSFORM_TRANSPOSE).Build(), Expression)
assert_type(product.GetOutputDesc().sizes, list[int])
assert_type(dmlx.TensorDesc(FLOAT32, [2, 3]).AsPtr(dml.DML_TENSOR_DESC), dml.DML_TENSOR_DESC)
owned = dmlx.TensorDesc(FLOAT32, dml.DML_TENSOR_FLAG_OWNED_BY_DML, [2, 3], dmlx.TensorPolicy.Default())
assert_type(dmlx.Graph().GetTensorPolicy(), dmlx.TensorPolicy)
assert_type(dmlx.Split(rows, 3, [2, 4]), list[Expression])
values: Expression = dmlx.TopK(rows, 3, 2, dml.DML_AXIS_DIRECTION_DECREASING).value

# The fork of pydirectml, some functions of which are made from a table.
forked = fork.Graph(fork.Device())
image = forked.input([1, 1, 2, 2], np.float16, name="image")
total = fork.reduce(fork.abs(image), function=fork.ReduceFunction.SUM)
summed = fork.add(image, image, fused_activation=fork.FusedActivation.relu())
operator = forked.compile([total, summed, fork.padding(image, start_padding=[0] * 4, end_padding=[0] * 4)])
assert len(operator({image: np.ones((2, 2))})) == 3
