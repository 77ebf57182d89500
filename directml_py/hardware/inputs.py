"""Random inputs for descs that come without inputs."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import numpy.typing as npt

from ..descs.operator_desc import OperatorDesc
from ..descs.tensor import TensorDesc

Array = npt.NDArray[Any]
# Fixed, so that inputs are reproducible.
SEED = 28


def random_inputs(desc: OperatorDesc) -> list[Array | None]:
    """A random array for each input tensor of ``desc``, None for absent ones: floats from -4 to 4, small integers.

    Elements that share memory are equal.
    """
    random = np.random.default_rng((SEED, zlib.crc32(desc.name.encode())))
    return [None if slot.tensor is None else _random(random, slot.tensor) for slot in desc.inputs]


def _random(random: np.random.Generator, tensor: TensorDesc) -> Array:
    dtype = tensor.dtype
    if dtype.kind == "f":
        array = random.uniform(-4, 4, tensor.sizes).astype(dtype)
    else:
        array = random.integers(0 if dtype.kind == "u" else -5, 6, tensor.sizes).astype(dtype)
    if not tensor.overlaps:
        return array
    memory = np.zeros(tensor.total_size, np.uint8)
    tensor.store(memory, array)
    return tensor.load(memory)
