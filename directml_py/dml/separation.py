"""Private copies of bound memory, for a dispatch whose bindings share memory.

On a GPU the results of such a dispatch depend on the order in which threads read and write. Here they are those of
separate memory: inputs are copied before anything is written, outputs are stored in their order after everything is
computed, and temporary memory is apart from all else. This is also how an operator or a graph works in place where its
kernels do not.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from ..descs.tensor import TensorDesc
from ..kernels.launch import launch_in_order
from ..kernels.native_arrays import Run
from ..operators.program import Bytes


class Separation:
    """The copies of one dispatch: those made before it, and those stored after it."""

    def __init__(self) -> None:
        self._before: list[Run] = []
        self._after: list[Run] = []

    def copy(self, memory: Bytes) -> Bytes:
        """Memory that has the content of ``memory`` at the beginning of the dispatch."""
        copied = np.empty_like(memory)
        self._before.append(partial(np.copyto, copied, memory))
        return copied

    def output(self, tensor: TensorDesc, memory: Bytes) -> Bytes:
        """Memory whose elements are stored to ``memory`` at the end; those that are not written keep their values."""
        copied = self.copy(memory)
        self._after.append(lambda: tensor.store(memory, tensor.view(copied)))
        return copied

    def around(self, run: Run) -> Run:
        """``run`` between the copies."""
        if not self._before and not self._after:
            return run
        return launch_in_order([*self._before, run, *self._after])
