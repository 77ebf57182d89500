"""Every recorded case of Microsoft's library, held against ours."""

from __future__ import annotations

import re

import numpy as np
import pytest
from sweeps import swept

import directml_py as dml
from directml_py.kernels.backend import backend
from directml_py.testing.ulps import ulps_apart

from ..operators.records import RECORDS
from ..operators.records.library import OfElements
from .recorded import SOFTWARE_DEVICE, UNWRITTEN, Case, cases

CASES = cases()
LEVEL = dml.DML_FEATURE_LEVEL_6_2


def excess(case: Case, own: np.ndarray, theirs: np.ndarray) -> np.ndarray:
    """The distance of each element in units of what is allowed; 0 where the library wrote nothing, and infinite where
    nothing is allowed."""
    written = (theirs.reshape(-1).view(np.uint8).reshape(theirs.size, -1) != UNWRITTEN).any(1)
    written = written.reshape(theirs.shape)
    if theirs.dtype.kind != "f":
        return np.where(written & (own != theirs), np.inf, 0.0)
    finite = np.isfinite(own) & np.isfinite(theirs)
    with np.errstate(all="ignore"):
        errors = np.abs(own.astype(np.float64) - theirs.astype(np.float64))
        distances = np.where(finite, errors / allowed(case, theirs), np.inf)
    return np.where(written & (ulps_apart(own, theirs) != 0), distances, 0.0)


def allowed(case: Case, theirs: np.ndarray) -> np.ndarray | float:
    """The largest difference from each element."""
    bound = RECORDS[case.desc.name].library
    if isinstance(bound, OfElements):
        rounding = np.abs(np.spacing(theirs)).astype(np.float64)
        return rounding if theirs.dtype == np.float16 else bound.error(np.abs(theirs.astype(np.float64)))
    count = bound.ulps * (case.desc.InputTensor.sizes[1] if bound.each_step else 1)
    if backend.native is None and bound.numpy is not None:
        count = bound.numpy
    values = [np.abs(x[np.isfinite(x)]).max(initial=0) for x in (*case.inputs, theirs) if x is not None]
    return count * float(np.spacing(theirs.dtype.type(max(map(float, values)))))


# The device that was recorded on has no FLOAT64.
PROFILE = dml.Profile("recorded", denied=frozenset({dml.DML_TENSOR_DATA_TYPE_FLOAT64}))


def create(case: Case, compiles: bool) -> None:
    device = dml.DMLCreateDevice(dml.D3D12CreateDevice(), feature_level=LEVEL, profile=PROFILE)
    operator = device.CreateOperator(case.desc)
    assert compiles
    device.CompileOperator(operator)


@swept("case", [case for case in CASES if case.refused])
def test_refused(case):
    if case.name in SOFTWARE_DEVICE:
        assert dml.validate(case.desc, feature_level=LEVEL) == []
        return
    hresult, stage = re.fullmatch(r"(0x\w+) at stage \d (\w+)", case.refused).groups()
    with pytest.raises(dml.DMLError) as raised:
        create(case, stage == "CompileOperator")
    assert raised.value.hresult & 0xFFFFFFFF == int(hresult, 16)


@pytest.mark.parametrize("operator", sorted({case.desc.name for case in CASES if not case.refused}))
def test_computed(operator):
    for case in CASES:
        if case.desc.name == operator and not case.refused:
            check(case)


def check(case: Case) -> None:
    assert dml.validate(case.desc, feature_level=LEVEL) == [], case.name
    results = dml.evaluate(case.desc, case.inputs, feature_level=LEVEL)
    for slot, (own, theirs) in enumerate(zip(results, case.outputs, strict=True)):
        if theirs is None:
            continue
        distance = excess(case, own, theirs)
        if case.name not in SOFTWARE_DEVICE:
            worst = np.unravel_index(int(distance.argmax()), distance.shape)
            assert distance.max() <= 1, (case.name, slot, worst, own[worst], theirs[worst])


def test_exceptions_exist():
    assert SOFTWARE_DEVICE.keys() <= {case.name for case in CASES}
