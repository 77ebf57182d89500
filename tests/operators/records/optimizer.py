"""ADAM_OPTIMIZER."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .library import OfLargest
from .record import ROUNDED_SUMS, Record, Values


def adam(desc: Any, x: Any, m: Any, v: Any, gradient: Any, step: Any) -> Any:
    """The page's formula, with separate bias correction of each moment, as in the paper's first form."""
    t = int(step.item())
    m = desc.Beta1 * m + (1 - desc.Beta1) * gradient
    v = desc.Beta2 * v + (1 - desc.Beta2) * gradient**2
    of_first, of_second = 1 - desc.Beta1**t, 1 - desc.Beta2**t
    return [
        x - desc.LearningRate * (m / of_first) / ((np.sqrt(v) + desc.Epsilon) / math.sqrt(of_second)),
        m,
        v,
    ]


RECORDS = {
    "ADAM_OPTIMIZER": Record(
        adam,
        {"InputSecondMomentTensor": Values(0, 4), "TrainingStepTensor": Values(1, 40, limited=True)},
        ulps=ROUNDED_SUMS,
        library=OfLargest(3),
    ),
}
