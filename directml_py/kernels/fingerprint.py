"""Fingerprints of contents: fast enough to take one of every output of every dispatch.

Two sums of products with fixed keys, over words of 64 bits and over those 4 bytes further on, so that every bit is a
low one in one of them: in a product modulo 2**64 high bits leave little behind. Who finds a fingerprint again compares
the bytes as well; alone it only tells accidental damage.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from .backend import backend

Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint64]

BLOCK = 1 << 15
MASK = (1 << 64) - 1
STEP = 0x9E3779B97F4A7C15


@lru_cache(maxsize=1)
def _keys() -> Words:
    """The finalizer of SplitMix64 over its own sequence."""
    with np.errstate(over="ignore"):
        keys = np.arange(1, BLOCK + 1, dtype=np.uint64) * np.uint64(STEP)
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            keys = (keys ^ (keys >> np.uint64(shift))) * np.uint64(factor)
        return np.asarray(keys ^ (keys >> np.uint64(31)))


def fingerprint(content: Bytes) -> str:
    """32 hexadecimal digits for a one-dimensional array of bytes that lie together."""
    native = backend.native
    if native is None:
        sums = [fingerprint_sum(content), fingerprint_sum(content[4:])]
    else:
        ffi, sums = native.ffi, native.ffi.new("uint64_t[2]")
        bytes_, keys = ffi.from_buffer(content), ffi.from_buffer("uint64_t[]", _keys())
        native.lib.dml_fingerprint(bytes_, len(content), keys, BLOCK, STEP, sums)
    return "".join(f"{one:016x}" for one in sums)


def fingerprint_sum(content: Bytes) -> int:
    """The twin of the native loop, for one of the sums."""
    whole = len(content) // 8 * 8
    words = content[:whole].view(np.uint64)
    total = len(content)
    for start in range(0, len(words), BLOCK):
        block = words[start : start + BLOCK]
        total = (total * STEP + int(np.dot(block, _keys()[: len(block)]))) & MASK
    return (total * STEP + int.from_bytes(content[whole:].tobytes(), "little")) & MASK
