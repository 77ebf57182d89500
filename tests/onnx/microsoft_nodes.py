"""Small nodes of the domain com.microsoft."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import helper

RANDOM = np.random.default_rng(11)
MICROSOFT = "com.microsoft"


def floats(*sizes):
    return RANDOM.standard_normal(sizes).astype(np.float32)


def bytes_of(*sizes, dtype=np.uint8):
    """Without the largest signed ones: pairs of their products are more than ONNX Runtime adds in 16 bits on processors
    without VNNI."""
    low, high = (-64, 64) if dtype == np.int8 else (0, 256)
    return RANDOM.integers(low, high, sizes).astype(dtype)


def integers(*values):
    return np.array(values, np.int32)


def model_of(kind, inputs, attributes, outputs=1):
    """A model of one node; an input that is None is absent."""
    names = ["" if array is None else f"in{index}" for index, array in enumerate(inputs)]
    given = [
        helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
        for name, array in zip(names, inputs)
        if array is not None
    ]
    # ONNX Runtime requires the second output of this one too.
    least = 2 if kind.endswith("EmbedLayerNormalization") else 1
    wanted = [f"out{index}" for index in range(max(least, outputs))]
    node = helper.make_node(kind, names, wanted, domain=MICROSOFT, **attributes)
    graph = helper.make_graph([node], "one", given, [onnx.ValueInfoProto(name=name) for name in wanted])
    imports = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=8)
    return model, {name: array for name, array in zip(names, inputs) if array is not None}


ONE, U8 = np.float32(0.05).reshape(()), np.uint8(120).reshape(())
S8 = np.int8(-7).reshape(())
RELU = {"activation": "Relu"}
# Each case: the operator, its inputs, its attributes and, unless it is one, its number of outputs.
CASES = {
    "Gelu": ("Gelu", [floats(3, 4)], {}),
    "BiasGelu": ("BiasGelu", [floats(2, 3, 4), floats(4)], {}),
    "FastGelu": ("FastGelu", [floats(2, 3, 4)], {}),
    "FastGelu, bias": ("FastGelu", [floats(2, 3, 4), floats(4)], {}),
    "QuickGelu": ("QuickGelu", [floats(3, 4)], {"alpha": 1.5}),
    "FusedMatMul": ("FusedMatMul", [floats(2, 4, 3), floats(2, 4, 5)], {"transA": 1, "alpha": 0.5}),
    "FusedMatMul, transposed B": ("FusedMatMul", [floats(2, 2, 3, 4), floats(5, 4)], {"transB": 1}),
    "SkipLayerNormalization": (
        "SkipLayerNormalization",
        [floats(2, 3, 8), floats(2, 3, 8), floats(8), floats(8), floats(8)],
        {"epsilon": 1e-5},
    ),
    "SkipSimplifiedLayerNormalization": (
        "SkipSimplifiedLayerNormalization",
        [floats(2, 3, 8), floats(2, 3, 8), floats(8)],
        {"epsilon": 1e-5},
    ),
    "EmbedLayerNormalization": (
        "EmbedLayerNormalization",
        [
            integers([1, 4, 2], [0, 3, 3]),
            integers([0, 1, 1], [0, 0, 1]),
            floats(5, 8),
            floats(4, 8),
            floats(2, 8),
            floats(8),
            floats(8),
        ],
        {"epsilon": 1e-5},
    ),
    "RotaryEmbedding": (
        "RotaryEmbedding",
        [floats(2, 3, 16), np.array([[0, 1, 2], [1, 2, 3]]), floats(5, 4), floats(5, 4)],
        {},
    ),
    "RotaryEmbedding, interleaved": (
        "RotaryEmbedding",
        [floats(2, 2, 3, 8), np.array([1]), floats(5, 4), floats(5, 4)],
        {"interleaved": 1},
    ),
    "MultiHeadAttention": (
        "MultiHeadAttention",
        [floats(2, 3, 8), floats(2, 5, 8), floats(2, 5, 8), floats(24)],
        {"num_heads": 2},
    ),
    "MultiHeadAttention, mask": (
        "MultiHeadAttention",
        [floats(2, 3, 8), floats(2, 5, 8), floats(2, 5, 8), None, integers([1, 1, 1, 1, 0], [1, 1, 0, 0, 0])],
        {"num_heads": 2, "scale": 0.3},
    ),
    "MultiHeadAttention, causal": (
        "MultiHeadAttention",
        [floats(2, 3, 8), floats(2, 5, 8), floats(2, 5, 8), None, None, floats(2, 2, 3, 5)],
        {"num_heads": 2, "unidirectional": 1, "mask_filter_value": 2.0},
    ),
    "MultiHeadAttention, bias of scores": (
        "MultiHeadAttention",
        [floats(1, 3, 8), floats(1, 5, 8), floats(1, 5, 8), None, None, floats(1, 2, 3, 5)],
        {"num_heads": 2},
    ),
    "Attention": ("Attention", [floats(2, 3, 8), floats(8, 24), floats(24)], {"num_heads": 2}),
    "Attention, lengths": (
        "Attention",
        [floats(2, 3, 8), floats(8, 24), floats(24), integers(3, 2)],
        {"num_heads": 2},
    ),
    "Attention, causal": (
        "Attention",
        [floats(2, 3, 8), floats(8, 24), floats(24)],
        {"num_heads": 2, "unidirectional": 1},
    ),
    "QAttention": (
        "QAttention",
        [bytes_of(2, 3, 8), bytes_of(8, 24), floats(24), ONE / 20, ONE / 20, None, U8, U8],
        {"num_heads": 2},
    ),
    # Beyond 127 ONNX Runtime saturates on processors without VNNI.
    "QAttention, signed, by column, lengths": (
        "QAttention",
        [
            bytes_of(2, 3, 8) // 2,
            bytes_of(8, 24, dtype=np.int8),
            floats(24),
            ONE / 20,
            np.abs(floats(24)) / 400,
            integers(3, 2),
            U8,
            bytes_of(24, dtype=np.int8),
        ],
        {"num_heads": 2},
    ),
    "QAttention, causal": (
        "QAttention",
        [bytes_of(2, 3, 8), bytes_of(8, 24), floats(24), ONE / 20, ONE / 20, None, U8],
        {"num_heads": 2, "unidirectional": 1},
    ),
    "QLinearAdd": ("QLinearAdd", [bytes_of(3, 4), ONE, U8, bytes_of(4), ONE, U8, ONE * 2, U8], {}),
    "QLinearSigmoid": ("QLinearSigmoid", [bytes_of(3, 4), ONE, U8, np.float32(1 / 256), np.uint8(0)], {}),
    "QLinearAveragePool": (
        "QLinearAveragePool",
        [bytes_of(1, 2, 6, 6), ONE, U8, ONE, U8],
        {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]},
    ),
    "QLinearGlobalAveragePool": ("QLinearGlobalAveragePool", [bytes_of(1, 2, 6, 6), ONE, U8, ONE, U8], {}),
    "QLinearConcat": (
        "QLinearConcat",
        [ONE, U8, bytes_of(2, 3), ONE * 2, U8, bytes_of(2, 1), ONE / 2, np.uint8(3)],
        {"axis": 1},
    ),
    "MatMulIntegerToFloat": (
        "MatMulIntegerToFloat",
        [
            bytes_of(2, 3, 4),
            bytes_of(4, 5),
            np.float32(0.1).reshape(1),
            abs(floats(5)),
            np.uint8(7).reshape(1),
        ],
        {},
    ),
    "DynamicQuantizeMatMul, zero points by column": (
        "DynamicQuantizeMatMul",
        [floats(3, 4), bytes_of(4, 5), np.float32(0.1).reshape(1), bytes_of(5)],
        {},
    ),
    "DynamicQuantizeMatMul": (
        "DynamicQuantizeMatMul",
        [floats(3, 4), bytes_of(4, 5), np.float32(0.1).reshape(1), np.uint8(130).reshape(1), floats(5)],
        {},
    ),
    "MatMulNBits": (
        "MatMulNBits",
        [floats(2, 3, 64), bytes_of(5, 4, 8), floats(5 * 4)],
        {"K": 64, "N": 5, "bits": 4, "block_size": 16},
    ),
    "MatMulNBits, zero points": (
        "MatMulNBits",
        [floats(3, 48), bytes_of(5, 3, 8), floats(5 * 3), bytes_of(5 * 2)],
        {"K": 48, "N": 5, "bits": 4, "block_size": 16},
    ),
    "EmbedLayerNormalization, mask and sums": (
        "EmbedLayerNormalization",
        [
            integers([1, 4, 2], [0, 3, 3]),
            None,
            floats(5, 8),
            floats(4, 8),
            None,
            floats(8),
            floats(8),
            integers([1, 1, 0], [1, 1, 1]),
        ],
        {},
        3,
    ),
    "QEmbedLayerNormalization": (
        "QEmbedLayerNormalization",
        [
            integers([1, 4, 2], [0, 3, 3]),
            integers([0, 1, 1], [0, 0, 1]),
            *(bytes_of(*sizes) for sizes in ((5, 8), (4, 8), (2, 8), (8,), (8,))),
            integers([1, 1, 0], [1, 1, 1]),
            *[ONE] * 5,
            *[U8] * 5,
        ],
        {},
    ),
    "SkipLayerNormalization, sums": (
        "SkipLayerNormalization",
        [floats(2, 3, 8), floats(2, 3, 8), floats(8), floats(8)],
        {},
        4,
    ),
    "Gelu of a scalar": ("Gelu", [floats()], {}),
    "QuickGelu of a scalar": ("QuickGelu", [floats()], {}),
    "FusedMatMul, batches transposed": (
        "FusedMatMul",
        [floats(3, 2, 4), floats(2, 5, 4)],
        {"transBatchA": 1, "transB": 1},
    ),
    "FusedMatMul, all transposed": (
        "FusedMatMul",
        [floats(4, 2, 3), floats(5, 2, 4)],
        {"transBatchA": 1, "transA": 1, "transBatchB": 1, "transB": 1},
    ),
    "TransposeMatMul": ("TransposeMatMul", [floats(2, 4, 3), floats(2, 4, 5)], {"transA": 1}),
    "FusedConv": ("FusedConv", [floats(1, 2, 5, 6), floats(4, 1, 3, 3), floats(4)], {"group": 2, **RELU}),
    "FusedConv, sum": (
        "FusedConv",
        [floats(1, 2, 5, 5), floats(3, 2, 3, 3), floats(3), floats(1, 3, 3, 3)],
        RELU,
    ),
    "FusedConv, Clip": (
        "FusedConv",
        [floats(1, 2, 5, 5), floats(3, 2, 3, 3), floats(3)],
        {"activation": "Clip", "activation_params": [-0.5, 1.5], "pads": [1, 1, 0, 0]},
    ),
    "FusedConv, LeakyRelu": (
        "FusedConv",
        [floats(1, 2, 5), floats(3, 2, 3)],
        {"activation": "LeakyRelu", "activation_params": [0.3]},
    ),
    "FusedConv, HardSigmoid": (
        "FusedConv",
        [floats(1, 2, 5, 5), floats(3, 2, 3, 3)],
        {"activation": "HardSigmoid", "activation_params": [0.3, 0.4], "strides": [2, 2]},
    ),
    "FusedGemm": ("FusedGemm", [floats(3, 4), floats(5, 4), floats(5)], {"transB": 1, **RELU}),
    "FusedGemm, LeakyRelu": (
        "FusedGemm",
        [floats(4, 3), floats(4, 5)],
        {"transA": 1, "alpha": 0.5, "activation": "LeakyRelu", "activation_alpha": 0.3},
    ),
    "DequantizeLinear": ("DequantizeLinear", [bytes_of(2, 3), abs(floats(3)), bytes_of(3)], {"axis": 1}),
    "QuantizeLinear": ("QuantizeLinear", [floats(2, 3), ONE, np.int8(3).reshape(())], {}),
    "QLinearMul": ("QLinearMul", [bytes_of(3, 1), ONE, U8, bytes_of(4), ONE, U8, ONE, U8], {}),
    "QLinearMul, signed": (
        "QLinearMul",
        [bytes_of(3, 4, dtype=np.int8), ONE, S8, bytes_of(3, 4, dtype=np.int8), ONE, S8, ONE * 3, S8],
        {},
    ),
    "QLinearLeakyRelu": ("QLinearLeakyRelu", [bytes_of(3, 40), ONE, U8, ONE / 2, U8], {"alpha": 0.2}),
    "QLinearSoftmax": (
        "QLinearSoftmax",
        [bytes_of(2, 3, 4), ONE, U8, np.float32(1 / 255).reshape(()), np.uint8(0).reshape(())],
        {"opset": 13, "axis": 1},
    ),
    "QLinearSoftmax, flattened": (
        "QLinearSoftmax",
        [bytes_of(2, 3, 4), ONE, U8, np.float32(1 / 255).reshape(()), np.uint8(0).reshape(())],
        {"opset": 12, "axis": 1},
    ),
    "QLinearWhere": (
        "QLinearWhere",
        [np.array([True, False, True]), bytes_of(2, 3), ONE, U8, bytes_of(2, 1), ONE * 2, U8, ONE, U8],
        {},
    ),
    "QLinearAveragePool, ceil_mode": (
        "QLinearAveragePool",
        [bytes_of(1, 2, 6, 7), ONE, U8, ONE, U8],
        {"kernel_shape": [3, 2], "strides": [2, 3], "ceil_mode": 1},
    ),
    "QLinearAveragePool, ceil_mode, no window in the padding": (
        "QLinearAveragePool",
        [bytes_of(1, 2, 5, 5), ONE, U8, ONE * 1.1, U8],
        {"kernel_shape": [3, 3], "strides": [3, 3], "pads": [0, 0, 2, 2], "ceil_mode": 1},
    ),
    "QLinearAveragePool, channels last": (
        "QLinearAveragePool",
        [bytes_of(1, 6, 7, 2), ONE, U8, ONE, U8],
        {"kernel_shape": [2, 3], "channels_last": 1},
    ),
    "QLinearGlobalAveragePool, channels last": (
        "QLinearGlobalAveragePool",
        [bytes_of(2, 5, 6, 3), ONE, U8, ONE, U8],
        {"channels_last": 1},
    ),
    "NhwcMaxPool": ("NhwcMaxPool", [bytes_of(1, 6, 7, 3)], {"kernel_shape": [2, 3], "strides": [2, 2]}),
    "QLinearConv": (
        "QLinearConv",
        [
            bytes_of(1, 5, 6, 2),
            ONE,
            U8,
            bytes_of(3, 2, 3, 3) // 2,
            ONE / 9,
            U8,
            ONE,
            U8,
            integers(9, -50, 80),
        ],
        {"channels_last": 1, "pads": [1, 1, 1, 1], "strides": [1, 2]},
    ),
    "QGemm": (
        "QGemm",
        [bytes_of(3, 4), ONE, U8, bytes_of(4, 5), ONE, U8, integers(1, 20, -300, 40, 5), ONE * 4, U8],
        {"alpha": 0.5},
    ),
    "QGemm, floats by column": (
        "QGemm",
        [bytes_of(4, 3), ONE, U8, bytes_of(5, 4, dtype=np.int8), abs(floats(5)), np.zeros(5, np.int8)],
        {"transA": 1, "transB": 1},
    ),
    "DynamicQuantizeLSTM": (
        "DynamicQuantizeLSTM",
        [
            floats(5, 1, 3),
            bytes_of(2, 3, 16, dtype=np.int8),
            bytes_of(2, 4, 16, dtype=np.int8),
            floats(2, 32),
            None,
            floats(2, 1, 4),
            floats(2, 1, 4),
            None,
            abs(floats(2)) / 100,
            np.zeros(2, np.int8),
            abs(floats(2)) / 100,
            np.zeros(2, np.int8),
        ],
        {"hidden_size": 4, "direction": "bidirectional"},
        3,
    ),
    "DynamicQuantizeLSTM, by column, clipped, coupled gates": (
        "DynamicQuantizeLSTM",
        [
            floats(4, 1, 3) * 3,
            bytes_of(1, 3, 16),
            bytes_of(1, 4, 16),
            *[None] * 5,
            abs(floats(1, 16)) / 50,
            np.full((1, 16), 130, np.uint8),
            abs(floats(1, 16)) / 50,
            np.full((1, 16), 130, np.uint8),
        ],
        {"hidden_size": 4, "direction": "reverse", "clip": 0.5, "input_forget": 1},
        3,
    ),
    "ExpandDims": ("ExpandDims", [floats(2, 3), np.array(-1, np.int32)], {}),
    "GatherND": ("GatherND", [floats(2, 3, 4), integers([0, 2], [1, 0])], {}),
    "GridSample": ("GridSample", [floats(1, 2, 4, 5), floats(1, 3, 2, 2)], {"padding_mode": "border"}),
    "Pad": ("Pad", [floats(2, 3), np.array([1, 0, 0, 2]), np.float32(3).reshape(1)], {}),
    "Range": ("Range", [*map(np.float32, (1, 5, 2))], {}),
    "Trilu": ("Trilu", [floats(2, 3, 4), np.array(1)], {"upper": 0}),
    "ConvTransposeWithDynamicPads": (
        "ConvTransposeWithDynamicPads",
        [floats(1, 2, 4, 4), floats(2, 3, 3, 3), np.array([1, 0, 1, 0])],
        {"strides": [2, 2]},
    ),
    "RotaryEmbedding, more tokens than positions": (
        "RotaryEmbedding",
        [floats(1, 6, 16), np.array([[0, 1, 2, 0, 1, 4]]), floats(5, 4), floats(5, 4)],
        {"is_packed_batching": 1},
    ),
    "RotaryEmbedding, part of each head": (
        "RotaryEmbedding",
        [floats(2, 3, 16), np.array([[0, 1, 2], [1, 2, 3]]), floats(5, 3), floats(5, 3)],
        {"rotary_embedding_dim": 6, "num_heads": 2},
    ),
    "RotaryEmbedding, part of each head before its tokens": (
        "RotaryEmbedding",
        [floats(2, 2, 3, 8), np.array([1]), floats(5, 2), floats(5, 2)],
        {"rotary_embedding_dim": 4, "num_heads": 2, "interleaved": 1},
    ),
}
# Inputs that are constants: they decide about the graph, or ONNX Runtime requires it.
CONSTANT = {
    "ConvTransposeWithDynamicPads": (2,),
    "DynamicQuantizeLSTM": (1, 2, 8, 9, 10, 11),
    "ExpandDims": (1,),
    "MatMulNBits": (1, 2, 3),
    "Pad": (1, 2),
    "QGemm": (3, 4, 5),
    "QLinearAveragePool": (1, 2, 3, 4),
    "QLinearConv": (1, 2, 3, 4, 5, 6, 7, 8),
    "QLinearGlobalAveragePool": (1, 2, 3, 4),
    "QLinearLeakyRelu": (1, 2, 3, 4),
    "QLinearSigmoid": (1, 2, 3, 4),
    "QLinearSoftmax": (1, 2, 3, 4),
    "QLinearWhere": (2, 3, 5, 6, 7, 8),
    "Range": (0, 1, 2),
    "Trilu": (1,),
    "DynamicQuantizeMatMul": (1, 2, 3, 4),
}
