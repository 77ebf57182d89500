"""Runs as if the processor had fewer instructions: our loops and the peers are told to leave the others alone."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence

# What libraries read when they are loaded: NumPy, whose features have other names from 2.4 on, its OpenBLAS, PyTorch,
# and the MKL and oneDNN in that. MKL has PyTorch's GEMM and many of its functions, EXP, LOG and TANH among them.
VARIABLES: Mapping[str, Mapping[str, str]] = {
    "avx2": {
        "OPENBLAS_CORETYPE": "Haswell",
        "NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512F AVX512CD AVX512_SKX AVX512_CLX AVX512_CNL AVX512_ICL AVX512_SPR",
        "ATEN_CPU_CAPABILITY": "avx2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
    }
}
# ONNX Runtime has no such setting: where the processor has more instructions, it uses them.
UNLIMITED = ("ONNX Runtime",)


def limit_libraries(isa: str, arguments: Sequence[str]) -> None:
    """Start this program again, with the variables that are read when libraries are loaded, unless they are set."""
    wanted = VARIABLES[isa]
    if any(os.environ.get(name) != value for name, value in wanted.items()):
        sys.stdout.flush()
        os.execve(sys.executable, [sys.executable, *arguments], {**os.environ, **wanted})


def limit_loops(isa: str) -> tuple[str, ...]:
    """Let our loops use only ``isa``; returns the peers that use more than it on this processor.

    Raises ``RuntimeError`` if there are no native loops, or none of this instruction set.
    """
    # After the libraries have been limited: this loads NumPy.
    from directml_py.kernels.backend import backend

    if backend.native is None:
        raise RuntimeError("the native kernels are not in use")
    best = backend.isa
    if not backend.native.lib.dml_use_isa(isa.encode()):
        raise RuntimeError(f"this processor runs no {isa} loops")
    return () if best == isa else UNLIMITED
