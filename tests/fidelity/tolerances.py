"""How far we may be from what Microsoft's library computed on its software device, in ULP, by operator.

``FUNCTIONS`` are ULP of each element: that device's exp, log and tanh are coarse, ours are not. ``SUMS`` are ULP of the
largest element of the output (of its largest input where it cancels): sums are added in another order. Every operator
without an entry gives the same bits.
"""

from __future__ import annotations

# By the name of the case: where that device, not the library, makes the difference, with the reason.
NO_PIPELINE = "the software device builds no pipeline for FLOAT32 gradients of ROI_ALIGN"
BY_ZERO = "its integer divisions by 0 do not give what the Direct3D specification says"
SATURATES = "its INT8 stores saturate"
SOFTWARE_DEVICE: dict[str, str] = {
    **dict.fromkeys(("ROI_ALIGN_GRAD-20260-0", "ROI_ALIGN_GRAD-20260-3"), NO_PIPELINE),
    **{f"ELEMENT_WISE_DIVIDE-20260-{case}": BY_ZERO for case in (0, 2, 4)},
    **{f"ELEMENT_WISE_MODULUS_TRUNCATE-20260-{case}": BY_ZERO for case in (3, 5)},
    "ELEMENT_WISE_NEGATE-20260-5": SATURATES,
}

FUNCTIONS: dict[str, int] = {
    "ACTIVATION_SOFTMAX": 4,
    "ACTIVATION_SOFTMAX1": 12,
    "ELEMENT_WISE_ACOS": 520,
    "ELEMENT_WISE_ACOSH": 1,
    "ELEMENT_WISE_ASIN": 1300,
    "ELEMENT_WISE_ATAN": 2246,
    "ELEMENT_WISE_ATAN_YX": 2246,
    "ELEMENT_WISE_COSH": 2,
    "ELEMENT_WISE_EXP": 8,
    "ELEMENT_WISE_LOG": 85,
    "ELEMENT_WISE_POW": 16,
    "ELEMENT_WISE_SINH": 32,
    "ELEMENT_WISE_TAN": 48,
    "LOCAL_RESPONSE_NORMALIZATION": 4,
    "LP_NORMALIZATION": 1,
    "LP_POOLING": 3,
    "LP_POOLING1": 3,
    # In FLOAT16, by some order of products with scales that no rule we tried reproduces.
    "MATRIX_MULTIPLY_INTEGER_TO_FLOAT": 1,
}
# Functions that are sums of exponentials, polynomials and 1, which nearly cancel near 0.
SUMS: dict[str, int] = {
    **dict.fromkeys(
        [
            f"ACTIVATION_{name}"
            for name in (
                *("CELU", "ELU", "GELU", "PARAMETRIC_SOFTPLUS", "SCALED_ELU"),
                *("SCALED_TANH", "SIGMOID", "SOFTPLUS", "SWISH", "TANH"),
            )
        ],
        1,
    ),
    **dict.fromkeys(
        [f"ELEMENT_WISE_{name}" for name in ("ADD1", "ASINH", "ATANH", "COS", "ERF", "SIN", "TANH")], 1
    ),
    "ADAM_OPTIMIZER": 3,
    # FLOAT16 is rounded before a bias is added backwards, and before the activation.
    "CONVOLUTION": 1,
    "GEMM": 1,
    "GRU": 2,
    "LSTM": 1,
    "RNN": 3,
    **dict.fromkeys(("ROI_ALIGN", "ROI_ALIGN1", "ROI_ALIGN_GRAD"), 1),
    "ACTIVATION_LOG_SOFTMAX": 1,
    "ACTIVATION_LOG_SOFTMAX1": 1,
    "BATCH_NORMALIZATION": 1,
    "BATCH_NORMALIZATION_GRAD": 3,
    "BATCH_NORMALIZATION_TRAINING": 1,
    "BATCH_NORMALIZATION_TRAINING_GRAD": 2,
    "LOCAL_RESPONSE_NORMALIZATION_GRAD": 2,
    # That device cuts some factors to FLOAT16 instead of rounding them; see test_products.py.
    "MATRIX_MULTIPLY_INTEGER_TO_FLOAT": 1,
    "MEAN_VARIANCE_NORMALIZATION": 1,
    "MEAN_VARIANCE_NORMALIZATION1": 1,
    **dict.fromkeys(("RESAMPLE", "RESAMPLE1", "RESAMPLE2", "RESAMPLE_GRAD", "RESAMPLE_GRAD1"), 2),
}
# Where there are no native loops: NumPy's BLAS adds in an order of its own.
SUMS_OF_NUMPY: dict[str, int] = {"GEMM": 2}
