"""What operators must give, written without the package's own arithmetic: one row an operator, one module a family.

A row's reference is an ONNX operator as ONNX Runtime computes it, or else the formula of the operator's page in FLOAT64
or in Python's integers. Where a page is silent the reference follows what the operator's docstring decided.
"""

from . import (
    activation,
    element_wise,
    filling,
    indexing,
    matrix,
    movement,
    normalization,
    optimizer,
    ordering,
    quantized,
    recurrent,
    reduction,
    regions,
    sampling,
    window,
)
from .row import Row

ROWS: dict[str, Row] = {
    name: row
    for family in (
        activation,
        element_wise,
        filling,
        indexing,
        matrix,
        movement,
        normalization,
        optimizer,
        ordering,
        quantized,
        recurrent,
        reduction,
        regions,
        sampling,
        window,
    )
    for name, row in family.ROWS.items()
}

__all__ = ["ROWS"]
