"""Struct values do not depend on what a process has imported."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from toolchain import later

import directml_py

ROOT = Path(directml_py.__file__).parents[1]
# What a program may import first.
STRUCTS = "from directml_py.api import structs"
ABI = "import directml_py.abi.structure"
DESCS = "import directml_py.descs"
PACKAGE = "from directml_py import DML_BUFFER_TENSOR_DESC"
# Two descs of the same sizes, each in an array of its own, and one of other sizes.
LOOK = """
from directml_py.api.structs import DML_BUFFER_TENSOR_DESC
import copy
one, other, third = (DML_BUFFER_TENSOR_DESC(1, Sizes=sizes) for sizes in ([2, 3], [2, 3], [2, 4]))
assert bytes(one) != bytes(other), "the arrays must lie apart"
deep = copy.deepcopy(one)
print(one == other, one == third, deep == one, bytes(deep) != bytes(one), repr(one) == repr(other))
"""
EXPECTED = "True False True True True"


def printed(*lines):
    """The output of ``lines`` in a new Python process."""
    run = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, check=True, cwd=ROOT
    )
    return run.stdout.splitlines()


@pytest.mark.parametrize("first", [STRUCTS, *later(ABI, DESCS, PACKAGE)])
def test_equality_does_not_depend_on_what_was_imported_first(first):
    assert printed(first, LOOK, DESCS, LOOK) == [EXPECTED] * 2


def test_structs_compare_before_and_after_descs_are_imported():
    """One pair of structs, in a process that has imported nothing but their module."""
    before_and_after = f"""
import sys
{STRUCTS}
one, other = (structs.DML_BUFFER_TENSOR_DESC(1, Sizes=[5]) for _ in range(2))
assert "directml_py.descs" not in sys.modules
before = one == other
{DESCS}
print(before, one == other)
"""
    assert printed(before_and_after) == ["True True"]


def test_structs_that_no_schema_describes_are_their_bytes():
    """A struct that another package derives implements the protocol too."""
    own = """
from ctypes import c_uint32
from directml_py.abi.structure import Structure
class Pair(Structure):
    _fields_ = [("first", c_uint32), ("second", c_uint32)]
print(Pair(1, 2) == Pair(1, 2), Pair(1, 2) == Pair(1, 3), Pair(1, 2))
"""
    assert printed(own) == ["True False <Pair>"]
