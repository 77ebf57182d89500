"""Every recorded case of Microsoft's library, held against ours."""

from __future__ import annotations

import re

import numpy as np
import pytest

import directml_py as dml
from directml_py.kernels.backend import backend
from directml_py.testing.tolerances import ulps_apart

from .recorded import UNWRITTEN, Case, cases
from .tolerances import FUNCTIONS, SOFTWARE_DEVICE, SUMS, SUMS_OF_NUMPY

CASES = cases()
LEVEL = dml.DML_FEATURE_LEVEL_6_2


def apart(case: Case, own: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """The distance of each element, in the operator's ULP; 0 where the library wrote nothing."""
    written = (theirs.reshape(-1).view(np.uint8).reshape(theirs.size, -1) != UNWRITTEN).any(1)
    written = written.reshape(theirs.shape)
    if theirs.dtype.kind != "f":
        return np.where(written, own != theirs, False).astype(np.uint64) * np.uint64(2**63)
    distance = np.where(written, ulps_apart(own, theirs), np.uint64(0))
    if case.desc.name in SUMS:
        finite = np.isfinite(own) & np.isfinite(theirs)
        values = [np.abs(x[np.isfinite(x)]).max(initial=0) for x in (*case.inputs, theirs) if x is not None]
        unit = np.spacing(theirs.dtype.type(max(map(float, values))))
        with np.errstate(all="ignore"):
            scaled = np.abs(own.astype(np.float64) - theirs.astype(np.float64)) / np.float64(unit)
        distance = np.where(finite & written, np.ceil(np.nan_to_num(scaled)).astype(np.uint64), distance)
    return distance


def allowed(operator: str) -> int:
    if backend.native is None and operator in SUMS_OF_NUMPY:
        return SUMS_OF_NUMPY[operator]
    return FUNCTIONS.get(operator, SUMS.get(operator, 0))


# The device that was recorded on has no FLOAT64.
PROFILE = dml.Profile("recorded", denied=frozenset({dml.DML_TENSOR_DATA_TYPE_FLOAT64}))


def create(case: Case, compiles: bool) -> None:
    device = dml.DMLCreateDevice(dml.D3D12CreateDevice(), feature_level=LEVEL, profile=PROFILE)
    operator = device.CreateOperator(case.desc)
    assert compiles
    device.CompileOperator(operator)


@pytest.mark.parametrize("case", [case for case in CASES if case.refused], ids=lambda case: case.name)
def test_refused(case):
    if case.name in SOFTWARE_DEVICE:
        assert dml.validate(case.desc, feature_level=LEVEL) == []
        return
    hresult, stage = re.fullmatch(r"(0x\w+) at stage \d (\w+)", case.refused).groups()
    with pytest.raises(dml.DMLError) as raised:
        create(case, stage == "CompileOperator")
    assert raised.value.hresult & 0xFFFFFFFF == int(hresult, 16)


@pytest.mark.parametrize("case", [case for case in CASES if not case.refused], ids=lambda case: case.name)
def test_computed(case):
    assert dml.validate(case.desc, feature_level=LEVEL) == []
    results = dml.evaluate(case.desc, case.inputs, feature_level=LEVEL)
    for slot, (own, theirs) in enumerate(zip(results, case.outputs, strict=True)):
        if theirs is None:
            continue
        distance = apart(case, own, theirs)
        if case.name not in SOFTWARE_DEVICE:
            worst = np.unravel_index(int(distance.argmax()), distance.shape)
            assert distance.max() <= allowed(case.desc.name), (slot, worst, own[worst], theirs[worst])


def test_exceptions_exist():
    assert SOFTWARE_DEVICE.keys() <= {case.name for case in CASES}
