"""Every kernel's tests once more, with its other ISA variants."""

from __future__ import annotations

from pathlib import Path

import pytest
from building.kernel_list import KERNELS

from directml_py.kernels.backend import backend

from .variants import ISA, assert_passes_with_isa

FOLDER = Path(__file__).parent
# What is the same in every variant, or takes too long to be repeated, is left out.
CHOSEN = {
    "test_gather.py": "not threshold and not channels and not side_by_side",
    "test_gather_scatter_nd.py": "every_layout or reversed",
    "test_move.py": "not threshold and not channels and not side_by_side",
    "test_scan.py": "native",
    "test_sequence.py": "elements",
}


@pytest.mark.slow
@pytest.mark.skipif(backend.native is None, reason="the native kernels are not built")
@pytest.mark.skipif(bool(ISA), reason="this is such a run")
@pytest.mark.parametrize(
    ("kernel", "file", "isa"),
    [
        pytest.param(kernel, file, isa, id=f"{file}-{isa}")
        for kernel in KERNELS
        for file in kernel.tests
        for isa in kernel.variants
    ],
)
def test_variants(kernel, file, isa):
    # A processor with a newer ISA than a kernel has variants for runs the last of them.
    if isa == (backend.isa if backend.isa in kernel.variants else kernel.variants[-1]):
        pytest.skip("the file itself tests these")
    options = ["-m", "", *(["-k", CHOSEN[file]] if file in CHOSEN else [])]
    assert_passes_with_isa(isa, FOLDER / file, *options)
