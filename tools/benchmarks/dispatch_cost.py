"""The cost of executing a recorded dispatch, with and without the debug layers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .interleaved_timing import interleaved
from .replay_cost import recorded
from .runs import OURS, Row
from .timing_samples import join_desc


def rows() -> Iterator[Row]:
    parts = [np.ones((1, 1, 2, width), np.float32) for width in (3, 4)]
    dispatches = {name: recorded(join_desc(3, 4), parts, name != OURS) for name in (OURS, "debug layers on")}
    times = interleaved({name: dispatch.execute for name, dispatch in dispatches.items()})
    yield Row("dispatch execute a recorded JOIN and signal", times)
