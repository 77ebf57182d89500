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
    "LpNormalization": Difference(
        "small inputs", "the quotient by the norm", "0.00001 is added under the norm's root"
    ),
    "Resize": Difference(
        "`antialias` when downsampling, modes `linear` and `nearest`",
        "ONNX's filter, as wide as the input's share of a result",
        "the filter of RESAMPLE3",
    ),
    "RoiAlign": Difference(
        "mode `max`", "refused: the maximum of weighted elements", "the maximum of interpolated values"
    ),
}
