"""What a model means where ONNX Runtime's DirectML provider computes otherwise than its CPU provider.

The CPU provider computes what ONNX says, and is followed unless ``load`` is asked for the semantics "directml".
"""

from __future__ import annotations

from typing import NamedTuple

ONNX, DIRECTML = "onnx", "directml"
SEMANTICS = (ONNX, DIRECTML)


class Difference(NamedTuple):
    """The results of an operator ``where`` they differ, with both semantics."""

    where: str
    onnx: str
    directml: str


# By operator; docs/onnx.md prints this table.
DIFFERENCES = {
    "Clip": Difference(
        "constant bounds whose minimum is above the maximum", "the maximum wins", "the minimum wins"
    ),
    "FastGelu": Difference("everywhere", "the approximation by a hyperbolic tangent", "the exact function"),
    "GroupQueryAttention": Difference("`do_rotary`", "queries and keys are turned", "it is ignored"),
    "InstanceNormalization": Difference(
        "FLOAT16", "mean and variance are FLOAT32", "they are rounded to FLOAT16"
    ),
    "LpNormalization": Difference(
        "small inputs", "the quotient by the norm", "0.00001 is added under the norm's root"
    ),
    "MatMulNBits": Difference("no zero points", "they are the midpoints of the range", "they are 0"),
    "MeanVarianceNormalization": Difference(
        "elements that hardly differ", "the quotient by the deviation", "0.00001 is added to the variance"
    ),
    "MultiHeadAttention": Difference("`unidirectional`", "queries see no later keys", "it is ignored"),
    "ReduceLogSumExp": Difference("exponentials beyond the type's range", "as if it had none", "infinite"),
    "Resize": Difference(
        "`antialias` when downsampling, modes `linear` and `nearest`",
        "ONNX's filter, as wide as the input's share of a result",
        "the filter of RESAMPLE3",
    ),
    "RoiAlign": Difference(
        "mode `max`", "the maximum of weighted elements", "the maximum of interpolated values"
    ),
    "SkipSimplifiedLayerNormalization": Difference(
        "`bias`", "it is a part of the sum that is normalized", "it is added to the result"
    ),
}


class Deviation(NamedTuple):
    """What is other than with ONNX Runtime's CPU provider."""

    operator: str
    where: str
    here: str
    there: str


NO_PRODUCTS = "no products to add", "0 times the scale, and the bias", "what was in memory"
NO_TIME_STEPS = "no steps", "the state that the network starts from", "what was in memory"
SAME_PADDING = "a result for each stride, as ONNX says", "the dilations are left out of the padding"
# docs/onnx.md prints this table too.
DEVIATIONS = [
    *(
        Deviation(kind, "`auto_pad` SAME with `dilations`", *SAME_PADDING)
        for kind in ("AveragePool", "LpPool", "MaxPool")
    ),
    *(
        Deviation(kind, *NO_PRODUCTS)
        for kind in ("DynamicQuantizeMatMul", "MatMulIntegerToFloat", "QLinearMatMul")
    ),
    *(Deviation(kind, *NO_TIME_STEPS) for kind in ("GRU", "LSTM", "RNN")),
    Deviation(
        "LayerNormalization",
        "statistics of all dimensions, before operator set 17 with a scale of another type",
        "a size of 1 for each dimension",
        "no dimensions",
    ),
    Deviation("Clip", "NaN", "the minimum, as CLIP computes it", "NaN"),
    Deviation("Clip", "doubles", "refused, as DirectML has no arithmetic on doubles", "computed"),
    Deviation(
        "GridSample",
        "`cubic` with `border`",
        "of a position outside only the coordinate outside moves, as ONNX says",
        "both coordinates move",
    ),
    Deviation(
        "MaxUnpool",
        "`output_shape`",
        "indices refer to the output that the attributes say, which is padded, as in ONNX's tests",
        "indices refer to the output",
    ),
    Deviation(
        "MeanVarianceNormalization",
        "elements that are all the same, or a single one",
        "0, as ONNX adds 1e-9 to the deviation",
        "NaN",
    ),
    Deviation("ReduceProd", "integers that overflow", "they wrap", "the largest or smallest integer"),
    Deviation("Resize", "`antialias` of INT8", "signed results", "0 for results below 0"),
    Deviation(
        "Resize",
        "`cubic` with `tf_crop_and_resize`, regions along axes with a scale of 1",
        "they are cropped, as ONNX says",
        "they are not",
    ),
    Deviation(
        "Resize",
        "`antialias` with `tf_crop_and_resize`, channels last",
        "results outside of the input are `extrapolation_value`",
        "others are",
    ),
]
