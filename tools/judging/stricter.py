"""Rules by which we reject what Microsoft's library accepts, with the reasons; ``*`` stands for any operator."""

from __future__ import annotations

from fnmatch import fnmatchcase

# Windows, which Microsoft's library does not validate.
STILL = "a window that does not move has no steps to execute"
EMPTY = "a window of no elements sees nothing"
SPREAD = "elements 0 apart are one element"
LEADING = "with a leading 1, batches would be channels"
FORMS = (
    "the arrays of attributes have an entry for each spatial dimension: what others would mean is undefined"
)
STRICTER: dict[str, str] = {
    "DML-Desc-enum": "numbers that name no enumerator name nothing that could be computed",
    "DML-AVERAGE_POOLING_GRAD-strides": "an element's windows are found by division by the stride",
    "DML-*CONVOLUTION*-strides": STILL,
    "DML-*POOLING*-window-size": EMPTY,
    "DML-*POOLING*-dilations": SPREAD,
    "DML-*CONVOLUTION*-dilations": SPREAD,
    "DML-*POOLING*-dimensions": FORMS,
    "DML-CONVOLUTION*-dimensions": FORMS,
    "DML-QUANTIZED_LINEAR_*-spatial-dimension-count": FORMS,
    "DML-PADDING*-remainder": "of a tensor that is taken away whole no pattern can be repeated",
    "DML-GATHER-indices-batch": "it takes some that are not 1, by the output's sizes, and reads the first",
    "DML-SLICE_GRAD-sizes": "of a gradient with more elements than the window where they would go is undefined",
    "DML-SLICE_GRAD-input-window-sizes": "a window of no elements has none to put back",
    "DML-LP_POOLING*-p": "there is no root of order 0",
    "DML-LSTM-clip-threshold": "below 0 the range that is clipped to is empty; some such descs do not compile there",
    "DML-CONVOLUTION_INTEGER-same-dimension-count": LEADING,
    "DML-QUANTIZED_LINEAR_CONVOLUTION-same-dimension-count": LEADING,
    "DML-MULTIHEAD_ATTENTION-key-beside-value": "new values beside the keys of the past alone have no keys",
    "DML-MULTIHEAD_ATTENTION-value-beside-key": "new keys beside the values of the past alone have no values",
}
# Descs that crash the library; here they are rejected, or execute.
CRASHES: dict[str, str] = {
    "GATHER": "IndexDimensions - 1 above Axis overruns its heap",
    "MULTIHEAD_ATTENTION": "HeadCount 0 is a division by zero",
}


def reason(rule: str) -> str:
    """The reason why ``rule`` is stricter; empty for an unlisted rule."""
    return next((text for pattern, text in STRICTER.items() if fnmatchcase(rule, pattern)), "")
