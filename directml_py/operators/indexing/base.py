"""Base classes of gathers and scatters."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ...abi.rules import Rule
from ...descs.format import braces
from ...descs.operator_desc import OperatorDesc
from ...kernels.gather_scatter_nd import (
    Coordinates,
    indices_inside,
    scatter_nd,
    scratch_for,
    written_whole,
)
from ...kernels.launch import launch_in_order
from ...kernels.linear_index import gather_linear as read_by_addresses
from ...kernels.linear_index import gather_nd_within
from ...kernels.move import move
from ...kernels.native_arrays import Array, Run
from ...text.plural import counted_words
from ...validation.report import Report
from ..operator import Compute, Inputs, Kernel, Operator, Outputs, Sizes, operator_rule


def range_rule(operator: str, of: str) -> Rule:
    """Declare the rule about indices outside ``of``."""
    text = f"Every index is within {of}, counted from its end if negative"
    return operator_rule(operator, "index-range", text, debug=True)


def duplicates_rule(operator: str) -> Rule:
    return operator_rule(
        operator, "duplicate-indices", "No element of OutputTensor is indexed twice", debug=True
    )


def check_range(
    rule: Rule,
    indices: Array,
    size: int,
    report: Report,
    behind: Iterable[int] = (),
    field: str = "IndicesTensor",
) -> None:
    """Report the count of indices outside a dimension of ``size``, and the first of them.

    ``indices`` are those of ``field`` whose last coordinates are ``behind``.
    """
    lowest = -size if indices.dtype.kind == "i" else 0
    wrong = (indices < lowest) | (indices >= size)
    count = int(np.count_nonzero(wrong))
    if count:
        first = np.argwhere(wrong)[0]
        report.add(
            rule,
            field,
            f"has {counted_words(count, 'index', 'indices')} outside [{lowest}, {size - 1}]; the first is "
            f"{indices[tuple(first)]} at {braces([*first, *behind])}",
        )


class IndexedOperator(Operator):
    """Base of operators whose indices address the leading dimensions of InputTensor."""

    def dimensions(self, desc: OperatorDesc) -> Sizes:
        """The sizes of InputTensor without the leading ones that no index addresses."""
        raise NotImplementedError

    def coordinates(self, desc: OperatorDesc, indices: Array) -> Coordinates:
        """The index arrays, one per dimension, for the leading ``dimensions``."""
        raise NotImplementedError

    def coordinate_sizes(self, desc: OperatorDesc) -> Sizes:
        """The sizes that all coordinate arrays broadcast to."""
        raise NotImplementedError


class Reads(IndexedOperator):
    """Gathers. Out-of-range indices run into the next row, as in GATHER: the pages leave them undefined."""

    def compute(self, desc: OperatorDesc) -> Compute:
        dimensions, sizes = self.dimensions(desc), desc.OutputTensor.sizes

        def read(x: Array, indices: Array) -> Array:
            picked = read_by_addresses(x.reshape(dimensions), self.coordinates(desc, indices))
            return np.reshape(picked, sizes)

        return read

    def kernel(self, desc: OperatorDesc) -> Kernel:
        dimensions = self.dimensions(desc)

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            # Here and below, only dimensions of size 1 are dropped, so that this is a view.
            x, coordinates, output = (
                inputs[0].reshape(dimensions),
                self.coordinates(desc, inputs[1]),
                outputs[0],
            )

            def outside() -> None:
                np.copyto(output, np.reshape(read_by_addresses(x, coordinates), output.shape))

            return gather_nd_within(x, coordinates, output, scratch, outside)

        return Kernel(bind, scratch_for(self.coordinate_sizes(desc)))


class Writes(IndexedOperator):
    """Scatters. Out-of-range indices write nothing, and the last of several updates of one element wins: the pages
    leave the former undefined, and call the latter invalid but print an example that does it."""

    def compute(self, desc: OperatorDesc) -> Compute:
        dimensions, sizes = self.dimensions(desc), desc.OutputTensor.sizes

        def written(x: Array, indices: Array, updates: Array) -> Array:
            coordinates = self.coordinates(desc, indices)
            return np.reshape(written_whole(x.reshape(dimensions), coordinates, updates), sizes)

        return written

    def kernel(self, desc: OperatorDesc) -> Kernel:
        dimensions = self.dimensions(desc)

        def bind(inputs: Inputs, outputs: Outputs, scratch: Array) -> Run:
            x, indices, updates = inputs
            copy = move([(outputs[0], x)])
            output = outputs[0].reshape(dimensions)
            write = scatter_nd(output, self.coordinates(desc, indices), updates, scratch)
            return launch_in_order([copy, write])

        return Kernel(bind, scratch_for(self.coordinate_sizes(desc)))

    def check_duplicates(self, rule: Rule, desc: OperatorDesc, indices: Array, report: Report) -> None:
        """Report the count of the output's elements or slices that are indexed more than once, and the first."""
        dimensions, coordinates = self.dimensions(desc), self.coordinates(desc, indices)
        named = dimensions[: len(coordinates)]
        indexed, _ = indices_inside(dimensions, coordinates)
        numbers, counts = np.unique(np.ravel_multi_index(indexed, named), return_counts=True)
        repeated = numbers[counts > 1]
        if repeated.size:
            output = desc.OutputTensor.sizes
            leading, trailing = len(output) - len(dimensions), len(dimensions) - len(named)
            first = [*(0,) * leading, *np.unravel_index(repeated[0], named), *(0,) * trailing]
            report.add(
                rule,
                "IndicesTensor",
                f"indexes {counted_words(repeated.size, 'position')} of OutputTensor more than once; the first is "
                f"{braces(first)}",
            )
