"""Translation of a network to a graph of ours and to an equivalent ONNX model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import directml_py as dml
from directml_py.graph import Expression, Graph

from .architectures import EPSILON, Array, Network

FLOAT32 = dml.DML_TENSOR_DATA_TYPE_FLOAT32
FUSED = {
    "RELU": dml.DML_ACTIVATION_RELU_OPERATOR_DESC(),
    "TANH": dml.DML_ACTIVATION_TANH_OPERATOR_DESC(),
}
OPSET = 18
Attributes = Mapping[str, Any]
Sizes = Sequence[int]


def _both(value: Any) -> list[int]:
    return [int(value)] * 2


def _transposed(get: Attributes, sizes: Sizes) -> list[int]:
    """The output sizes of a transposed convolution with an output padding of 1, as in PyTorch."""
    less = 2 * get["padding"] - get["window"] - 1
    return [sizes[0], get["features"], *((size - 1) * get["stride"] - less for size in sizes[2:])]


def _pooling(get: Attributes, sizes: Sizes) -> dict[str, Any]:
    padding = _both(get["padding"])
    return {
        "window_size": _both(get["window"]),
        "strides": _both(get["stride"]),
        "start_padding": padding,
        "end_padding": padding,
    }


# For each kind of layer, the operator's attributes from the layer's and the sizes of its first input.
DIRECTML: Mapping[str, Callable[[Attributes, Sizes], dict[str, Any]]] = {
    "CONVOLUTION": lambda get, sizes: {
        "mode": dml.DML_CONVOLUTION_MODE_CROSS_CORRELATION,
        "direction": dml.DML_CONVOLUTION_DIRECTION(int(get["backward"])),
        "strides": _both(get["stride"]),
        "dilations": [1, 1],
        "start_padding": _both(get["padding"]),
        "end_padding": _both(get["padding"]),
        "output_padding": [0, 0],
        # PyTorch adds the bias to the extra row and column too, which OutputPadding does not.
        **({"output_sizes": _transposed(get, sizes)} if get["backward"] else {}),
        "group_count": get["groups"],
    },
    "BATCH_NORMALIZATION": lambda get, sizes: {"spatial": True, "epsilon": EPSILON},
    "MEAN_VARIANCE_NORMALIZATION1": lambda get, sizes: {
        "axes": [0, 2, 3],
        "normalize_variance": True,
        "epsilon": EPSILON,
    },
    "MAX_POOLING": _pooling,
    "AVERAGE_POOLING": lambda get, sizes: {**_pooling(get, sizes), "include_padding": False},
    "ACTIVATION_SOFTMAX1": lambda get, sizes: {"axes": [1]},
    "ACTIVATION_LINEAR": lambda get, sizes: {"alpha": get["alpha"], "beta": 0.0},
    "VALUE_SCALE_2D": lambda get, sizes: {"scale": 1.0, "bias": get["bias"]},
    "JOIN": lambda get, sizes: {"axis": 1},
    "ADD": lambda get, sizes: {},
    "CLIP": lambda get, sizes: {"min": get["low"], "max": get["high"]},
    "MULTIPLY": lambda get, sizes: {},
    "SLICE": lambda get, sizes: {
        "offsets": [0, 0, *_both(get["border"])],
        "sizes": [*sizes[:2], *(size - 2 * get["border"] for size in sizes[2:])],
        "strides": [1] * 4,
    },
    "PADDING": lambda get, sizes: {
        "padding_mode": dml.DML_PADDING_MODE_REFLECTION,
        "padding_value": 0.0,
        "start_padding": [0, 0, *_both(get["padding"])],
        "end_padding": [0, 0, *_both(get["padding"])],
    },
    "DEPTH_TO_SPACE1": lambda get, sizes: {
        "block_size": get["block"],
        "order": dml.DML_DEPTH_SPACE_ORDER_COLUMN_ROW_DEPTH,
    },
}


def directml(network: Network) -> tuple[Graph, list[Array]]:
    """The graph, and the arrays of its inputs after the image: weights, which are OWNED_BY_DML."""
    graph = Graph()
    values = [graph.input_tensor("image", FLOAT32, network.sizes)]
    weights: list[Array] = []

    def owned(array: Array, sizes: Sizes | None) -> Expression:
        """An owned input; per-channel arrays are broadcast to ``sizes``."""
        channels = array.ndim == 1
        weights.append(array.reshape(1, -1, 1, 1) if channels else array)
        flags = dml.DML_TENSOR_FLAG_OWNED_BY_DML
        weight = graph.input_tensor(len(weights), FLOAT32, weights[-1].shape, flags=flags)
        return graph.reinterpret(weight, sizes=sizes, strides=[0, 1, 0, 0]) if channels and sizes else weight

    for layer in network.layers:
        inputs = [values[index] for index in layer.inputs]
        sizes = inputs[0].desc.sizes
        spread = sizes if layer.kind in ("ADD", "MULTIPLY") else None
        inputs += [owned(array, spread) for array in layer.weights]
        attributes = DIRECTML[layer.kind](layer.attributes, sizes)
        if layer.activation:
            attributes["fused_activation"] = FUSED[layer.activation]
        arguments: Sequence[Any] = [inputs] if layer.kind == "JOIN" else inputs
        values.append(getattr(graph, layer.kind.lower())(*arguments, **attributes))
    graph.outputs = {"result": values[-1]}
    return graph, weights


def _window(get: Attributes) -> dict[str, Any]:
    return {
        "kernel_shape": _both(get["window"]),
        "strides": _both(get["stride"]),
        "pads": [get["padding"]] * 4,
    }


# For each kind of layer, the node, its attributes, and constant inputs after the layer's own.
ONNX: Mapping[str, Callable[[Attributes], tuple[str, dict[str, Any], list[Array]]]] = {
    "CONVOLUTION": lambda get: (
        "ConvTranspose" if get["backward"] else "Conv",
        {
            "strides": _both(get["stride"]),
            "pads": [get["padding"]] * 4,
            "group": get["groups"],
            **({"output_padding": [1, 1]} if get["backward"] else {}),
        },
        [],
    ),
    "BATCH_NORMALIZATION": lambda get: ("BatchNormalization", {"epsilon": EPSILON}, []),
    "MEAN_VARIANCE_NORMALIZATION1": lambda get: ("InstanceNormalization", {"epsilon": EPSILON}, []),
    "MAX_POOLING": lambda get: ("MaxPool", _window(get), []),
    "AVERAGE_POOLING": lambda get: ("AveragePool", _window(get), []),
    "ACTIVATION_SOFTMAX1": lambda get: ("Softmax", {"axis": 1}, []),
    "ACTIVATION_LINEAR": lambda get: ("Mul", {}, [np.float32(get["alpha"])]),
    "VALUE_SCALE_2D": lambda get: ("Add", {}, [np.array(get["bias"], np.float32).reshape(-1, 1, 1)]),
    "JOIN": lambda get: ("Concat", {"axis": 1}, []),
    "ADD": lambda get: ("Add", {}, []),
    "CLIP": lambda get: ("Clip", {}, [np.float32(get["low"]), np.float32(get["high"])]),
    "MULTIPLY": lambda get: ("Mul", {}, []),
    "SLICE": lambda get: (
        "Slice",
        {},
        [np.array(_both(number)) for number in (get["border"], -get["border"])] + [np.array([2, 3])],
    ),
    "PADDING": lambda get: ("Pad", {"mode": "reflect"}, [np.array([0, 0, *_both(get["padding"])] * 2)]),
    "DEPTH_TO_SPACE1": lambda get: ("DepthToSpace", {"blocksize": get["block"], "mode": "CRD"}, []),
}


def onnx_model(network: Network) -> bytes:
    """The ONNX model from ``image`` to ``result``; needs the package ``onnx``."""
    # Processes that measure this package alone do not import another runtime.
    from .sessions import onnx

    nodes: list[Any] = []
    constants: list[Any] = []

    def constant(array: Array) -> str:
        name = f"constant{len(constants)}"
        constants.append(onnx.numpy_helper.from_array(array, name))
        return name

    names = ["image"]
    for index, layer in enumerate(network.layers):
        kind, attributes, extra = ONNX[layer.kind](layer.attributes)
        weights = list(layer.weights)
        if layer.kind == "BATCH_NORMALIZATION":
            mean, variance, scale, bias = weights
            weights = [scale, bias, mean, variance]
        elif layer.kind in ("ADD", "MULTIPLY"):
            weights = [item.reshape(-1, 1, 1) for item in weights]
        inputs = [names[item] for item in layer.inputs] + [constant(item) for item in (*weights, *extra)]
        name = "result" if index == len(network.layers) - 1 else f"value{index}"
        before = f"{name}_before" if layer.activation else name
        nodes.append(onnx.helper.make_node(kind, inputs, [before], **attributes))
        if layer.activation:
            nodes.append(onnx.helper.make_node(layer.activation.capitalize(), [before], [name]))
        names.append(name)
    graph = onnx.helper.make_graph(
        nodes,
        "network",
        [onnx.helper.make_tensor_value_info("image", onnx.TensorProto.FLOAT, network.sizes)],
        [onnx.helper.make_tensor_value_info("result", onnx.TensorProto.FLOAT, None)],
        constants,
    )
    model = onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", OPSET)], ir_version=9)
    data: bytes = model.SerializeToString()
    return data
