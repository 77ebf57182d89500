"""MAX_UNPOOLING."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...descs.operator_desc import OperatorDesc
from ...kernels.gather_scatter_nd import exact_indices
from ...kernels.native_arrays import Array, Run
from ...validation.report import Report
from ..indexing.base import check_range
from ..operator import Compute, Inputs, Kernel, Operator, Outputs, Shapes, of_sizes, operator, operator_rule

INDEX_RANGE = operator_rule(
    "MAX_UNPOOLING",
    "index-range",
    "Every index is less than the element count of OutputTensor",
    debug=True,
)


@operator("MAX_UNPOOLING")
class MaxUnpooling(Operator):
    """A scatter of elements to their indices in zeros (ns-directml-dml_max_unpooling_operator_desc).

    Indices are linear over the whole output, batches and channels included, as in MAX_POOLING1, whatever its strides.
    Out-of-range indices write nothing. Of several elements with one index, as from overlapping windows, the last wins:
    the page leaves both open, and after a pool such elements are equal.
    """

    def shapes(self, desc: OperatorDesc, *, output_sizes: Sequence[int] | None = None) -> Shapes:
        """``output_sizes``: the output's sizes, which the page does not relate to the input's."""
        return {"IndicesTensor": desc.InputTensor.sizes, **of_sizes(output_sizes)}

    def inspect(self, desc: OperatorDesc, inputs: Inputs, report: Report) -> None:
        check_range(INDEX_RANGE, inputs[1], int(np.prod(desc.OutputTensor.sizes)), report)

    def compute(self, desc: OperatorDesc) -> Compute:
        def unpool(x: Array, indices: Array) -> Array:
            result = np.zeros(desc.OutputTensor.sizes, x.dtype)
            scatter(x, indices, result)
            return result

        return unpool

    def kernel(self, desc: OperatorDesc) -> Kernel:
        """Scatters straight into the output."""

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            x, indices = inputs
            (output,) = outputs

            def run() -> None:
                output.fill(0)
                scatter(x, indices, output)

            return run

        return Kernel(bind)


def scatter(x: Array, indices: Array, output: Array) -> None:
    """Write the elements of ``x`` to linear ``indices`` of ``output``, in coordinate order."""
    targets, values = exact_indices(indices.reshape(-1), output.size - 1), x.reshape(-1)
    if targets.min() < 0:
        inside = targets >= 0
        targets, values = targets[inside], values[inside]
    # NumPy applies 1-D indices in order, so that the last one wins.
    if output.flags.c_contiguous:
        output.reshape(-1)[targets] = values
    else:
        output[np.unravel_index(targets, output.shape)] = values
