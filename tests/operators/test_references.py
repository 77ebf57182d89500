"""Every operator against its independent reference, on valid descs of all kinds."""

from __future__ import annotations

import numpy as np
import pytest
from sweeps import swept

import directml_py as dml
from directml_py.api.enums import DML_FEATURE_LEVEL
from directml_py.operators import SCHEMAS
from directml_py.testing.decision_source import RandomSource
from directml_py.testing.desc_changes import change
from directml_py.testing.ulps import ulps_apart
from directml_py.testing.valid_descs import valid_desc

from .helpers import generator
from .records import RECORDS, tolerance, zeros_have_signs
from .records.onnx_node import BEYOND_OLD_RUNTIME, is_old_runtime
from .records.record import exactly

MAX_ELEMENTS = 200
# The slow run has the other samples. An odd number, as every second sample has a fused activation.
EVERY = 5
LEVELS = sorted(DML_FEATURE_LEVEL)
FUSABLE = [*(name for name in sorted(SCHEMAS) if name.startswith("ACTIVATION_")), "ELEMENT_WISE_CLIP"]
UNSIGNED = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def sample(operator, seed):
    """A desc that is valid at one of the levels that have the operator, and the level.

    Where something may be fused into it, half of the samples have nothing and half have any activation.
    """
    levels = [level for level in LEVELS if level >= SCHEMAS[operator].level]
    level = levels[seed % len(levels)]
    desc = valid_desc(RandomSource(seed), operator, level, MAX_ELEMENTS)
    if "FusedActivation" in desc.struct.index:
        fused = (seed + seed // len(levels)) % 2
        desc = change(desc, FusedActivation=activation_for(desc, seed, level) if fused else None)
    return desc, level


def activation_for(desc, seed, level):
    """An activation that can be fused into the operator at the level."""
    for name in generator(desc.name, seed).permutation(FUSABLE):
        if SCHEMAS[name].level > level:
            continue
        activation = valid_desc(RandomSource(seed), str(name), level)
        tensors = {slot.field: None for slot in (*activation.inputs, *activation.outputs)}
        if "Axes" in activation.struct.index:
            tensors["Axes"] = (desc.OutputTensor.dimension_count - 1,)
        activation = change(activation, **tensors)
        if not dml.validate(change(desc, FusedActivation=activation), feature_level=level):
            return activation
    raise AssertionError(f"nothing can be fused into {desc}")


@pytest.mark.parametrize("operator", sorted(SCHEMAS))
def test_reference(operator):
    check_samples(operator, slice(None, None, EVERY))


@pytest.mark.slow
@swept("operator", sorted(SCHEMAS))
@swept("first", range(1, EVERY))
def test_more_samples(operator, first):
    check_samples(operator, slice(first, None, EVERY))


def check_samples(operator, chosen):
    assert operator in RECORDS, (
        f"{operator} has no record in tests/operators/records/{SCHEMAS[operator].family}.py"
    )
    if operator in BEYOND_OLD_RUNTIME and is_old_runtime():
        pytest.skip("needs ONNX Runtime 1.24 or newer")
    record = RECORDS[operator]
    for seed in range(record.samples)[chosen]:
        desc, level = sample(operator, seed)
        inputs = record.draw(generator(operator, seed), desc)
        results = dml.evaluate(desc, inputs, feature_level=level)
        with np.errstate(all="ignore"):
            expected = record.reference(desc, *map(exactly, inputs))
        expected = expected if isinstance(expected, list) else [expected]
        for slot, result, wanted in zip(desc.outputs, results, expected, strict=True):
            assert (result is None) == (wanted is None) == (slot.tensor is None)
            if result is not None:
                assert result.shape == wanted.shape == slot.tensor.sizes
                wrong = differences(desc, result, wanted)
                assert not wrong.any(), described(seed, desc, inputs, result, wanted, wrong)


def differences(desc, result, wanted):
    """Where a result differs from the expected one, for floats by more than the tolerance."""
    if result.dtype.kind != "f" or wanted.dtype.kind != "f":
        kind = UNSIGNED[result.dtype.itemsize]
        mask = (1 << 8 * result.dtype.itemsize) - 1
        return result.view(kind) != (wanted.astype(object) & mask).astype(kind)
    with np.errstate(all="ignore"):
        rounded = wanted.astype(result.dtype)
    wrong = ulps_apart(result, rounded) > tolerance(desc, result.dtype)
    if zeros_have_signs(desc, result.dtype):
        wrong |= (result == 0) & (np.signbit(result) != np.signbit(rounded))
    return wrong


def described(seed, desc, inputs, result, wanted, wrong):
    place = tuple(int(index) for index in np.argwhere(wrong)[0])
    operands = [
        None if one is None else one[place].item() if one.shape == result.shape else one.tolist()
        for one in inputs
    ]
    return (
        f"seed {seed}, {desc}: {np.count_nonzero(wrong)} of {wrong.size} elements; at {list(place)} of {operands} "
        f"it is {result[place]!r}, not {wanted[place]!r}"
    )


def test_every_record_is_of_an_operator():
    assert set(RECORDS) <= set(SCHEMAS)
