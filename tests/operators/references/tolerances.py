"""How far a float may be from its reference, in units in the last place, by operator and data type of the output.

Those of functions of elements are the package's own; here are the others. Integers must be equal, and so must floats of
operators that move, compare or round once, down to the sign of zero.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

from directml_py.api.enums import DML_INTERPOLATION_MODE_LINEAR
from directml_py.testing.tolerances import EXACT, FUNCTION_TOLERANCES, Tolerance


def of_reduction(desc: Any) -> Tolerance:
    """MULTIPLY of FLOAT32 rounds every product; in FLOAT64 all others, and FLOAT16, are rounded once."""
    function = desc.Function.name.removeprefix("DML_REDUCE_FUNCTION_")
    if function in ("MAX", "MIN"):
        return EXACT
    if function == "MULTIPLY":
        return {"float32": prod(desc.InputTensor.sizes[axis] for axis in desc.Axes), "float16": 1}
    return {"float32": 2 if function == "L2" else 1, "float16": 1}


def of_interpolation(desc: Any) -> Tolerance:
    """Means are rounded once, from FLOAT64, where cancellation leaves an error; nearest elements are exact."""
    return {"float32": 1, "float16": 0} if desc.InterpolationMode == DML_INTERPOLATION_MODE_LINEAR else EXACT


# Computed in FLOAT64 throughout, of sums whose order is free.
NORMALIZATION: Tolerance = {"float32": 1, "float16": 1}
NORMALIZATIONS = (
    "ADAM_OPTIMIZER",
    "BATCH_NORMALIZATION",
    "BATCH_NORMALIZATION_GRAD",
    "BATCH_NORMALIZATION_TRAINING",
    "BATCH_NORMALIZATION_TRAINING_GRAD",
    "LOCAL_RESPONSE_NORMALIZATION",
    "LOCAL_RESPONSE_NORMALIZATION_GRAD",
    "LP_NORMALIZATION",
    "MEAN_VARIANCE_NORMALIZATION",
    "MEAN_VARIANCE_NORMALIZATION1",
    "MEAN_VARIANCE_NORMALIZATION2",
)
# Scores, exponentials, their sum and the products are each rounded in FLOAT32.
ATTENTION: Tolerance = {"float32": 4, "float16": 1}
# Each step rounds in FLOAT32, and sums may cancel.
OF_STEPS: Tolerance = {"float32": 1 << 13, "float16": 1}
TOLERANCES: dict[str, Tolerance | Callable[[Any], Tolerance]] = {
    **FUNCTION_TOLERANCES,
    "AVERAGE_POOLING_GRAD": {"float32": 0, "float16": 1},
    "MULTIHEAD_ATTENTION": ATTENTION,
    "MULTIHEAD_ATTENTION1": ATTENTION,
    **dict.fromkeys(("GRU", "LSTM", "RNN"), OF_STEPS),
    "LP_POOLING": {"float32": 1, "float16": 1},
    "LP_POOLING1": {"float32": 1, "float16": 1},
    **dict.fromkeys(NORMALIZATIONS, NORMALIZATION),
    "REDUCE": of_reduction,
    **dict.fromkeys(
        ("RESAMPLE", "RESAMPLE1", "RESAMPLE2", "RESAMPLE3", "RESAMPLE_GRAD", "RESAMPLE_GRAD1", "UPSAMPLE_2D"),
        of_interpolation,
    ),
    **dict.fromkeys(("ROI_ALIGN", "ROI_ALIGN1"), of_interpolation),
    # Sums in FLOAT64, in another order.
    "ROI_ALIGN_GRAD": {"float32": 1, "float16": 1},
}

# A maximum of zeros may be either, and the sign of a sum of zeros depends on where it begins.
EITHER_ZERO = (
    "ACTIVATION_RELU",
    "AVERAGE_POOLING",
    "AVERAGE_POOLING1",
    "AVERAGE_POOLING_GRAD",
    "CONVOLUTION",
    "ELEMENT_WISE_ADD1",
    "ELEMENT_WISE_CLIP",
    "ELEMENT_WISE_CLIP1",
    "ELEMENT_WISE_MAX",
    "ELEMENT_WISE_MIN",
    "ELEMENT_WISE_THRESHOLD",
    "GEMM",
    "MATRIX_MULTIPLY_INTEGER_TO_FLOAT",
    "MAX_POOLING",
    "MAX_POOLING1",
    "MAX_POOLING2",
    "MAX_POOLING_GRAD",
    "REDUCE",
    "ROI_ALIGN",
    "ROI_ALIGN1",
    "ROI_POOLING",
)


def tolerance(desc: Any, dtype: Any) -> int:
    """ULPs; a fused activation adds its own."""
    entry = TOLERANCES.get(desc.name, EXACT)
    own = (entry(desc) if callable(entry) else entry).get(dtype.name, 0)
    fused = getattr(desc, "FusedActivation", None) if "FusedActivation" in desc.struct.index else None
    return own if fused is None else own + tolerance(fused, dtype)


def zeros_have_signs(desc: Any, dtype: Any) -> bool:
    return desc.name not in EITHER_ZERO and tolerance(desc, dtype) == 0
