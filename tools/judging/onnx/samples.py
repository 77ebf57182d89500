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
from clients.dml_provider.tensors import Array
from onnx import AttributeProto, ModelProto, TensorProto, TypeProto, helper, numpy_helper

from .schemas import MICROSOFT

I8, U8, I64 = np.int8, np.uint8, np.int64
NIBBLES = helper.tensor_dtype_to_np_dtype(TensorProto.UINT4)


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


def of_microsoft() -> Iterator[OperatorSample]:
    """The samples of ONNX Runtime's own operators."""
    return (one for source in (_of_provider, _of_tables) for one in source() if one.domain == MICROSOFT)


def _of_onnx() -> Iterator[OperatorSample]:
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        from onnx.backend.test.case.node import collect_testcases

        for test in collect_testcases(None):
            assert test.model is not None
            graph = test.model.graph
            if len(graph.node) == 1 and "_expanded" not in test.name and test.data_sets:
                yield _of_case(test.name, test.model, list(test.data_sets[0][0]))


def _of_case(name: str, model: ModelProto, tensors: list[Any]) -> OperatorSample:
    (node,) = model.graph.node
    types = {value.name: value.type for value in model.graph.input}
    values = {value.name: one for value, one in zip(model.graph.input, tensors)}
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
    for domain, table in (
        ("", _onnx()),
        (MICROSOFT, _microsoft() | _grouped() | _quantized() | _of_blocks()),
    ):
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
        **{
            f"{operator} blocks of {size}{' and more' if length % size else ''}": (
                (x, positive(3, -(-length // size)), zero), {"axis": 1, "block_size": size},
            )
            for length, size in ((48, 16), (48, 32), (40, 16))
            for operator, x, zero in (
                ("QuantizeLinear", floats(3, length), integers(0, 16, 3, -(-length // size)).astype(NIBBLES)),
                ("DequantizeLinear", integers(0, 16, 3, length).astype(NIBBLES), None),
            )
        },
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
        "FusedMatMul all": (
            (floats(4, 2, 3), floats(5, 2, 4)), {"transBatchA": 1, "transA": 1, "transBatchB": 1, "transB": 1},
        ),
        "EmbedLayerNormalization sums": (
            (integers(0, 5, 2, 3), None, floats(5, 8), floats(4, 8), None, floats(8), floats(8),
             np.array([[1, 1, 0], [1, 1, 1]], np.int32)), {}, 3,
        ),
        "Gelu scalar": ((scalar(0.7),), {}),
        "QuickGelu scalar": ((scalar(0.7),), {}),
        "MultiHeadAttention causal bias": (
            (floats(2, 3, 8), floats(2, 5, 8), floats(2, 5, 8), None, None, floats(2, 2, 3, 5)),
            {"num_heads": 2, "unidirectional": 1, "mask_filter_value": 2.0},
        ),
        "RotaryEmbedding packed": (
            (floats(1, 6, 16), np.array([[0, 1, 2, 0, 1, 4]]), floats(5, 4), floats(5, 4)), {"is_packed_batching": 1},
        ),
        "RotaryEmbedding part": (
            (floats(2, 3, 16), np.array([[0, 1, 2], [1, 2, 3]]), floats(5, 3), floats(5, 3)),
            {"rotary_embedding_dim": 6, "num_heads": 2},
        ),
        "RotaryEmbedding part of heads": (
            (floats(2, 2, 3, 8), np.array([1]), floats(5, 2), floats(5, 2)),
            {"rotary_embedding_dim": 4, "num_heads": 2, "interleaved": 1},
        ),
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
        "BranchwiseRMSNorm": ((floats(2, 3, 8), floats(8)), {}),
        "BranchwiseRMSNorm flat": ((floats(2, 24), floats(24)), {"num_branches": 3, "epsilon": 1e-2}),
        "BranchwiseRMSNorm branches": ((floats(2, 5, 3, 8), floats(3, 8)), {}),
        "CDist root": ((floats(4, 3), floats(5, 3)), {"metric": "euclidean"}),
        "CropAndResize nearest": (
            (floats(2, 3, 6, 5), np.array([[0, 0, 1, 1], [0.9, 0.1, -0.3, 1.2], [0.5, 0.5, 0.5, 0.5]], np.float32),
             np.array([1, 0, 1], np.int32), np.array([4, 1], np.int32)),
            {"mode": "nearest", "extrapolation_value": -2.0},
        ),
        "GatedAdd": ((x, x, floats(2, 3, 1)), {}),
        "GatedRMSNorm": ((floats(2, 3, 8), floats(8), floats(2, 3, 8)), {}),
        "GatedRMSNorm heads": ((floats(2, 3, 8), floats(4), floats(2, 3, 8)), {"activation": "sigmoid"}),
        "Inverse pivots": ((floats(2, 5, 5) * (1 - np.eye(5, dtype=np.float32)),), {}),
        "NGramRepeatBlock words": ((integers(0, 2, 2, 12, dtype=I64), floats(2, 3)), {"ngram_size": 3}),
        "NGramRepeatBlock one": ((integers(0, 5, 1, 3, dtype=I64), floats(1, 5)), {"ngram_size": 1}),
        "Attention all": (
            (floats(2, 4, 8), floats(8, 24, scale=0.5), floats(24), np.array([4, 2], np.int32), floats(2, 2, 2, 3, 4)),
            {"num_heads": 2}, 2,
        ),
    }  # fmt: skip


def _grouped() -> dict[str, Any]:
    """Grouped-query attention of one token, of a prompt, and of some tokens behind others.

    Without present keys and values as outputs, ONNX Runtime does not read past ones.
    """
    made: dict[str, Any] = {}
    for name, new, past, lengths in (("token", 1, 5, (5, 5)), ("prompt", 4, 0, (3,)), ("tokens", 3, 5, (7,))):
        batch, total = len(lengths), past + new
        parts = [floats(batch, new, 32), *(floats(batch, new, 16) for _ in range(2))]
        caches = [floats(batch, 2, past, 8) if past else None for _ in range(2)]
        operands = (
            *parts,
            *caches,
            np.array(lengths, np.int32),
            np.array(max(lengths) + 1, np.int32),
            None,
            None,
            None,
        )
        for mode, inputs, attributes in (
            ("capped", (), {"softcap": 1.5}),
            ("window", (), {"local_window_size": 2, "scale": 0.3}),
            ("smooth", (), {"smooth_softmax": 1}),
            ("both ways", (), {"causal": 0}),
            ("bias", (floats(1, 4, new, total),), {"softcap": 2.0}),
            ("sink", (floats(1, 1, new, total), floats(4)), {"local_window_size": 3}),
        ):
            heads = {"num_heads": 4, "kv_num_heads": 2, **attributes}
            made[f"GroupQueryAttention {name} {mode}"] = ((*operands, *inputs), heads, 3)
    return made


def _quantized() -> dict[str, Any]:
    a, b = integers(0, 255, 2, 3, 4, dtype=U8), integers(0, 255, 3, 4, dtype=U8)
    image, zero = integers(0, 255, 1, 2, 6, 6, dtype=U8), scalar(121, U8)
    one, two, three = scalar(0.0211), scalar(0.0307), scalar(0.0437)
    scale, signed = positive(3) / 50, integers(-128, 127, 3, 4, dtype=I8)
    return {
        "QLinearConv": (
            (image, one, zero, integers(0, 255, 3, 2, 3, 3, dtype=U8), two, zero, scalar(1.37), zero,
             integers(-99, 99, 3)), {"pads": [1, 1, 1, 1]},
        ),
        "QLinearConv channels": (
            (image, one, zero, integers(-64, 64, 3, 2, 3, 3, dtype=I8), scale, np.zeros(3, I8), scalar(1.37), zero),
            {},
        ),
        # Signed weights have 7 bits here: ONNX Runtime's sums of products of two types saturate on some processors.
        "QLinearConv last": (
            (image.transpose(0, 2, 3, 1).copy(), one, zero, integers(0, 128, 3, 2, 3, 3, dtype=U8), two, zero,
             scalar(1.37), zero, integers(-99, 99, 3)), {"channels_last": 1, "pads": [1, 1, 1, 1], "strides": [1, 2]},
        ),
        "QLinearAdd broadcast": ((a, one, zero, integers(0, 255, 4, dtype=U8), two, zero, three, zero), {}),
        "QLinearAveragePool end": (
            (image, one, zero, three, zero),
            {"kernel_shape": [3, 3], "strides": [3, 3], "pads": [0, 0, 2, 2], "ceil_mode": 1},
        ),
        "QLinearConcat widths": ((one, zero, a, two, zero, a[:, :, :1].copy(), three, scalar(3, U8)), {"axis": 2}),
        "QLinearMul signed": (
            (signed, one, scalar(-7, I8), signed[:1].copy(), two, scalar(5, I8), scalar(0.0513), scalar(1, I8)), {},
        ),
        "QLinearSoftmax flat": ((a, one, zero, scalar(1 / 256), scalar(0, U8)), {"axis": 1, "opset": 12}),
        "QAttention columns": (
            (a, integers(-64, 64, 4, 24, dtype=I8), floats(24), scalar(0.002), positive(24) / 400,
             np.array([3, 2], np.int32), zero, integers(-64, 64, 24, dtype=I8)), {"num_heads": 2},
        ),
        "QAttention causal": (
            (a, integers(0, 255, 4, 24, dtype=U8), floats(24), scalar(0.002), scalar(0.002), None, zero),
            {"num_heads": 2, "unidirectional": 1},
        ),
        "MatMulIntegerToFloat bytes": (
            (a, integers(0, 255, 4, 5, dtype=U8), scalar(0.1), positive(5), scalar(7, U8)), {},
        ),
        "DynamicQuantizeLSTM both": (
            (floats(5, 1, 3), integers(-64, 64, 2, 3, 16, dtype=I8), integers(-64, 64, 2, 4, 16, dtype=I8),
             floats(2, 32), None, floats(2, 1, 4), floats(2, 1, 4), None, positive(2) / 100, np.zeros(2, I8),
             positive(2) / 100, np.zeros(2, I8)),
            {"hidden_size": 4, "direction": "bidirectional", "input_forget": 1}, 3,
        ),
        "DynamicQuantizeLSTM columns": (
            (floats(4, 1, 3, scale=3.0), integers(0, 255, 1, 3, 16, dtype=U8), integers(0, 255, 1, 4, 16, dtype=U8),
             None, None, None, None, None, positive(1, 16) / 50, np.full((1, 16), 130, U8), positive(1, 16) / 50,
             np.full((1, 16), 130, U8)),
            {"hidden_size": 4, "direction": "reverse", "clip": 0.5, "input_forget": 1}, 3,
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
            (integers(0, 255, 3, 4, dtype=U8), one, zero, integers(-64, 64, 4, 5, dtype=I8), two, scalar(3, I8),
             integers(-999, 999, 5), scalar(0.37), zero), {"alpha": 1.0},
        ),
        "QGemm float": (
            (integers(0, 255, 4, 3, dtype=U8), one, zero, integers(-64, 64, 5, 4, dtype=I8), positive(5) / 50,
             np.zeros(5, I8)), {"alpha": 0.5, "transA": 1, "transB": 1},
        ),
        "MatMulInteger16": ((integers(-99, 99, 3, 4, dtype=np.int16), integers(-99, 99, 4, 5, dtype=np.int16)), {}),
        "MulInteger": ((a, zero, b, zero), {}),
        "ReduceSumInteger": ((a,), {"axes": [1], "keepdims": 0}),
        "NhwcMaxPool": ((image,), {"kernel_shape": [3, 3], "strides": [1, 1]}),
        "DynamicQuantizeLSTM": (
            (floats(3, 2, 4), integers(-64, 64, 1, 4, 20, dtype=I8), integers(-64, 64, 1, 5, 20, dtype=I8),
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


def _of_blocks() -> dict[str, Any]:
    """Of weights of few bits, with scales and zero points for blocks of elements."""
    rows, signed = np.array([[1, 3], [0, -1]]), helper.tensor_dtype_to_np_dtype(TensorProto.INT4)
    x, weights = floats(2, 3, 40), {"K": 40, "N": 6, "block_size": 16}

    def packed(*sizes: int) -> Array:
        return integers(0, 256, *sizes, dtype=U8)

    def small(*sizes: int) -> Array:
        return integers(0, 16, *sizes).astype(NIBBLES)

    bytes_of_2, table = packed(6, 3, 4), {"block_size": 16}
    return {
        "GatherBlockQuantized": (
            (packed(4, 16), rows[0], positive(4, 2)), {**table, "bits": 4, "quantize_axis": 1},
        ),
        "GatherBlockQuantized 2 bits": (
            (packed(4, 8), rows, positive(4, 2), packed(4, 1)), {**table, "bits": 2},
        ),
        "GatherBlockQuantized 8 bits": ((packed(4, 32), rows, positive(4, 2)), {**table, "bits": 8}),
        "GatherBlockQuantized nibbles": ((small(4, 32), rows, positive(4, 2), small(4, 2)), table),
        "GatherBlockQuantized short": (
            (integers(-8, 8, 3, 5, 36).astype(signed), rows % 3, positive(3, 5, 3)), {**table, "quantize_axis": 2},
        ),
        "GatherBlockQuantized columns": (
            (small(4, 35), rows, positive(4, 3), small(4, 3)), {**table, "gather_axis": 1},
        ),
        "GatherBlockQuantized blocks": (
            (small(32, 5, 3), rows, positive(2, 5, 3)), {**table, "gather_axis": 0, "quantize_axis": 0},
        ),
        "MatMulBnb4": (
            (floats(3, 32), packed(128), positive(16)), {"K": 32, "N": 8, "block_size": 16, "quant_type": 1},
        ),
        "MatMulBnb4 FP4": (
            (floats(3, 33), packed(83), positive(11)), {"K": 33, "N": 5, "block_size": 16, "quant_type": 0},
        ),
        "MatMulNBits 2 bits": ((x, bytes_of_2, positive(18), packed(6)), {**weights, "bits": 2}),
        "MatMulNBits 2 bits, no zero points": ((x, bytes_of_2, positive(18)), {**weights, "bits": 2}),
        "MatMulNBits 4 bits": (
            (x, packed(6, 3, 8), positive(18), packed(12), None, floats(6)), {**weights, "bits": 4},
        ),
        "MatMulNBits 8 bits": ((x, packed(6, 3, 16), positive(18), packed(18)), {**weights, "bits": 8}),
        "MatMulNBits floats": ((x, packed(6, 3, 8), positive(18), floats(6, 3, scale=4.0)), {**weights, "bits": 4}),
    }  # fmt: skip
