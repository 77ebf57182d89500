"""The native loop of convolutions."""

from __future__ import annotations

from typing import Any

import numpy as np

from .backend import backend
from .binding import Array, Run, address, bound
from .windows import Window

LOOPS = {np.dtype(np.float32): "FLOATS", np.dtype(np.float16): "HALVES"}
SPATIAL = 3


def convolution(
    x: Array,
    filters: Array,
    bias: Array | None,
    output: Array,
    window: Window,
    groups: int,
    *,
    is_turned: bool = False,
    activation: str = "IDENTITY",
    slope: float = 0.0,
) -> Run | None:
    """The call that stores what ``contract.convolve`` gives, with the bias {1, M, ...} added and activated.

    Sums are those of FLOAT32, rounded once more where the output is FLOAT16. ``is_turned``: the filters are taken from
    their end. ``activation``: IDENTITY, RELU or LEAKY_RELU, which has a ``slope``. None if there is no loop for these
    tensors: there is one for FLOAT32 and FLOAT16, up to three spatial dimensions, filters and planes of the output
    that lie together in memory, and no padding of the output.
    """
    dimensions = len(window.size)
    arrays = [one for one in (x, filters, bias, output) if one is not None]
    if backend.native is None or dimensions > SPATIAL or any(window.output_padding):
        return None
    if any(one.dtype not in LOOPS or not one.dtype.isnative or not one.flags.aligned for one in arrays):
        return None
    if any(one.dtype != x.dtype for one in arrays[:-1]) or 0 in (x.size, filters.size, output.size):
        return None
    if not lie_together(filters, 1) or not lie_together(output, 2):
        return None
    lib, ffi = backend.native.lib, backend.native.ffi
    missing = SPATIAL - dimensions
    ones, zeros = (1,) * missing, (0,) * missing
    task = ffi.new(
        "dml_conv *",
        {
            "type": getattr(lib, f"DML_CONV_{LOOPS[x.dtype]}"),
            "output_type": getattr(lib, f"DML_CONV_{LOOPS[output.dtype]}"),
            "activation": getattr(lib, f"DML_CONV_{activation}"),
            "is_turned": is_turned,
            "slope": slope,
            "batches": x.shape[0],
            "groups": groups,
            "channels": x.shape[1] // groups,
            "outputs": output.shape[1] // groups,
            "sizes": ones + x.shape[2:],
            "steps": ones + output.shape[2:],
            "window": ones + window.size,
            "strides": ones + window.strides,
            "dilations": ones + window.dilations,
            "padding": zeros + window.start_padding,
            "input_strides": elements(x)[:2] + zeros + elements(x)[2:],
            "output_strides": elements(output)[:2],
            "filter_stride": elements(filters)[0],
            "bias_stride": 0 if bias is None else elements(bias)[1],
            "input": address(x),
            "filters": address(filters),
            "bias": 0 if bias is None else address(bias),
            "output": address(output),
        },
    )
    lib.dml_conv_prepare(task)
    return bound(lib.dml_conv_run, task, memory=arrays)


def elements(array: Array) -> tuple[int, ...]:
    """Strides in elements; of dimensions of size 1 they mean nothing."""
    return tuple(0 if size == 1 else step // array.itemsize for size, step in zip(array.shape, array.strides))


def lie_together(array: Array, first: int) -> bool:
    """Whether the dimensions from ``first`` on lie in memory without gaps, as C has them."""
    part: Any = array[(0,) * first]
    return bool(part.flags.c_contiguous)
