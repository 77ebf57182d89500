"""How far we may be from what Microsoft's library computed on its software device, in ULP, by operator.

``FUNCTIONS`` are ULP of each element: that device's exp, log and tanh are coarse, ours are not. ``SUMS`` are ULP of the
largest element of the output (of its largest input where it cancels): sums are added in another order. Every operator
without an entry gives the same bits.
"""

from __future__ import annotations

# By the name of the case: where that device, not the library, makes the difference, with the reason.
NO_PIPELINE = "the software device builds no pipeline for FLOAT32 gradients of ROI_ALIGN"
SOFTWARE_DEVICE: dict[str, str] = dict.fromkeys(
    ("ROI_ALIGN_GRAD-20260-0", "ROI_ALIGN_GRAD-20260-3"), NO_PIPELINE
)

FUNCTIONS: dict[str, int] = {
    "ACTIVATION_SOFTMAX": 4,
    "ACTIVATION_SOFTMAX1": 12,
    "LOCAL_RESPONSE_NORMALIZATION": 4,
    "LP_NORMALIZATION": 1,
}
SUMS: dict[str, int] = {
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
