"""The complete table of ONNX operators: importing a module registers its own."""

from __future__ import annotations

from . import (  # noqa: F401 - each fills the table
    activation,
    attention,
    convolutions,
    einsum,
    element_wise,
    fourier,
    grids,
    indexing,
    matrices,
    microsoft,
    movement,
    normalization,
    pooling,
    quantized,
    recurrent,
    reductions,
    resizing,
    sampling,
    sequences,
    shapes,
    withdrawn,
)
from .translators import OPERATORS as OPERATORS
