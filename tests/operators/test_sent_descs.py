"""Descs that a large client sends: ONNX Runtime's DirectML provider, recorded by ``tools/clients/onnxruntime_dml.py``.

Each is accepted, compiles and runs, and its kernel agrees with the NumPy reference.
"""

from __future__ import annotations

import gzip
import json
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import directml_py as dml
from directml_py.descs.desc_json import read_operator
from directml_py.operators import SCHEMAS
from directml_py.text.json_reading import Item

from . import twins
from .helpers import arrays_for

FILE = Path(__file__).with_name("onnxruntime_descs.jsonl.gz")
# The level of the device that ONNX Runtime was given.
LEVEL = dml.DML_FEATURE_LEVEL_6_4
# So many of each operator run in the fast suite; the sample changes with the seed.
SAMPLE, SEED = 2, 1
# The fast suite leaves large ones to the slow suite.
LARGEST = 1 << 14


@cache
def recorded():
    """The descs by operator, as JSON, with the numbers of their lines."""
    found = {}
    with gzip.open(FILE, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            entry = json.loads(line)
            found.setdefault(entry["operator"], []).append((number, entry["desc"]))
    return found


@cache
def sent(operator):
    schema = SCHEMAS[operator]
    return [
        (number, read_operator(schema, Item(FILE, f"line {number}", desc)))
        for number, desc in recorded()[operator]
    ]


def chosen(operator):
    """Some descs of an operator that are not large."""
    small = [
        (number, desc)
        for number, desc in sent(operator)
        if all(np.prod(slot.tensor.sizes) <= LARGEST for slot in (*desc.inputs, *desc.outputs) if slot.tensor)
    ]
    order = np.random.default_rng(SEED).permutation(len(small))
    return [small[place] for place in order[:SAMPLE]]


def replay(number, desc):
    device = dml.DMLCreateDevice(dml.D3D12CreateDevice(), feature_level=LEVEL)
    device.CompileOperator(device.CreateOperator(desc))
    # Eighths, so that sums are exact, in whatever order they are added up.
    inputs = [
        x if x is None or x.dtype.kind != "f" else np.round(x * 8) / x.dtype.type(8)
        for x in arrays_for(desc, number)
    ]
    results = dml.evaluate(desc, inputs, feature_level=LEVEL)
    for slot, result in zip(desc.outputs, results, strict=True):
        assert (None if result is None else result.shape) == (
            None if slot.tensor is None else slot.tensor.sizes
        )
    if twins.has_twin(desc.name):
        twins.check(desc, inputs, cancels=True)


def test_all_are_accepted():
    """Also as lines of the file: what was read is what was recorded."""
    for operator in recorded():
        for number, desc in sent(operator):
            assert dml.validate(desc, feature_level=LEVEL) == [], f"line {number}"


@pytest.mark.parametrize("operator", sorted(recorded()))
def test_some_run(operator):
    for number, desc in chosen(operator):
        replay(number, desc)


@pytest.mark.slow
@pytest.mark.parametrize("operator", sorted(recorded()))
def test_all_run(operator):
    for number, desc in sent(operator):
        replay(number, desc)
