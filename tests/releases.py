"""What tests expect of other packages, and the first release of each that has it; before, it crashes or is wrong."""

from __future__ import annotations

import pytest
from packaging.version import Version
from toolchain import need_package

SINCE = {
    # Before, one attribute for each direction, and an access beyond the last of fewer, which ends the process.
    "RNN takes attributes in the order of its activations": ("onnxruntime", "1.29"),
}


def has(what: str) -> bool:
    """Whether the installed release has what is a key of ``SINCE``."""
    package, first = SINCE[what]
    return Version(need_package(package).__version__) >= Version(first)


def need(what: str) -> None:
    """Skip the test unless the installed release has what is a key of ``SINCE``."""
    if not has(what):
        pytest.skip(f"{' '.join(SINCE[what])} is needed: {what}")
