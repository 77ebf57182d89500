"""What undoes a pool."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...descs.operator_desc import OperatorDesc
from ...kernels.gather_scatter_nd import exact_indices
from ...kernels.native_arrays import Array, Run
from ...validation.report import Report
from ..indexing.base import check_range
from ..operator import Compute, Inputs, Kernel, Operator, Outputs, Shapes, of_sizes, operator, own_rule

INDEX_RANGE = own_rule(
    "MAX_UNPOOLING",
    "index-range",
    "Every index is less than the count of OutputTensor's elements",
    debug=True,
)


@operator("MAX_UNPOOLING")
class MaxUnpooling(Operator):
    """Elements put where their indices say, zeros elsewhere (ns-directml-dml_max_unpooling_operator_desc).

    Indices run over the whole output, from one channel and batch to the next, as MAX_POOLING1 has them, whatever its
    strides. Those outside write nothing. Of several elements with one index, as windows that overlap have them, the
    last one wins: the page leaves both open, and of a pool such elements are the same.
    """

    def shapes(self, desc: OperatorDesc, *, output_sizes: Sequence[int] | None = None) -> Shapes:
        """``output_sizes``: those of the output, which nothing on the page binds to the input."""
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
        """Written straight into the output."""

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            x, indices = inputs
            (output,) = outputs

            def run() -> None:
                output.fill(0)
                scatter(x, indices, output)

            return run

        return Kernel(bind)


def scatter(x: Array, indices: Array, output: Array) -> None:
    """Put the elements of ``x`` where ``indices`` into ``output``, in the order of its coordinates, say."""
    places, values = exact_indices(indices.reshape(-1), output.size - 1), x.reshape(-1)
    if places.min() < 0:
        inside = places >= 0
        places, values = places[inside], values[inside]
    # NumPy goes through indices in one dimension from the start, so that the last one wins.
    if output.flags.c_contiguous:
        output.reshape(-1)[places] = values
    else:
        output[np.unravel_index(places, output.shape)] = values
