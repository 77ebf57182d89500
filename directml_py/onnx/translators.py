"""The table of ONNX operators: for each, the function that adds its DirectML operators to a graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..graph import Expression
from .values import Array, OnnxValue, Sizes

if TYPE_CHECKING:
    from .node import OnnxNode

ONNX = ""
MICROSOFT = "com.microsoft"
# An operator's outputs in order; an absent one is None.
Result: TypeAlias = Expression | Array | OnnxValue | None
Results: TypeAlias = Result | Sequence[Result]
Translator: TypeAlias = "Callable[[OnnxNode], Results]"
OPERATORS: dict[tuple[str, str], Translator] = {}
# What is known of an output: the element type, and the sizes.
Described: TypeAlias = "tuple[np.dtype[Any], Sizes | None]"
# The types and sizes of an operator's outputs, in order; None for what the translator's result says itself.
Rows: TypeAlias = "Sequence[tuple[np.dtype[Any], Sizes] | None]"
Outputs: TypeAlias = "Callable[[OnnxNode], Rows]"
OUTPUTS: dict[tuple[str, str], Outputs] = {}


def operator(*names: str, domain: str = ONNX) -> Callable[[Translator], Translator]:
    """Decorator: registers a function for ONNX operators."""

    def add(function: Translator) -> Translator:
        for name in names:
            OPERATORS[domain, name] = function
        return function

    return add


def outputs(*names: str, domain: str = ONNX) -> Callable[[Outputs], Outputs]:
    """Decorator: registers a function for the types and sizes of outputs that ONNX's schemas do not infer, or infer
    otherwise than ONNX Runtime."""

    def add(function: Outputs) -> Outputs:
        for name in names:
            OUTPUTS[domain, name] = function
        return function

    return add


def rows(table: dict[str, Any], make: Callable[..., Translator], domain: str = ONNX) -> None:
    """Registers ``make(row)`` for each row of a table."""
    for name, row in table.items():
        OPERATORS[domain, name] = make(row)


# Operators that ONNX Runtime has and ONNX lacks, by domain: no message says that there are none of these.
OF_ONNX_RUNTIME = {
    ONNX: """
        Affine Crop DisentangledAttention_TRT DynamicSlice EfficientNMS_TRT GRUUnit GivenTensorFill
        ImageScaler MemcpyFromHost MemcpyToHost MultilevelCropAndResize_TRT ParametricSoftplus
        PyramidROIAlign_TRT Scale ScaledTanh SimplifiedLayerNormalization
    """,
    MICROSOFT: """
        Attention AttnLSTM BeamSearch BiasAdd BiasDropout BiasGelu BiasSoftmax BiasSplitGelu
        BifurcationDetector BitmaskBiasDropout BitmaskDropout BranchwiseRMSNorm CDist CausalConvWithState
        ComplexMul ComplexMulConj ConvStateReplay ConvTransposeWithDynamicPads CropAndResize
        DecoderAttention DecoderMaskedMultiHeadAttention DecoderMaskedSelfAttention DequantizeBFP
        DequantizeLinear DequantizeWithOrder DynamicQuantizeLSTM DynamicQuantizeMatMul
        DynamicSparseAttention DynamicTimeWarping EPContext EmbedLayerNormalization EngramGate ExpandDims
        FastGelu FusedConv FusedGemm FusedMatMul FusedMatMulActivation GatedAdd GatedDeltaNet
        GatedDeltaNetStateReplay GatedRMSNorm GatedRelativePositionBias GatherBlockQuantized GatherND
        GatherPacked Gelu GemmFastGelu GemmFloat8 GemmaRotaryEmbedding GreedySearch GridSample GroupNorm
        GroupQueryAttention HyperConnectionLowRankMix HyperConnectionPostMix HyperConnectionPreMix Inverse
        Irfft IsAllFinite LinearAttention LinearAttentionGate LongformerAttention MRotaryEmbedding
        Mamba2Verify MatMulBlockQuantizedFp4Weight MatMulBlockQuantizedFp8Weight MatMulBnb4 MatMulFpQ4
        MatMulInteger16 MatMulIntegerToFloat MatMulNBits MatMulNBitsMlp MatMulNBitsQLoRA MatMulNBitsQkv
        MatMulPacked MaxpoolWithMask MoE MoEGroupRouter MoEPacked MulInteger MultiHeadAttention
        MurmurHash3 NGramHashMapping NGramRepeatBlock NhwcConv NhwcFusedConv NhwcMaxPool PackedAttention
        PackedMultiHeadAttention PackedSparseAttentionIndexer PackedSparseAttentionIndexerMerge Pad
        PagedAttention QAttention QEmbedLayerNormalization QGemm QLinearAdd QLinearAveragePool
        QLinearConcat QLinearConv QLinearGlobalAveragePool QLinearLeakyRelu QLinearMul QLinearReduceMean
        QLinearSigmoid QLinearSoftmax QLinearWhere QMoE QOrderedAttention QOrderedGelu
        QOrderedLayerNormalization QOrderedLongformerAttention QOrderedMatMul QuantizeBFP QuantizeLinear
        QuantizeWithOrder QuickGelu RMSNormRotary Range ReduceSumInteger RelativePositionBias
        RemovePadding RestorePadding Rfft RotaryEmbedding RouterGateUpProj SampleOp Sampling ScaledSiLU
        SkipGroupNorm SkipLayerNormalization SkipSimplifiedLayerNormalization Snpe SparseAttention
        SparseAttentionIndexer SparsePagedAttention SparseToDenseMatMul SpeculativePrefixCommit SwiGLU
        Tokenizer TorchEmbedding TransposeMatMul Trilu UnfoldTensor Unique VarlenCausalConvWithState
        VarlenNGramHashMapping WhisperBeamSearch WordConvEmbedding
    """,
    # Of models that are optimized for one processor, whose blocks of channels a file does not tell.
    "com.microsoft.nchwc": """
        AveragePool Conv GlobalAveragePool GlobalMaxPool MaxPool ReorderInput ReorderOutput Upsample
    """,
}
