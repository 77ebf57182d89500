"""The native kernels: one entry for each folder of ``directml_py/kernels/native``.

The object files and the tests of every variant are derived from this list. Tests compare it with the folders, the
contexts, the test files and the benchmark.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

# What each instruction set adds to the flags of the compiler; the baseline is its default for the machine.
_AVX2 = ("-mavx2", "-mfma", "-mf16c")
_AVX512 = (*_AVX2, "-mavx512f", "-mavx512dq", "-mavx512bw", "-mavx512vl")
ISA_FLAGS: Mapping[str, tuple[str, ...]] = {
    "baseline": (),
    "avx2": _AVX2,
    "avx512": _AVX512,
    "vnni": (*_AVX512, "-mavx512vnni"),
    "amx": ("-mavx512f", "-mamx-tile", "-mamx-int8"),
}
NARROW = {"kernels.c": ("baseline", "avx2")}
WIDE = {"kernels.c": ("baseline", "avx2", "avx512")}


class NativeKernel(NamedTuple):
    """A folder ``name`` of C code, with its tests and benchmark.

    ``tests``: the files of tests/kernels that each of its variants must pass. ``benchmark``: the beginning of the title
    of a row that runs it. ``sources``: the files that are compiled once for each of some instruction sets: for AVX-512
    where longer vectors gain something, and the kernel does not wait for memory anyway. The folder's other C files are
    compiled once.
    """

    name: str
    tests: tuple[str, ...]
    benchmark: str
    sources: Mapping[str, tuple[str, ...]] = NARROW

    @property
    def variants(self) -> tuple[str, ...]:
        """The instruction sets that it has a context of its own for, the baseline first."""
        isas = {isa for names in self.sources.values() for isa in names}
        # The context of AVX-512 is that of VNNI where the processor has both.
        return tuple(isa for isa in ISA_FLAGS if isa in isas and isa != "vnni")


KERNELS = (
    NativeKernel(
        "conv",
        ("test_convolution.py", "test_byte_convolution.py", "test_post_ops.py"),
        "CONVOLUTION ResNet-50 3x3",
        {**WIDE, "bytes.c": ("baseline", "avx2", "avx512", "vnni"), "amx.c": ("amx",)},
    ),
    NativeKernel(
        "depthwise_pool",
        ("test_depthwise_pool.py", "test_depthwise_bytes.py"),
        "CONVOLUTION MobileNet-v2 depthwise",
        WIDE,
    ),
    NativeKernel(
        "elementwise",
        ("test_lower.py", "test_narrow_elements.py", "test_fuse.py"),
        "ADD packed, float32",
        WIDE,
    ),
    NativeKernel("fill", ("test_sequence.py", "test_philox.py"), "FILL_VALUE_SEQUENCE, float32"),
    NativeKernel(
        "gather_scatter_nd", ("test_gather.py", "test_gather_scatter_nd.py"), "GATHER_ND rows, float32"
    ),
    NativeKernel("half", ("test_half.py",), "TOP_K half, float16", WIDE),
    NativeKernel(
        "matmul", ("test_matmul.py", "test_attention.py", "test_recurrent.py"), "GEMM 512, float32", WIDE
    ),
    NativeKernel("move", ("test_move.py",), "identity transposed, float32"),
    NativeKernel("nonzero", ("test_nonzero.py",), "NONZERO_COORDINATES half, float32"),
    NativeKernel(
        "reduce",
        ("test_reduce.py",),
        "REDUCE SUM trailing, packed, float32",
        {**NARROW, "float32.c": ("baseline", "avx2", "avx512")},
    ),
    NativeKernel("resample", ("test_resample.py",), "RESAMPLE linear, twice", WIDE),
    NativeKernel("scan", ("test_scan.py",), "CUMULATIVE_SUMMATION rows, float32"),
    NativeKernel("softmax_norm", ("test_softmax_norm.py",), "SOFTMAX trailing, float32", WIDE),
    NativeKernel("top_k", ("test_top_k.py",), "TOP_K 10, float32"),
)
