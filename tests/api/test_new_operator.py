"""An operator is added as CONTRIBUTING says: what is missing is named, few generated lines change, and it runs."""

from __future__ import annotations

import difflib
import subprocess
import sys

from .generating import contents, generate

ENTRY = """
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
PROGRAM = """
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


def test_an_operator_is_added(copy, highest_operator):
    family = copy / "tools" / "api" / "operators" / "reduction.toml"
    classes = copy / "directml_py" / "operators" / "reduction" / "cumulative.py"
    family.write_text(
        family.read_text(encoding="utf-8") + ENTRY.format(value=highest_operator + 1), encoding="utf-8"
    )
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

    classes.write_text(classes.read_text(encoding="utf-8") + CLASS, encoding="utf-8")
    before = without_built(contents(copy))
    run = generate(copy)
    assert run.returncode == 0, run.stderr
    after = without_built(contents(copy))
    assert 50 < changed_lines(before, after) < MOST_LINES

    answer = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=copy, capture_output=True, text=True, check=True
    )
    assert answer.stdout.splitlines() == [
        "[[5.0, 5.0, 4.0, 4.0], [0.0, -1.0, -2.0, -2.0]]",
        "Axis is 2; it must be less than InputTensor.DimensionCount, which is 2 [DML-RUNNING_MAX-axis]",
        "DML-Operator-feature-level",
    ]


def test_classes_without_an_entry_and_in_another_module_are_named(copy):
    entry = copy / "tools" / "api" / "operators" / "reduction.toml"
    text = entry.read_text(encoding="utf-8")
    head, _, tail = text.partition("[CUMULATIVE_PRODUCT]")
    assert 'module = "reduction.cumulative"' in tail
    entry.write_text(
        f"{head}[CUMULATIVE_PRODUCT]{tail.replace('reduction.cumulative', 'reduction.reduce', 1)}",
        encoding="utf-8",
    )
    classes = copy / "directml_py" / "operators" / "reduction" / "cumulative.py"
    classes.write_text(classes.read_text(encoding="utf-8") + CLASS, encoding="utf-8")
    run = generate(copy, "--check")
    assert run.returncode == 2
    assert run.stderr.splitlines() == [
        "CUMULATIVE_PRODUCT has its class in directml_py/operators/reduction/cumulative.py, but its entry in "
        'tools/api/operators/reduction.toml names reduction.reduce: add module = "reduction.cumulative"',
        "RUNNING_MAX has no entry in the catalog, but a class in directml_py/operators/reduction/cumulative.py: "
        "add the entry to tools/api/operators/<family>.toml",
        "Nothing was written.",
    ]
