"""Valid inputs and attributes of operators, of which other cases are drawn.

They are ONNX's own node cases, those of the DirectML provider's client, and for what these lack the tables here.
"""

from __future__ import annotations

import warnings
from collections import defaultdict
from collections.abc import Iterator, Mapping
from functools import cache
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from clients.dml_provider import contrib_models
from clients.dml_provider.contrib_models import floats, integers, positive, scalar
from onnx import AttributeProto, ModelProto, TensorProto, TypeProto, helper, numpy_helper

from .schemas import MICROSOFT

I8, U8, I64 = np.int8, np.uint8, np.int64


class OperatorSample(NamedTuple):
    """The inputs of one node, of which None are left out: arrays, lists of arrays, or what ``types`` says.

    ``opset`` is a version that the sample is for, ``outputs`` which outputs are asked for.
    """

    name: str
    domain: str
    operator: str
    opset: int
    inputs: tuple[Any, ...]
    types: tuple[TypeProto | None, ...]
    attributes: Mapping[str, AttributeProto]
    outputs: tuple[bool, ...]


@cache
def samples() -> dict[tuple[str, str], list[OperatorSample]]:
    """All samples by domain and operator."""
    found: dict[tuple[str, str], list[OperatorSample]] = defaultdict(list)
    for source in (_of_onnx, _of_provider, _of_tables):
        for sample in source():
            found[sample.domain, sample.operator].append(sample)
    return found


def _of_onnx() -> Iterator[OperatorSample]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases

        for test in collect_testcases(None):
            assert test.model is not None
            graph = test.model.graph
            if len(graph.node) == 1 and "_expanded" not in test.name and test.data_sets:
                yield _of_case(test.name, test.model, list(test.data_sets[0][0]))


def _of_case(name: str, model: ModelProto, given: list[Any]) -> OperatorSample:
    (node,) = model.graph.node
    types = {value.name: value.type for value in model.graph.input}
    values = {value.name: one for value, one in zip(model.graph.input, given)}
    (opset,) = [one.version for one in model.opset_import if one.domain == node.domain]
    return OperatorSample(
        name,
        node.domain,
        node.op_type,
        opset,
        tuple(_of_numpy(values[label]) if label else None for label in node.input),
        tuple(types[label] if label else None for label in node.input),
        {attribute.name: attribute for attribute in node.attribute},
        tuple(map(bool, node.output)),
    )


def _of_numpy(value: Any) -> Any:
    if isinstance(value, TensorProto):
        return numpy_helper.to_array(value)
    if isinstance(value, list):
        return list(map(_of_numpy, value))
    return value if value is None else np.asarray(value)


def _of_provider() -> Iterator[OperatorSample]:
    for name, node in contrib_models.nodes().items():
        opset = node.opset if not node.domain else 1
        yield made(name, node.operator, node.inputs, node.attributes, node.outputs, node.domain, opset)


def made(
    name: str, operator: str, inputs: tuple[Any, ...], attributes: Mapping[str, Any] = MappingProxyType({}),
    outputs: int = 1, domain: str = "", opset: int = 7,
) -> OperatorSample:  # fmt: skip
    arrays = tuple(one if one is None or isinstance(one, list) else np.asarray(one) for one in inputs)
    return OperatorSample(
        name,
        domain,
        operator,
        opset,
        arrays,
        tuple(None if one is None else type_of(one) for one in arrays),
        {key: helper.make_attribute(key, value) for key, value in attributes.items()},
        (True,) * outputs,
    )


def type_of(value: Any) -> TypeProto:
    """The type of a tensor, or of a sequence of tensors."""
    if isinstance(value, list):
        return helper.make_sequence_type_proto(type_of(value[0]))
    kind = helper.np_dtype_to_tensor_dtype(value.dtype)
    return helper.make_tensor_type_proto(kind, value.shape)


def _of_tables() -> Iterator[OperatorSample]:
    for domain, table in (("", _onnx()), (MICROSOFT, _microsoft() | _quantized())):
        for name, (inputs, attributes, *outputs) in table.items():
            operator, _, _ = name.partition(" ")
            count = outputs[0] if outputs else 1
            yield made(name, operator, inputs, attributes, count, domain, 1 if domain else 13)


def _onnx() -> dict[str, Any]:
    """Of operators that ONNX has no node cases of."""
    x = floats(2, 3, 4)
    sequence = [floats(2, 3), floats(2, 3), floats(2, 3)]
    return {
        "GlobalLpPool": ((floats(2, 3, 4, 5),), {"p": 2}),
        "Multinomial": ((floats(2, 5),), {"sample_size": 3, "seed": 1.0}),
        "RandomNormal": ((), {"shape": [2, 3]}),
        "RandomUniform": ((), {"shape": [2, 3], "low": 1.0}),
        "RandomNormalLike": ((x,), {}),
        "RandomUniformLike": ((x,), {}),
        "Optional": ((x,), {}),
        "ConcatFromSequence": ((sequence,), {"axis": 1}),
        "ConcatFromSequence new": ((sequence,), {"axis": 0, "new_axis": 1}),
        "SequenceAt": ((sequence, np.array(1)), {}),
        "SequenceConstruct": ((x, x), {}),
        "SequenceEmpty": ((), {}),
        "SequenceErase": ((sequence, np.array(1)), {}),
        "SequenceLength": ((sequence,), {}),
        "LSTM peepholes": (
            (floats(3, 2, 4), floats(1, 20, 4), floats(1, 20, 5), floats(1, 40), np.array([3, 1], np.int32),
             floats(1, 2, 5), floats(1, 2, 5), floats(1, 15)), {"hidden_size": 5, "clip": 1.0}, 3,
        ),
        "LSTM both": (
            (floats(3, 2, 4), floats(2, 20, 4), floats(2, 20, 5)), {"hidden_size": 5, "direction": "bidirectional"}, 3,
        ),
        "GRU both": (
            (floats(3, 2, 4), floats(2, 15, 4), floats(2, 15, 5), floats(2, 30)),
            {"hidden_size": 5, "direction": "bidirectional", "linear_before_reset": 1}, 2,
        ),
        "RNN reverse": (
            (floats(3, 2, 4), floats(1, 5, 4), floats(1, 5, 5), None, np.array([3, 2], np.int32), floats(1, 2, 5)),
            {"hidden_size": 5, "direction": "reverse"}, 2,
        ),
        "Conv grouped": ((floats(2, 4, 6, 5), floats(6, 2, 3, 3), floats(6)), {"group": 2, "strides": [2, 1]}),
        "Conv line": ((floats(2, 4, 9), floats(6, 4, 3)), {"pads": [1, 2], "dilations": [2]}),
        "Conv volume": ((floats(1, 2, 4, 5, 4), floats(3, 2, 2, 3, 2), floats(3)), {}),
        "ConvTranspose grouped": (
            (floats(2, 4, 4, 5), floats(4, 3, 3, 3), floats(6)), {"group": 2, "strides": [2, 2], "pads": [1, 0, 1, 0]},
        ),
        "ConvTranspose line": ((floats(2, 4, 5), floats(4, 3, 3)), {"strides": [2], "output_padding": [1]}),
        "Gemm": ((floats(3, 4), floats(4, 5), floats(5)), {"alpha": 0.5, "beta": 2.0}),
        "MatMul": ((floats(2, 1, 3, 4), floats(5, 4, 2)), {}),
        "MatMul vector": ((floats(4), floats(2, 4, 5)), {}),
        "BatchNormalization": ((floats(2, 3, 4), positive(3), floats(3), floats(3), positive(3)), {}),
        "Gather": ((floats(3, 4, 5), np.array([[0, -1], [2, 1]])), {"axis": 1}),
    }  # fmt: skip


def _microsoft() -> dict[str, Any]:
    image, weights = floats(1, 3, 6, 6), floats(4, 3, 3, 3, scale=0.3)
    x = floats(2, 3, 8)
    return {
        "FusedConv": ((image, weights, floats(4)), {"activation": "Relu", "pads": [1, 1, 1, 1]}),
        "FusedConv sum": ((image, weights, floats(4), floats(1, 4, 4, 4)), {"activation": "Relu"}),
        "FusedConv clip": (
            (image, weights), {"activation": "Clip", "activation_params": [0.0, 0.5], "strides": [2, 2]},
        ),
        "FusedConv leaky": ((image, weights), {"activation": "LeakyRelu", "activation_params": [0.1]}),
        "FusedConv sigmoid": ((floats(1, 3, 9), floats(4, 3, 3)), {"activation": "HardSigmoid",
                                                                   "activation_params": [0.2, 0.5]}),
        "FusedGemm": ((floats(3, 4), floats(4, 5), floats(5)), {"activation": "Relu", "alpha": 0.5}),
        "FusedGemm leaky": (
            (floats(4, 3), floats(5, 4)),
            {"activation": "LeakyRelu", "activation_alpha": 0.1, "transA": 1, "transB": 1},
        ),
        "FusedMatMul broadcast": ((floats(2, 1, 3, 4), floats(5, 4, 2)), {"alpha": 2.0}),
        "FusedMatMul transBatchB": ((floats(3, 2, 4), floats(2, 3, 4)), {"transB": 1, "transBatchB": 1}),
        "TransposeMatMul": ((floats(2, 4, 3), floats(2, 4, 5)), {"transA": 1, "alpha": 0.5}),
        "BiasDropout": ((x, floats(8), floats(2, 3, 8)), {}, 2),
        "BiasSoftmax": ((floats(2, 3, 8), floats(2, 1, 8)), {"axis": 2, "is_inner_broadcast": 0}),
        "CDist": ((floats(4, 3), floats(5, 3)), {"metric": "sqeuclidean"}),
        "CropAndResize": (
            (floats(2, 3, 6, 6), np.array([[0, 0, 1, 1], [0.2, 0.1, 0.8, 0.9]], np.float32),
             np.array([0, 1], np.int32), np.array([3, 4], np.int32)), {},
        ),
        "ExpandDims": ((x, np.array(1, np.int32)), {}),
        "GatherND": ((floats(2, 3, 4), np.array([[0, 1], [1, 2]])), {}),
        "GridSample": ((floats(1, 2, 4, 5), floats(1, 3, 3, 2, scale=0.4)), {"mode": "bilinear"}),
        "Inverse": ((floats(2, 3, 3) + 3 * np.eye(3, dtype=np.float32),), {}),
        "IsAllFinite": ((x,), {}),
        "MaxpoolWithMask": (
            (floats(1, 2, 4, 4), np.ones((1, 2, 4, 4), np.int32)), {"kernel_shape": [2, 2], "strides": [2, 2]},
        ),
        "MurmurHash3": ((integers(0, 99, 4),), {"seed": 5, "positive": 1}),
        "NGramRepeatBlock": ((integers(0, 3, 2, 6, dtype=I64), floats(2, 4)), {"ngram_size": 2}),
        "NhwcFusedConv": (
            (image.transpose(0, 2, 3, 1).copy(), weights.transpose(0, 2, 3, 1).copy()), {"activation": "Relu"},
        ),
        "Pad": ((x, np.array([0, 1, 0, 0, 0, 2]), scalar(1.5)), {"mode": "constant"}),
        "Range": ((scalar(1.0), scalar(9.0), scalar(2.0)), {}),
        "SampleOp": ((x,), {}),
        "SkipLayerNormalization sums": ((x, x, floats(8), floats(8)), {"epsilon": 1e-3}, 1),
        "ScaledSiLU": ((x,), {}),
        "Trilu": ((floats(2, 4, 5), np.array(1)), {"upper": 0}),
        "UnfoldTensor": ((x,), {"dim": 2, "size": 3, "step": 2}),
        "Unique": ((np.array([2, 1, 1, 3], np.float32),), {}, 3),
        "WordConvEmbedding": (
            (integers(1, 5, 2, 6), floats(4, 1, 2, 3), floats(4), floats(5, 3)),
            {"embedding_size": 4, "conv_window_size": 2, "char_embedding_size": 3},
        ),
        "GatedRMSNorm": ((floats(2, 3, 8), floats(2, 3, 8), floats(8)), {}),
        "GatherBlockQuantized": (
            (integers(0, 255, 4, 16, dtype=U8), np.array([1, 3, 0]), positive(4, 2)),
            {"block_size": 16, "bits": 4, "quantize_axis": 1},
        ),
        "MatMulBnb4": (
            (floats(3, 32), integers(0, 256, 8 * 32 // 2, dtype=U8), positive(16)),
            {"K": 32, "N": 8, "block_size": 16, "quant_type": 1},
        ),
        "MatMulNBits group index": (
            (floats(3, 32), integers(0, 256, 8, 2, 8, dtype=U8), positive(16), None, None, floats(8)),
            {"K": 32, "N": 8, "bits": 4, "block_size": 16},
        ),
        "Attention all": (
            (floats(2, 4, 8), floats(8, 24, scale=0.5), floats(24), np.array([4, 2], np.int32), floats(2, 2, 2, 3, 4)),
            {"num_heads": 2}, 2,
        ),
    }  # fmt: skip


def _quantized() -> dict[str, Any]:
    a, b = integers(0, 255, 2, 3, 4, dtype=U8), integers(0, 255, 3, 4, dtype=U8)
    image, zero = integers(0, 255, 1, 2, 6, 6, dtype=U8), scalar(121, U8)
    one, two, three = scalar(0.0211), scalar(0.0307), scalar(0.0437)
    step = positive(3) / 50
    return {
        "QLinearConv": (
            (image, one, zero, integers(0, 255, 3, 2, 3, 3, dtype=U8), two, zero, scalar(1.37), zero,
             integers(-99, 99, 3)), {"pads": [1, 1, 1, 1]},
        ),
        "QLinearConv channels": (
            (image, one, zero, integers(-128, 127, 3, 2, 3, 3, dtype=I8), step, np.zeros(3, I8), scalar(1.37), zero),
            {},
        ),
        "QLinearLeakyRelu": ((a, one, zero, three, zero), {"alpha": 0.1}),
        "QLinearMul": ((a, one, zero, b, two, zero, scalar(0.0513), zero), {}),
        "QLinearSoftmax": ((a, one, zero, scalar(1 / 256), scalar(0, U8)), {"axis": -1, "opset": 13}),
        "QLinearSoftmax old": ((a, one, zero, scalar(1 / 256), scalar(0, U8)), {"axis": 1, "opset": 11}),
        "QLinearWhere": (
            (np.array([[True], [False], [True]]), a, one, zero, b, two, zero, three, zero), {},
        ),
        "QLinearAveragePool ceil": (
            (image, one, zero, three, zero), {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1},
        ),
        "QLinearAveragePool last": (
            (image.transpose(0, 2, 3, 1).copy(), one, zero, three, zero),
            {"kernel_shape": [3, 3], "channels_last": 1},
        ),
        "QLinearGlobalAveragePool last": (
            (image.transpose(0, 2, 3, 1).copy(), one, zero, three, zero), {"channels_last": 1},
        ),
        "QLinearReduceMean": ((a, one, zero, three, zero), {"axes": [1], "keepdims": 1}),
        "QGemm": (
            (integers(0, 255, 3, 4, dtype=U8), one, zero, integers(-128, 127, 4, 5, dtype=I8), two, scalar(3, I8),
             integers(-999, 999, 5), scalar(0.37), zero), {"alpha": 1.0},
        ),
        "QGemm float": (
            (integers(0, 255, 4, 3, dtype=U8), one, zero, integers(-128, 127, 5, 4, dtype=I8), positive(5) / 50,
             np.zeros(5, I8)), {"alpha": 0.5, "transA": 1, "transB": 1},
        ),
        "MatMulInteger16": ((integers(-99, 99, 3, 4, dtype=np.int16), integers(-99, 99, 4, 5, dtype=np.int16)), {}),
        "MulInteger": ((a, zero, b, zero), {}),
        "ReduceSumInteger": ((a,), {"axes": [1], "keepdims": 0}),
        "NhwcMaxPool": ((image,), {"kernel_shape": [3, 3], "strides": [1, 1]}),
        "DynamicQuantizeLSTM": (
            (floats(3, 2, 4), integers(-128, 127, 1, 4, 20, dtype=I8), integers(-128, 127, 1, 5, 20, dtype=I8),
             floats(1, 40), None, None, None, None, positive(1) / 50, np.zeros(1, I8), positive(1) / 50,
             np.zeros(1, I8)), {"hidden_size": 5}, 3,
        ),
        "QEmbedLayerNormalization": (
            (integers(0, 20, 2, 4), integers(0, 2, 2, 4), integers(0, 255, 20, 8, dtype=U8),
             integers(0, 255, 16, 8, dtype=U8), integers(0, 255, 2, 8, dtype=U8), integers(0, 255, 8, dtype=U8),
             integers(0, 255, 8, dtype=U8), integers(0, 2, 2, 4), one, one, one, one, one, zero, zero, zero, zero,
             zero), {}, 2,
        ),
        "DequantizeLinear int32": ((integers(-999, 999, 3, 4), one), {}),
        "DequantizeLinear wide": ((integers(0, 65535, 3, 4, dtype=np.uint16), one, scalar(1000, np.uint16)), {}),
        "QuantizeLinear wide": ((floats(3, 4), one, scalar(1000, np.uint16)), {}),
    }  # fmt: skip
