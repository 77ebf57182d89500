"""A small network in the manner of Microsoft's samples: owned weights, strided broadcasts, pools, a softmax.

python classify.py FOLDER: x.npy and the weights are in FOLDER, where y.npy goes.
"""

import os
import sys

import numpy as np
import pydirectml as dml

folder = sys.argv[1]
bindings = []


def append_input_tensor(builder: dml.GraphBuilder, desc: dml.TensorDesc, name: str):
    tensor = dml.input_tensor(builder, len(bindings), desc)
    bindings.append(dml.Binding(tensor, np.load(os.path.join(folder, name + ".npy"))))
    return tensor


device = dml.Device(True, True)
builder = dml.GraphBuilder(device)
kind, flags = dml.TensorDataType.FLOAT32, dml.TensorFlags.OWNED_BY_DML
relu = dml.FusedActivation(dml.OperatorType.ACTIVATION_RELU)

x = append_input_tensor(builder, dml.TensorDesc(kind, [1, 3, 16, 16]), "x")
filter1 = append_input_tensor(builder, dml.TensorDesc(kind, flags, [8, 3, 3, 3]), "filter1")
bias1 = append_input_tensor(builder, dml.TensorDesc(kind, flags, [1, 8, 1, 1]), "bias1")
first = dml.convolution(
    x, filter1, bias1, strides=[2, 2], start_padding=[1, 1], end_padding=[1, 1], fused_activation=relu
)

# Each channel by itself.
filter2 = append_input_tensor(builder, dml.TensorDesc(kind, flags, [8, 1, 3, 3]), "filter2")
second = dml.convolution(first, filter2, start_padding=[1, 1], end_padding=[1, 1], group_count=8)
statistics = [
    append_input_tensor(builder, dml.TensorDesc(kind, flags, [1, 8, 1, 1]), name)
    for name in ("mean", "variance", "scale", "shift")
]
normal = dml.batch_normalization(second, *statistics, 1, 0.000009999999747378752, relu)
both = dml.join([dml.add(normal, first), first], 1)

spread = append_input_tensor(builder, dml.TensorDesc(kind, [1, 16, 8, 8], [16, 1, 0, 0]), "spread")
pooled = dml.max_pooling(dml.add(both, spread), strides=[2, 2], window_sizes=[2, 2])
mean = dml.average_pooling(pooled.values, [1, 1], [4, 4], [0, 0], [0, 0], 0)
row = dml.reinterpret(mean, kind, [1, 1, 1, 16], None)
weights = append_input_tensor(builder, dml.TensorDesc(kind, flags, [1, 1, 10, 16]), "weights")
scores = dml.gemm(row, weights, trans_b=dml.MatrixTransform.TRANSPOSE)
result = dml.activation_soft_max(scores)

model = builder.build(dml.ExecutionFlags.NONE, [result])
output_data = device.compute(model, bindings, [result])
np.save(os.path.join(folder, "y.npy"), np.array(output_data[0], np.float32))
print("Number is:", np.argmax(output_data[0]))
