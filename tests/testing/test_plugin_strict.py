"""The pytest plugin's option --dml-strict, in separate test suites."""

from __future__ import annotations

import pytest

from .suites import run_suite

pytest_plugins = ["pytester"]

HEAD = """
import directml_py as d
"""


@pytest.fixture
def suite(pytester, monkeypatch):
    return lambda tests, arguments=(): run_suite(pytester, monkeypatch, HEAD + tests, arguments)


ODD = """
def odd():
    x = d.tensor_desc(d.DML_TENSOR_DATA_TYPE_FLOAT32, [1, 1, 2, 3], total_size=25)
    return d.DML_JOIN_OPERATOR_DESC(InputTensors=[x], OutputTensor=x, Axis=0)

def test_created(dml_device):
    dml_device.CreateOperator(odd())

def test_asserted(dml):
    dml.assert_valid(odd())

def test_expected(dml_device, dml):
    with dml.expect("DML-BufferTensor-total-size-multiple"):
        dml_device.CreateOperator(odd())
"""


def test_what_only_pages_forbid(suite):
    """A total size that is not a multiple of 4, which Microsoft's library accepts."""
    suite(ODD).assert_outcomes(passed=3)


def test_strict(suite):
    result = suite(ODD, arguments=["--dml-strict"])
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines(
        [
            "*the debug layer has messages that the test did not expect:",
            "*warning: InputTensors*.TotalTensorSizeInBytes is 25;*DML-BufferTensor-total-size-multiple*",
        ]
    )


def test_strict_in_the_configuration(suite, pytester):
    pytester.makeini("[pytest]\ndml_strict = true")
    suite(ODD).assert_outcomes(passed=1, failed=2)
