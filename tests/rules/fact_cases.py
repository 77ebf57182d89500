"""Descs that break facts which no single change to a valid desc breaks alone."""

from __future__ import annotations

import directml_py as dml

from ..operators.helpers import tensor
from .registry import broken


def value_scale(channels):
    sizes = (1, channels, 2, 2)
    return dml.DML_VALUE_SCALE_2D_OPERATOR_DESC(
        InputTensor=tensor("FLOAT32", sizes),
        OutputTensor=tensor("FLOAT32", sizes),
        Scale=1,
        ChannelCount=channels,
        Bias=[0.0] * channels,
    )


broken("DML-VALUE_SCALE_2D-channel-count", "ChannelCount", value_scale(2), value_scale(3))
