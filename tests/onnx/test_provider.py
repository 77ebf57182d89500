"""The operators that ONNX Runtime's DirectML provider registers, by name.

The list is that of its page "Supported Operators and Data Types" (docs/OperatorKernels.md, commit 001d12d26); the page
docs/onnx.md says what is missing here.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("onnx.reference", reason="needs the package onnx")
from directml_py.onnx.control_flow import CONTROL_FLOW
from directml_py.onnx.every_operator import OPERATORS

PAGE = Path(__file__).parents[2] / "docs" / "onnx.md"
REGISTERED = {
    "": """
    Abs Acos Acosh Add Affine And ArgMax ArgMin Asin Asinh Atan Atanh AveragePool BatchNormalization
    BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Cast CastLike Ceil Celu Clip Col2Im Concat
    ConcatFromSequence ConstantOfShape Conv ConvInteger ConvTranspose Cos Cosh Crop CumSum DFT
    DepthToSpace DequantizeLinear Div Dropout DynamicQuantizeLinear Einsum Elu Equal Erf Exp Expand
    EyeLike Flatten Floor GRU Gather GatherElements GatherND Gemm GlobalAveragePool GlobalLpPool
    GlobalMaxPool Greater GreaterOrEqual GridSample HardSigmoid Hardmax Identity If ImageScaler
    InstanceNormalization IsInf IsNaN LRN LSTM LayerNormalization LeakyRelu Less LessOrEqual Log
    LogSoftmax LpNormalization LpPool MatMul MatMulInteger Max MaxPool MaxRoiPool MaxUnpool Mean
    MeanVarianceNormalization MemcpyFromHost MemcpyToHost Min Mod Mul Neg NonZero Not OneHot
    OptionalGetElement OptionalHasElement Or PRelu Pad ParametricSoftplus Pow QLinearConv
    QLinearMatMul QuantizeLinear RNN Range Reciprocal ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp
    ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare Relu Reshape Resize
    ReverseSequence RoiAlign Round STFT ScaledTanh Scatter ScatterElements ScatterND Selu SequenceAt
    SequenceConstruct SequenceEmpty SequenceErase SequenceInsert SequenceLength Shape Shrink Sigmoid
    Sign SimplifiedLayerNormalization Sin Sinh Size Slice Softmax Softplus Softsign SpaceToDepth
    Split Sqrt Squeeze Sub Sum Tan Tanh ThresholdedRelu Tile TopK Transpose Trilu Unsqueeze Upsample
    Where Xor
    """,
    "com.microsoft": """
    Attention BiasAdd BiasGelu BiasSplitGelu ConvTransposeWithDynamicPads DequantizeLinear
    DynamicQuantizeMatMul EmbedLayerNormalization FastGelu FusedMatMul FusedMatMulActivation Gelu
    GroupNorm GroupQueryAttention MatMulIntegerToFloat MatMulNBits MultiHeadAttention NhwcConv
    QAttention QLinearAdd QLinearAveragePool QLinearConcat QLinearGlobalAveragePool QLinearSigmoid
    QuantizeLinear QuickGelu RotaryEmbedding SkipLayerNormalization SkipSimplifiedLayerNormalization
    """,
    "com.microsoft.dml": """
    DmlFusedAdd DmlFusedBatchNormalization DmlFusedConv DmlFusedConvTranspose DmlFusedGemm
    DmlFusedInstanceNormalization DmlFusedMatMul DmlFusedMeanVarianceNormalization DmlFusedSum
    """,
}
# What the host computes, and copies between the host and the GPU, which the runtime inserts.
BY_HOST = {*CONTROL_FLOW, "Shape", "Size"}
COPIES = {"MemcpyFromHost", "MemcpyToHost"}


@pytest.mark.parametrize("domain", ["", "com.microsoft"])
def test_every_operator_that_the_provider_registers_is_translated(domain):
    own = {name for known, name in OPERATORS if known == domain}
    assert set(REGISTERED[domain].split()) - own - BY_HOST == (COPIES if not domain else set())


def test_the_page_names_what_is_missing():
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    missing = re.search(r"provider also supports the following, which this package does not:(.*?)## ", text)
    assert missing is not None
    assert all(f"`{name}`" in missing[1] for name in COPIES)
    assert all(name.startswith("DmlFused") for name in REGISTERED["com.microsoft.dml"].split())
    assert "`DmlFused…`" in missing[1]
