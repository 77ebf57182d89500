"""A picture through paddings, normalizations and a convolution backwards, by the fork's module.

python style.py FOLDER: x.npy and the weights are in FOLDER, where y.npy goes.
"""

import os
import sys

import directml as dml
import numpy as np

folder = sys.argv[1]
device = dml.Device(use_gpu=True)
builder = dml.GraphBuilder(device)
kind, flags = dml.TensorDataType.FLOAT32, dml.TensorFlags.OWNED_BY_DML
sizes = {
    "x": [1, 3, 12, 12],
    "filter1": [4, 3, 5, 5],
    "scale": [1, 4, 1, 1],
    "shift": [1, 4, 1, 1],
    "filter2": [4, 3, 3, 3],
}
tensors = {
    name: dml.input_tensor(
        builder, index, dml.TensorDesc(kind, dml.TensorFlags.NONE if name == "x" else flags, one)
    )
    for index, (name, one) in enumerate(sizes.items())
}
padded = dml.padding(
    dml.value_scale_2d(tensors["x"], 0.5, [0.1, 0.2, 0.3]),
    dml.PaddingMode.REFLECTION,
    0,
    [0, 0, 2, 2],
    [0, 0, 2, 2],
)
seen = dml.convolution(padded, tensors["filter1"], strides=[2, 2])
relu = dml.FusedActivation(dml.OperatorType.ACTIVATION_RELU)
normal = dml.mean_variance_normalization(seen, tensors["scale"], tensors["shift"], [2, 3], 1, 1, 1e-5, relu)
large = dml.convolution(
    normal,
    tensors["filter2"],
    direction=dml.ConvolutionDirection.BACKWARD,
    strides=[2, 2],
    output_sizes=[1, 3, 14, 14],
)
picture = dml.activation_tanh(dml.slice(large, [0, 0, 1, 1], [1, 3, 12, 12], [1, 1, 1, 1])) * 127.5 + 127.5

model = builder.build(dml.ExecutionFlags.NONE, [picture])
inputs = [
    dml.Binding(tensor, np.load(os.path.join(folder, name + ".npy"))) for name, tensor in tensors.items()
]
device.initialize(model, inputs)
(result,) = device.dispatch(model, inputs, [picture])
np.save(os.path.join(folder, "y.npy"), np.asarray(result))
