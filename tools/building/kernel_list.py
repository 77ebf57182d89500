"""The native kernels: one entry for each folder of ``directml_py/kernels/native``.

The dispatch tables, the AVX-512 variants, the enumeration of functions that can be launched together, and the tests of
every variant are derived from this list. Tests compare it with the folders, the test files and the benchmark.
"""

from __future__ import annotations

from typing import NamedTuple


class NativeKernel(NamedTuple):
    """A folder ``name`` of C code, with its tests and benchmark.

    ``tests``: the files of tests/kernels that each of its variants must pass. ``benchmark``: the beginning of the title
    of a row that runs it. ``avx512``: the file that is also compiled for AVX-512, if it gains from longer vectors,
    where other kernels are memory-bound: kernels.inc, or a file that replaces part of it. ``amx``: whether it has an
    AMX variant. ``launches``: functions of one task and without a result that can be launched together with others;
    ``array_launches``: those of an array of tasks and their count.
    """

    name: str
    tests: tuple[str, ...]
    benchmark: str
    avx512: str = ""
    amx: bool = False
    launches: tuple[str, ...] = ()
    array_launches: tuple[str, ...] = ()

    @property
    def variants(self) -> tuple[str, ...]:
        """The instruction sets that it is compiled for, the baseline first."""
        return ("baseline", "avx2", *(["avx512"] if self.avx512 else []), *(["amx"] if self.amx else []))


KERNELS = (
    NativeKernel("arange", ("test_arange.py",), "FILL_VALUE_SEQUENCE, float32"),
    NativeKernel(
        "conv",
        ("test_convolution.py", "test_byte_convolution.py", "test_epilogue.py"),
        "CONVOLUTION ResNet-50 3x3",
        avx512="kernels.inc",
        amx=True,
        launches=("dml_conv_run",),
    ),
    NativeKernel(
        "depthwise_pool",
        ("test_depthwise_pool.py", "test_depthwise_bytes.py"),
        "CONVOLUTION MobileNet-v2 depthwise",
        avx512="kernels.inc",
        launches=("dml_depthwise_pool_run", "dml_depthwise_pool_add"),
    ),
    NativeKernel(
        "elementwise",
        ("test_lower.py", "test_narrow_elements.py", "test_fuse.py"),
        "ADD packed, float32",
        avx512="kernels.inc",
        launches=("dml_elementwise_run",),
    ),
    NativeKernel("gather", ("test_gather.py",), "GATHER rows, float32", launches=("dml_gather_run",)),
    NativeKernel(
        "gather_scatter_nd",
        ("test_gather_scatter_nd.py",),
        "GATHER_ND rows, float32",
        launches=("dml_gather_scatter_nd_run",),
    ),
    NativeKernel("half", ("test_half.py",), "TOP_K half, float16", avx512="kernels.inc"),
    NativeKernel(
        "matmul",
        ("test_matmul.py", "test_attention.py", "test_recurrent.py"),
        "GEMM 512, float32",
        avx512="kernels.inc",
        launches=("dml_matmul_run", "dml_int8_gemv_run", "dml_attention_run"),
    ),
    NativeKernel("move", ("test_move.py",), "identity transposed, float32", array_launches=("dml_move_run",)),
    NativeKernel("nonzero", ("test_nonzero.py",), "NONZERO_COORDINATES half, float32"),
    NativeKernel("philox", ("test_philox.py",), "RANDOM_GENERATOR, uint32"),
    NativeKernel(
        "reduce",
        ("test_reduce.py",),
        "REDUCE SUM trailing, packed, float32",
        avx512="avx512.inc",
        launches=("dml_reduce_run",),
    ),
    NativeKernel(
        "resample",
        ("test_resample.py",),
        "RESAMPLE linear, twice",
        avx512="kernels.inc",
        launches=("dml_resample_run",),
    ),
    NativeKernel("scan", ("test_scan.py",), "CUMULATIVE_SUMMATION rows, float32", launches=("dml_scan_run",)),
    NativeKernel(
        "softmax_norm",
        ("test_softmax_norm.py",),
        "SOFTMAX trailing, float32",
        avx512="kernels.inc",
        launches=("dml_softmax_norm_run",),
    ),
    NativeKernel("top_k", ("test_top_k.py",), "TOP_K 10, float32", launches=("dml_top_k_run",)),
)


def launch_number(function: str) -> str:
    """The name of a function's number in C."""
    return f"DML_LAUNCH_{function.removeprefix('dml_').upper()}"
