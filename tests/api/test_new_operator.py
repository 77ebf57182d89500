"""An operator is added as docs/inside/operators.md says: what is missing is named, few generated lines change, and its
rules, graph method, page, accuracy and kernel are there."""

from __future__ import annotations

import difflib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from directml_py.kernels.backend import backend
from directml_py.kernels.decisions import ABSENT

from .generating import contents, generate

# An operator with attributes, in a module that its entry names.
RUNNING_MAX = """
[RUNNING_MAX]
about = "The largest element so far along Axis, in either direction."
value = {value}
since = "0x6400"
level = "6_4"
module = "reduction.cumulative"
fields = [
  "input InputTensor",
  "output OutputTensor",
  "UINT Axis",
  "DML_AXIS_DIRECTION AxisDirection",
]
same = ["InputTensor OutputTensor: DataType DimensionCount Sizes"]
support = ["6_4: 1-8 F16-32 I32-64 U32-64"]
facts = ["Axis < InputTensor.DimensionCount"]
"""
CLASS = '''

@operator("RUNNING_MAX")
class RunningMax(Operator):
    """Running maxima."""

    def compute(self, desc: OperatorDesc) -> Compute:
        decreasing = desc.AxisDirection == DML_AXIS_DIRECTION_DECREASING

        def maxima(x: Array) -> Array:
            along = np.flip(x, desc.Axis) if decreasing else x
            results = np.maximum.accumulate(along, axis=desc.Axis)
            return np.flip(results, desc.Axis) if decreasing else results

        return maxima
'''
RUN_RUNNING_MAX = """
import numpy as np
import directml_py as dml
from directml_py import *

x = dml.tensor_desc(DML_TENSOR_DATA_TYPE_FLOAT32, [2, 4])
spaced = dml.tensor_desc(DML_TENSOR_DATA_TYPE_FLOAT32, [2, 4], strides=[1, 3])
desc = DML_RUNNING_MAX_OPERATOR_DESC(spaced, x, 1, DML_AXIS_DIRECTION_DECREASING)
array = np.array([[1, 5, 2, 4], [0, -1, -3, -2]], np.float32)
print(dml.evaluate(desc, [array])[0].tolist())
print(*dml.validate(desc.replace(Axis=2)))
print(*(problem.rule for problem in dml.validate(desc, feature_level=DML_FEATURE_LEVEL_6_3)))
"""
MOST_LINES = 200

# A function of elements: its entry, and a line each for what is computed and for the record of the tests.
SINC = """
[ELEMENT_WISE_SINC]
about = "The cardinal sine: f(x) = sin(x) / x, and 1 for 0."
value = {value}
since = "0x6400"
level = "6_4"
in_place = true
fields = ["input InputTensor", "output OutputTensor", "DML_SCALE_BIAS* ScaleBias?"]
same = ["InputTensor OutputTensor: DataType DimensionCount Sizes"]
support = ["6_4: 1-8 F16-32"]
"""
COMPUTED = '    "SINC": in_float64(lambda x: np.divide(np.sin(x), x, out=np.ones_like(x), where=x != 0)),\n'
RECORDED = '    "SINC": Record(ufunc(floats(lambda x: math.sin(x) / x if x else 1.0)), ANY, ulps=FUNCTION),\n'
RUN_SINC = """
import numpy as np
import directml_py as dml
from directml_py import *
from directml_py.graph import Graph

x = dml.tensor_desc(DML_TENSOR_DATA_TYPE_FLOAT32, [2, 2])
desc = DML_ELEMENT_WISE_SINC_OPERATOR_DESC(x, x)
(result,) = dml.evaluate(desc, [np.float32([[0, 1], [np.pi / 2, -0.5]])])
print(*(f"{number:.6f}" for number in result.flat))
short = dml.tensor_desc(DML_TENSOR_DATA_TYPE_FLOAT32, [2, 1])
print(*dml.validate(desc.replace(OutputTensor=short)))
graph = Graph()
angle = graph.input_tensor(0, DML_TENSOR_DATA_TYPE_FLOAT32, [2, 2])
compiled = graph.compile([graph.element_wise_multiply(graph.element_wise_sinc(angle), angle)])
(result,) = compiled.run([np.float32([[0, 1], [np.pi / 2, -0.5]])])
print(*(f"{number:.6f}" for number in result.flat))
print(dml.explain(desc))
"""
PAGE = """
import sys

sys.path.insert(0, "tools")
from documentation.operator_page import operator_page
print(operator_page("ELEMENT_WISE_SINC"))
"""


def changed_lines(before, after):
    """As ``git diff --stat`` counts them, over all text files."""
    count = 0
    for path in before.keys() | after.keys():
        old, new = (one.get(path, b"").decode(errors="replace").splitlines() for one in (before, after))
        if old != new:
            count += sum(line[:2] in ("+ ", "- ") for line in difflib.ndiff(old, new))
    return count


def without_built(files):
    """What is committed: the module for cffi and second spellings of headers are not."""
    return {path: text for path, text in files.items() if path.name not in ("cdefs.py", "directml.h")}


def append(path, text):
    path.write_text(path.read_text(encoding="utf-8") + text, encoding="utf-8")


def insert(path, before, line):
    """``line`` before the only one that begins with ``before``."""
    text = path.read_text(encoding="utf-8")
    assert text.count(f"\n{before}") == 1
    path.write_text(text.replace(f"\n{before}", f"\n{line}{before}"), encoding="utf-8")


def python(root, *arguments):
    run = subprocess.run([sys.executable, *arguments], cwd=root, capture_output=True, text=True)
    return run.returncode, run.stdout + run.stderr


@pytest.mark.slow
def test_an_operator_is_added(copy, highest_operator):
    family = copy / "tools" / "api" / "operators" / "reduction.toml"
    classes = copy / "directml_py" / "operators" / "reduction" / "cumulative.py"
    append(family, RUNNING_MAX.format(value=highest_operator + 1))
    before = contents(copy)
    run = generate(copy)
    assert run.returncode == 2
    assert run.stderr.splitlines() == [
        "RUNNING_MAX has no class: add one with @operator('RUNNING_MAX') to "
        "directml_py/operators/reduction/cumulative.py, the module that its entry in "
        "tools/api/operators/reduction.toml names, or add another `module` to the entry",
        "Nothing was written.",
    ]
    assert contents(copy) == before

    append(classes, CLASS)
    before = without_built(contents(copy))
    run = generate(copy)
    assert run.returncode == 0, run.stderr
    after = without_built(contents(copy))
    assert 50 < changed_lines(before, after) < MOST_LINES

    status, output = python(copy, "-c", RUN_RUNNING_MAX)
    assert (status, output.splitlines()) == (
        0,
        [
            "[[5.0, 5.0, 4.0, 4.0], [0.0, -1.0, -2.0, -2.0]]",
            "Axis is 2; it must be less than InputTensor.DimensionCount, which is 2 [DML-RUNNING_MAX-axis]",
            "DML-Operator-feature-level",
        ],
    )


@pytest.fixture
def with_sinc(copy, highest_operator):
    """The copy with ELEMENT_WISE_SINC, but for its record, and with the native kernels of this installation."""
    append(copy / "tools/api/operators/element_wise.toml", SINC.format(value=highest_operator + 1))
    insert(copy / "directml_py/operators/element_wise.py", '    "SINH": ', COMPUTED)
    run = generate(copy)
    assert run.returncode == 0, run.stderr
    if backend.native is not None:
        shutil.copy(
            backend.native.__file__, copy / "directml_py/kernels" / Path(backend.native.__file__).name
        )
    return copy


@pytest.mark.slow
def test_a_function_of_elements_is_added(with_sinc):
    status, output = python(with_sinc, "-c", RUN_SINC)
    assert status == 0, output
    lines = output.splitlines()
    assert lines[:4] == [
        "1.000000 0.841471 0.636620 0.958851",
        "OutputTensor.Sizes is {2,1}; it must be the same as InputTensor's, which is {2,2} "
        "[DML-ELEMENT_WISE_SINC-same-sizes]",
        "0.000000 0.841471 1.000000 -0.479426",
        "kernel: NumPy",
    ]
    reason = ABSENT if backend.native is None else "ones_like has no native kernel"
    assert lines[4:] == [f"  not elementwise: {reason}"]

    status, page = python(with_sinc, "-c", PAGE)
    assert status == 0, page
    assert "The cardinal sine" in page

    # The tests of every operator, and the tool that measures accuracy, ask for the record alone.
    tests = [
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--operator",
        "ELEMENT_WISE_SINC",
        "tests/operators",
    ]
    status, output = python(with_sinc, *tests)
    missing = "ELEMENT_WISE_SINC has no record in tests/operators/records/element_wise.py"
    assert (status, missing in output) == (1, True), output
    insert(with_sinc / "tests/operators/records/element_wise.py", '    "SINH": ', RECORDED)
    status, output = python(with_sinc, *tests, "tests/rules", "tests/docs/test_operator_pages.py")
    assert status == 0, output
    status, output = python(with_sinc, "tools/accuracy.py", "--only", "SINC", "--samples", "4")
    assert status == 0, output
    assert len(re.findall(r"^ELEMENT_WISE_SINC +[01] +[12] ", output, re.MULTILINE)) == 2, output


@pytest.mark.slow
def test_classes_without_an_entry_and_in_another_module_are_named(copy):
    entry = copy / "tools" / "api" / "operators" / "reduction.toml"
    text = entry.read_text(encoding="utf-8")
    head, _, tail = text.partition("[CUMULATIVE_PRODUCT]")
    assert 'module = "reduction.cumulative"' in tail
    entry.write_text(
        f"{head}[CUMULATIVE_PRODUCT]{tail.replace('reduction.cumulative', 'reduction.reduce', 1)}",
        encoding="utf-8",
    )
    append(copy / "directml_py" / "operators" / "reduction" / "cumulative.py", CLASS)
    run = generate(copy, "--check")
    assert run.returncode == 2
    assert run.stderr.splitlines() == [
        "CUMULATIVE_PRODUCT has its class in directml_py/operators/reduction/cumulative.py, but its entry in "
        'tools/api/operators/reduction.toml names reduction.reduce: add module = "reduction.cumulative"',
        "RUNNING_MAX has no entry in the catalog, but a class in directml_py/operators/reduction/cumulative.py: "
        "add the entry to tools/api/operators/<family>.toml",
        "Nothing was written.",
    ]
