"""ONNX's own back-end tests as functions by name, and the table of those that are not expected to pass."""

from __future__ import annotations

import sys
import warnings
from functools import cache
from pathlib import Path

import numpy as np
import onnx
from onnx.backend.test import BackendTest

from directml_py.onnx.backend import DirectML

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TABLE = Path(__file__).with_name("node_tests.toml")
# Others read models that ONNX's repository has and its package lacks.
CATEGORIES = ("OnnxBackendNodeModelTest", "OnnxBackendSimpleModelTest", "OnnxBackendPyTorchConvertedModelTest",
              "OnnxBackendPyTorchOperatorModelTest")  # fmt: skip


@cache
def table():
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))


def is_for_this_version():
    """Whether the table is for the installed release of ONNX, whose tests differ from release to release."""
    return onnx.__version__.split(".")[:2] == table()["onnx"].split(".")


@cache
def listed():
    """What is expected of each test in the table: words of the message."""
    return {name: group["says"] for group in table()["group"] for name in group["tests"]}


@cache
def cases():
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        made = BackendTest(DirectML, __name__).test_cases
    return {
        name.removesuffix("_cpu"): test
        for category in CATEGORIES
        for name, test in vars(made[category]).items()
        if name.endswith("_cpu")
    }
