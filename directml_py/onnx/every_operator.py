"""The complete table of ONNX operators: importing a module registers its own."""

from __future__ import annotations

from . import (  # noqa: F401 - each fills the table
    activation,
    attention,
    block_quantized,
    contrib_operators,
    convolutions,
    dynamic_lstm,
    einsum,
    element_wise,
    fourier,
    fused_operators,
    grids,
    indexing,
    matrices,
    microsoft,
    movement,
    normalization,
    pooling,
    quantized,
    quantized_operators,
    recurrent,
    reductions,
    resizing,
    sampling,
    sequences,
    shapes,
    withdrawn,
)
from .translators import OPERATORS as OPERATORS
