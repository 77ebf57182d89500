"""Calls of every operator, and of kernels over tensors whose blocks are large, for processes that tests start."""

# ``evaluate(name, seed)`` runs an operator's sample, ``graph_of(build, *inputs)`` a graph.
CALLS = """
import numpy as np
import directml_py as dml
from directml_py.graph import Graph
from directml_py.operators import SCHEMAS
from directml_py.testing.decision_source import RandomSource
from directml_py.testing.valid_descs import valid_desc

F32, F16 = dml.DML_TENSOR_DATA_TYPE_FLOAT32, dml.DML_TENSOR_DATA_TYPE_FLOAT16

def evaluate(name, seed):
    desc = valid_desc(RandomSource(seed), name)
    tensors = [slot.tensor for slot in desc.inputs]
    dml.evaluate(desc, [None if one is None else np.zeros(one.sizes, one.dtype) for one in tensors])

def graph_of(build, *inputs):
    graph = Graph()
    tensors = [
        graph.input_tensor(f"x{index}", F16 if x.dtype == np.float16 else F32, x.shape)
        for index, x in enumerate(inputs)
    ]
    graph.compile({"y": build(graph, *tensors)}).run(inputs)

def ones(*sizes, dtype=np.float32):
    return np.ones(sizes, dtype)

def convolution(graph, x, w, padding=0, groups=1):
    return graph.convolution(
        x, w, mode=dml.DML_CONVOLUTION_MODE_CROSS_CORRELATION, direction=dml.DML_CONVOLUTION_DIRECTION_FORWARD,
        strides=[1, 1], dilations=[1, 1], start_padding=[padding] * 2, end_padding=[padding] * 2,
        output_padding=[0, 0], group_count=groups)

def product(graph, a, b):
    plain = dml.DML_MATRIX_TRANSFORM_NONE
    return graph.gemm(a, b, trans_a=plain, trans_b=plain, alpha=1.0, beta=0.0)

def pool(graph, x):
    return graph.max_pooling(x, window_size=[3, 3], strides=[2, 2], start_padding=[0, 0], end_padding=[0, 0])

def sums(graph, x):
    return graph.reduce(x, function=dml.DML_REDUCE_FUNCTION_SUM, axes=[1])

def cumulative_sums(graph, x):
    return graph.cumulative_summation(
        x, axis=2, axis_direction=dml.DML_AXIS_DIRECTION_INCREASING, has_exclusive_sum=False)

def softmax(graph, x):
    return graph.activation_softmax1(x, axes=[3])

CASES = {
    "3 x 3 convolution": (
        lambda graph, x, w: convolution(graph, x, w, padding=1), ones(1, 64, 56, 56), ones(64, 64, 3, 3)),
    "1 x 1 convolution": (convolution, ones(1, 256, 28, 28), ones(64, 256, 1, 1)),
    "5 x 5 convolution": (convolution, ones(1, 32, 40, 40), ones(32, 32, 5, 5)),
    "depthwise convolution": (
        lambda graph, x, w: convolution(graph, x, w, groups=32), ones(1, 32, 56, 56), ones(32, 1, 3, 3)),
    "product": (product, ones(1, 1, 256, 300), ones(1, 1, 300, 400)),
    "product of halves": (
        product, ones(1, 1, 256, 300, dtype=np.float16), ones(1, 1, 300, 400, dtype=np.float16)),
    "softmax of halves": (softmax, ones(1, 8, 64, 3000, dtype=np.float16)),
    "sums of columns": (sums, ones(4, 300, 40, 50)),
    "pool": (pool, ones(1, 32, 112, 112)),
    "cumulative sums": (cumulative_sums, ones(2, 8, 300, 300)),
}
"""
