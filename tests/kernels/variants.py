"""What the tests of all kernels share."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

VARIABLE = "DIRECTML_PY_TEST_ISA"
# The ISA variant that a process was started to test; empty for the best one of this processor.
ISA = os.environ.get(VARIABLE, "")
# Elements that are moved, by their bytes.
DTYPES = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}
LAYOUTS = ("packed", "padded", "gapped", "permuted", "negative", "broadcast")
# From how many bytes on stores bypass the caches, whatever the last cache of this processor.
STREAM_BYTES = 1 << 20
# Bytes before and after a tensor that must not be touched.
GUARD = 96


def guarded(
    rng: np.random.Generator, sizes: Sequence[int], strides: Sequence[int], item: int, shift: int = 0
) -> tuple[np.ndarray, int]:
    """Random bytes with room for a view of these sizes and byte strides, guards on both sides; and its offset."""
    reach = [(size - 1) * stride for size, stride in zip(sizes, strides)]
    low = GUARD + shift - sum(min(0, step) for step in reach)
    count = low + sum(max(0, step) for step in reach) + item + GUARD
    return rng.integers(0, 1 << 64, -(-count // 8), np.uint64).view(np.uint8)[:count], low


def assert_same_bytes(memory: np.ndarray, expected: np.ndarray) -> None:
    """NumPy's assertion takes thirty times as long as the comparison, and is left the message."""
    if not np.array_equal(memory, expected):
        np.testing.assert_array_equal(memory, expected)


def use_isa(native: Any) -> None:
    """Choose the variants that this process is for."""
    if ISA and not native.lib.dml_use_isa(ISA.encode()):
        pytest.skip(f"this processor runs no {ISA} variants")


def assert_passes_with_isa(isa: str, file: Path, *options: str) -> None:
    """Run a test file once more, in a process of its own, with the variants for an ISA."""
    command = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *options, str(file)]
    done = subprocess.run(command, env={**os.environ, VARIABLE: isa}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
