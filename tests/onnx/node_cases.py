"""ONNX's own back-end tests as functions by name, and the table of those that are not expected to pass."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import ClassVar
from unittest import mock

import numpy as np
import onnx
import onnx.backend.test.case.base
import onnx.backend.test.case.node
from onnx.backend.test import BackendTest
from onnx.backend.test.case.utils import import_recursive
from onnx.backend.test.loader import load_model_tests

from directml_py.onnx.backend import DirectML

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TABLE = Path(__file__).with_name("node_tests.toml")
# Others read models that ONNX's repository has and its package lacks.
CATEGORIES = ("OnnxBackendNodeModelTest", "OnnxBackendSimpleModelTest", "OnnxBackendPyTorchConvertedModelTest",
              "OnnxBackendPyTorchOperatorModelTest")  # fmt: skip
# The kinds of those whose models are files.
FILES = ("simple", "pytorch-converted", "pytorch-operator")


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


class Collected:
    """What ONNX keeps for the whole process, and other tests fill too: its modules, cases, and their names."""

    modules: ClassVar[dict[str, ModuleType]] = {}
    cases: ClassVar[list[object]] = []
    names: ClassVar[dict[str, object]] = {}

    @classmethod
    def modules_of_onnx(cls):
        package = onnx.backend.test.case.node.__name__
        return {name: sys.modules[name] for name in [*sys.modules] if name.startswith(f"{package}.")}


@contextmanager
def own_collection():
    """ONNX has the modules and cases that were made within this context alone."""
    others = Collected.modules_of_onnx()
    for name in others:
        del sys.modules[name]
    sys.modules.update(Collected.modules)
    package = onnx.backend.test.case.node
    try:
        with mock.patch.multiple(package, _NodeTestCases=Collected.cases, _existing_names=Collected.names):
            yield
    finally:
        Collected.modules = Collected.modules_of_onnx()
        for name in Collected.modules:
            del sys.modules[name]
        sys.modules.update(others)


class Exports(type):
    """Of ONNX's classes that make the cases of its operators, one an operator: their functions.

    ONNX's own metaclass calls them all when the class is made, which takes seconds: some compute large pools in Python.
    """

    of_operators: ClassVar[list[list[Callable[[], None]]]] = []

    def __init__(cls, name, bases, members):
        super().__init__(name, bases, members)
        functions = [getattr(cls, member) for member in members if member.startswith("export")]
        if functions:
            Exports.of_operators.append(functions)


class Base(metaclass=Exports):
    """Stands in for the base class of ONNX's classes."""


@cache
def exports():
    """The functions that make the nodes of each operator."""
    with own_collection(), mock.patch.object(onnx.backend.test.case.base, "Base", Base):
        import_recursive(onnx.backend.test.case.node)
    assert len(Exports.of_operators) > 150
    return Exports.of_operators


def made(functions):
    """The cases that BackendTest has when it has called the functions too, by name."""
    with own_collection(), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for function in functions:
            np.random.seed(0)
            function()
        classes = BackendTest(DirectML, __name__).test_cases
    return {
        name.removesuffix("_cpu"): test
        for category in CATEGORIES
        for name, test in vars(classes[category]).items()
        if name.endswith("_cpu")
    }


def later_models():
    """Of the models in files, those that consist of the same operators as another one."""
    seen, later = set(), set()
    tests = [test for kind in FILES for test in load_model_tests(kind=kind)]
    for test in sorted(tests, key=lambda test: test.name):
        nodes = onnx.load(Path(test.model_dir) / "model.onnx").graph.node
        operators = frozenset(node.op_type for node in nodes)
        if operators in seen:
            later.add(test.name)
        seen.add(operators)
    return later


@cache
def first_cases():
    """What the first function of each operator makes, and of the models the first one of the same operators."""
    later = later_models()
    cases = made(functions[0] for functions in exports())
    return {name: test for name, test in cases.items() if not is_expanded(name) and name not in later}


@cache
def cases():
    # ONNX makes a case once in a process.
    first_cases()
    return made(function for functions in exports() for function in functions[1:])


def is_expanded(name):
    """Whether the case is the function that another one's node stands for."""
    return "_expanded" in name
