"""Every kernel's tests once more, with its variants for other kinds of processors."""

from __future__ import annotations

from pathlib import Path

import pytest
from building.kernel_list import KERNELS

from directml_py.kernels.backend import backend

from .loops import KIND, assert_passes_with_loops

FOLDER = Path(__file__).parent
# What is the same in every variant, or takes too long to be repeated, is left out.
CHOSEN = {
    "test_arange.py": "elements",
    "test_gather.py": "not threshold and not channels and not side_by_side",
    "test_gather_scatter_nd.py": "every_layout or reversed",
    "test_move.py": "not threshold and not channels and not side_by_side",
    "test_scan.py": "native",
}
SLOW = {"test_gather.py", "test_half.py", "test_move.py", "test_reduce.py"}


@pytest.mark.skipif(backend.native is None, reason="the native kernels are not built")
@pytest.mark.skipif(bool(KIND), reason="this is such a run")
@pytest.mark.parametrize(
    ("kernel", "file", "kind"),
    [
        pytest.param(
            kernel, file, kind, id=f"{file}-{kind}", marks=[pytest.mark.slow] if file in SLOW else []
        )
        for kernel in KERNELS
        for file in kernel.tests
        for kind in kernel.variants
    ],
)
def test_variants(kernel, file, kind):
    # A processor of a newer kind than a kernel has variants for runs the last of them.
    if kind == (backend.loops if backend.loops in kernel.variants else kernel.variants[-1]):
        pytest.skip("the file itself tests these")
    options = ["-k", CHOSEN[file]] if file in CHOSEN else []
    assert_passes_with_loops(kind, FOLDER / file, *options)
