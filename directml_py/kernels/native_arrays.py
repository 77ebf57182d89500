"""What binding a native loop to arrays takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Run = Callable[[], None]


def address(array: Array) -> int:
    place: int = array.__array_interface__["data"][0]
    return place


def readable(*arrays: Array) -> bool:
    """Whether C finds numbers where the elements lie: aligned, in the byte order of the machine."""
    return all(one.dtype.isnative and one.flags.aligned for one in arrays)


def apart(output: Array, inputs: Sequence[Array]) -> bool:
    """Whether nothing of ``inputs`` is lost while ``output`` is written."""
    return not any(np.may_share_memory(one, output) for one in inputs)


def bound(run: Callable[..., None], *arguments: Any, memory: object) -> Run:
    """A call without arguments that keeps alive what its pointers lead to."""
    call: Any = partial(run, *arguments)
    call.memory = memory
    ready: Run = call
    return ready
