"""Rules by which we reject what Microsoft's library accepts, with the reasons; ``*`` stands for any operator."""

from __future__ import annotations

from fnmatch import fnmatchcase

# Windows, which Microsoft's library does not validate.
STILL = "a window with stride 0 does not move"
EMPTY = "a window of size 0 has no elements"
SPREAD = "with dilation 0, all taps are the same element"
LEADING = "with an additional leading 1, batches would become channels"
FORMS = (
    "the attribute arrays have one entry for each spatial dimension; any other count has no defined meaning"
)
STRICTER: dict[str, str] = {
    "DML-Desc-enum": "a number that is no enumerator does not say what to compute",
    "DML-AVERAGE_POOLING_GRAD-strides": "the windows of an element are found by dividing by the stride",
    "DML-*CONVOLUTION*-strides": STILL,
    "DML-*POOLING*-window-size": EMPTY,
    "DML-*POOLING*-dilations": SPREAD,
    "DML-*CONVOLUTION*-dilations": SPREAD,
    "DML-*POOLING*-dimensions": FORMS,
    "DML-CONVOLUTION*-dimensions": FORMS,
    "DML-QUANTIZED_LINEAR_*-spatial-dimension-count": FORMS,
    "DML-GATHER-indices-batch": "some sizes other than 1 are accepted, by the output's sizes, and the first is read",
    "DML-SLICE_GRAD-sizes": "where the elements of a gradient larger than the window would go is undefined",
    "DML-SLICE_GRAD-input-window-sizes": "an empty window has no elements to put back",
    "DML-LP_POOLING*-p": "there is no 0th root",
    "DML-LSTM-clip-threshold": "below 0 the range to clip to is empty; the library does not compile some such descs",
    "DML-CONVOLUTION_INTEGER-same-dimension-count": LEADING,
    "DML-QUANTIZED_LINEAR_CONVOLUTION-same-dimension-count": LEADING,
    "DML-MULTIHEAD_ATTENTION-key-beside-value": "new values given with past keys alone have no keys",
    "DML-MULTIHEAD_ATTENTION-value-beside-key": "new keys given with past values alone have no values",
}
# Descs that crash the library; here they are either rejected or executed.
CRASHES: dict[str, str] = {
    "GATHER": "where IndexDimensions - 1 above Axis overruns its heap",
    "MULTIHEAD_ATTENTION": "where HeadCount 0 causes a division by zero",
}


def reason(rule: str) -> str:
    """The reason why ``rule`` is stricter; empty for an unlisted rule."""
    return next((text for pattern, text in STRICTER.items() if fnmatchcase(rule, pattern)), "")
