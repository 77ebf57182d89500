"""Values for the inputs of any desc: of all magnitudes where valid, else within the operator's domain."""

from __future__ import annotations

import numpy as np

from .helpers import generator


def values_for(rng, tensor, low=-4.0, high=4.0):
    """Random elements of a tensor: floats from ``low`` to ``high``, integers of all sizes.

    Elements that share memory are equal.
    """
    dtype = tensor.dtype
    if dtype.kind == "f":
        array = rng.uniform(low, high, tensor.sizes).astype(dtype)
    elif tensor.is_nibbles:
        array = rng.integers(0, 16, tensor.sizes).astype(dtype)
        array = array if dtype.kind == "u" else (array - 8).astype(dtype)
    else:
        limits = np.iinfo(dtype)
        wide = rng.integers(limits.min, limits.max, tensor.sizes, dtype, endpoint=True)
        small = rng.integers(0 if dtype.kind == "u" else -5, 6, tensor.sizes).astype(dtype)
        array = np.where(rng.random(tensor.sizes) < 0.5, wide, small).astype(dtype)
    return as_stored(tensor, array)


def as_stored(tensor, array):
    """``array`` with equal values wherever the tensor's elements share memory."""
    if not tensor.overlaps:
        return array
    memory = np.zeros(tensor.total_size, np.uint8)
    tensor.store(memory, array)
    return tensor.load(memory)


def arrays_for(desc, seed, low=-4.0, high=4.0):
    """One array for each input tensor of ``desc``, None for absent ones."""
    rng = generator(desc.name, seed)
    return [None if slot.tensor is None else values_for(rng, slot.tensor, low, high) for slot in desc.inputs]
