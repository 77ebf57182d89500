"""What a type checker must find in a user's program: an error in each line with a mark, and in no other."""

import ctypes

import directml_py as dml
from directml_py import DML_JOIN_OPERATOR_DES  # error
from directml_py.graph import Graph
from directml_py.graph import directmlx as dmlx

FLOAT32 = dml.DML_TENSOR_DATA_TYPE_FLOAT32
FLOAT31 = dml.DML_TENSOR_DATA_TYPE_FLOAT31  # error

x = dml.tensor_desc(FLOAT32, [1, 1, 2, 3])
strided = dml.tensor_desc(FLOAT32, [1, 1, 2, 3], stride=[6, 6, 3, 1])  # error
reduce = dml.DML_REDUCE_OPERATOR_DESC(Functoin=dml.DML_REDUCE_FUNCTION_SUM)  # error
reduce = dml.DML_REDUCE_OPERATOR_DESC(AxisCout=1)  # error
reduce = dml.DML_REDUCE_OPERATOR_DESC(Axes=3)
reduce.AxisCout = 1  # error
reduce.Axes = "3"  # error
reduce.Axes = [0.5]  # error
reduce.AxisCount = 1.5  # error
reduce.InputTensor = reduce  # error
reduce.InputTensor = [x]  # error
reduce.InputTensor.Type = 1  # error
print(reduce.AxesCount)  # error
reduce.replace(Axis=[1])  # error

join = dml.DML_JOIN_OPERATOR_DESC(InputTensors=x)  # error
join = dml.DML_JOIN_OPERATOR_DESC(InputTensors=[join])  # error
join.OutputTensor = dml.DML_BUFFER_TENSOR_DESC()  # error
sizes: list[int] = join.OutputTensor.contents.Sizes  # error
clip = dml.DML_ELEMENT_WISE_CLIP1_OPERATOR_DESC(InputTensor=x, Minimum=0)  # error
clip.Min = 0.5  # error
add = dml.DML_ELEMENT_WISE_ADD1_OPERATOR_DESC(FusedActivation=x)  # error
tensor = dml.DML_BUFFER_TENSOR_DESC(Size=[1, 1, 2, 3])  # error
union = dml.DML_SCALAR_UNION(1.5)  # error
node = dml.DML_OPERATOR_GRAPH_NODE_DESC(Name=5.0)  # error
binding = dml.DML_BUFFER_BINDING(x, 0, 16)  # error

device = dml.D3D12CreateDevice()
device.CreateCommandQueu(dml.D3D12_COMMAND_QUEUE_DESC())  # error
dml.DMLCreateDevice(device, dml.DML_CREATE_DEVICE_FLAG_DEBUG, feature_levl=1)  # error
dml.evaluate(reduce)  # error
print(DML_JOIN_OPERATOR_DES, ctypes.sizeof(reduce))

graph = Graph()
rows = graph.input_tensor("rows", FLOAT32, [1, 1, 3, 6])
graph.reduse(rows, function=dml.DML_REDUCE_FUNCTION_MAX, axes=[3])  # error
graph.reduce(rows, functoin=dml.DML_REDUCE_FUNCTION_MAX, axes=[3])  # error
graph.reduce(rows, function=dml.DML_REDUCE_FUNCTION_MAX)  # error
graph.join(rows, axis=3)  # error
graph.join([rows, x], axis=3)  # error
print(graph.top_k(rows, axis=3, k=2).output_indices)  # error
print(graph.sqrt(rows).nam)  # error
dmlx.Gem(rows, rows)  # error
dmlx.GemmBuilder(rows, rows).TransC(1)  # error
dmlx.TensorDesc(FLOAT32, owned=1)  # error
dmlx.Gemm(rows, rows, transC=dml.DML_MATRIX_TRANSFORM_TRANSPOSE)  # error
dmlx.Gemm(rows, rows, fusedActivation=dmlx.FusedActivation.Rellu())  # error
print((rows + "1").name)  # error
print((rows * 2).nam)  # error
