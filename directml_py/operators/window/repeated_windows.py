"""Pools with strides of 0: along such a dimension, every window is the first one."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ...descs.operator_desc import OperatorDesc
from ...kernels.launch import launch_in_order
from ...kernels.move import move
from ...kernels.native_arrays import Array, Run
from ..operator import Compute, Inputs, Kernel, Operator, Outputs, Sizes


class RepeatedWindows(Operator):
    """Base of pools. ``moving_compute`` and ``moving_kernel`` get descs whose strides are at least 1.

    No page forbids strides of 0, and Microsoft's library accepts them, as for the upsampling that PyTorch calls an
    adaptive average. By the pages' formulas all windows are then the first one.
    """

    def moving_compute(self, desc: OperatorDesc) -> Compute:
        raise NotImplementedError

    def moving_kernel(self, desc: OperatorDesc) -> Kernel:
        raise NotImplementedError

    def compute(self, desc: OperatorDesc) -> Compute:
        compute = self.moving_compute(first_windows(desc))
        if all(desc.Strides):
            return compute
        sizes = desc.OutputTensor.sizes

        def repeated(*inputs: Array | None) -> Array | tuple[Array, ...]:
            results = compute(*inputs)
            if isinstance(results, tuple):
                return tuple(np.broadcast_to(result, sizes) for result in results)
            return np.broadcast_to(results, sizes)

        return repeated

    def kernel(self, desc: OperatorDesc) -> Kernel:
        kernel = self.moving_kernel(first_windows(desc))
        if all(desc.Strides):
            return kernel
        still = [2 + axis for axis, stride in enumerate(desc.Strides) if not stride]

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            firsts = [None if output is None else output[first(still, output.ndim)] for output in outputs]
            copies = [copy for output in outputs if output is not None for copy in spread(output, still)]
            return launch_in_order([kernel.bind(inputs, firsts, scratch), *copies])

        return kernel._replace(bind=bind, fused=None)


def first_windows(desc: OperatorDesc) -> OperatorDesc:
    """``desc`` with one window along the dimensions with a stride of 0."""
    if all(desc.Strides):
        return desc
    sizes: Sizes = (
        *desc.OutputTensor.sizes[:2],
        *(size if stride else 1 for size, stride in zip(desc.OutputTensor.sizes[2:], desc.Strides)),
    )
    changes = {
        slot.field: slot.tensor.replace(sizes=sizes) for slot in desc.outputs if slot.tensor is not None
    }
    return desc.replace(Strides=[max(1, stride) for stride in desc.Strides], **changes)


def first(axes: list[int], rank: int) -> tuple[slice, ...]:
    """The first element along ``axes``, and all along the other dimensions."""
    return tuple(slice(0, 1) if axis in axes else slice(None) for axis in range(rank))


def spread(output: Array, axes: list[int]) -> Iterator[Run]:
    """Copies of the first element along each of ``axes`` to the others, to be made in order."""
    for done, axis in enumerate(axes):
        part = output[first(axes[done + 1 :], output.ndim)]
        others = part[(slice(None),) * axis + (slice(1, None),)]
        if others.size:
            yield move([(others, np.broadcast_to(part[first([axis], output.ndim)], others.shape))])
