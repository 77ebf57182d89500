"""``evaluate`` directly on arrays and through the object model: bit-identical results for every operator.

Without observers, an operator is bound to arrays without buffers, tables and lists, in about a seventh of the time.
"""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sweeps import swept

import directml_py as dml
from directml_py.operators import SCHEMAS, operator_of
from directml_py.testing.decision_source import RandomSource
from directml_py.testing.invalid_descs import derived_rules
from directml_py.testing.valid_descs import valid_desc

from ..observation import observed
from ..operators.helpers import arrays_for, as_stored
from ..rules.derived import invalid_desc_of
from ..rules.layer import debug_layer

OPERATORS = sorted(SCHEMAS)
HIGHEST = max(dml.DML_FEATURE_LEVEL)
SAMPLES, MORE_SAMPLES = 1, 4
LARGEST_ALIGNMENT = 1 << 16
UNUSUAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5]


def outcome(desc, arrays, level=HIGHEST):
    """The results or the error of ``evaluate``, and the warnings, as values that compare bits."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            results = dml.evaluate(desc, arrays, feature_level=level)
            ending = [
                None if array is None else (array.dtype, array.shape, array.tobytes()) for array in results
            ]
        except Exception as error:
            found = [
                (each.rule, each.severity, each.path, each.message)
                for each in getattr(error, "diagnostics", [])
            ]
            ending = type(error), str(error), getattr(error, "hresult", None), found
    return ending, [(warning.category, str(warning.message)) for warning in caught]


def runs(found):
    return isinstance(found[0], list)


def defined(desc, found):
    """An outcome without the elements that the operator leaves undefined: the debug layer fills them with a pattern."""
    ending, caught = found
    if not runs(found) or None in ending:
        return found
    outputs = [np.frombuffer(data, dtype).reshape(shape) for dtype, shape, data in ending]
    parts = operator_of(desc.name).defined(desc, outputs)
    return [output[part].tobytes() for output, part in zip(outputs, parts, strict=True)], caught


def has_large_gaps(desc):
    """Whether an alignment makes resources of gigabytes, which are cheap until the debug layer tracks each byte."""
    tensors = [slot.tensor for slot in (*desc.inputs, *desc.outputs) if slot.tensor is not None]
    return any(tensor.alignment > LARGEST_ALIGNMENT for tensor in tensors)


def assert_alike(desc, arrays, level=HIGHEST):
    """Check both executors and return the outcome. Neither may change ``arrays``."""
    before = [None if array is None else array.tobytes() for array in arrays]
    unwatched = outcome(desc, arrays, level)
    with observed() as observer:
        watched = outcome(desc, arrays, level)
    assert watched == unwatched
    assert (observer.count > 0) == runs(watched)
    if not has_large_gaps(desc):
        with debug_layer():
            layered = outcome(desc, arrays, level)
        assert defined(desc, layered) == defined(desc, unwatched)
    assert [None if array is None else array.tobytes() for array in arrays] == before
    return unwatched


def unusual(desc, seed):
    """Inputs of zeros, infinities, NaN, and the largest and smallest numbers of their types."""
    rng = np.random.default_rng(seed)
    arrays = arrays_for(desc, seed)
    for index, (slot, array) in enumerate(zip(desc.inputs, arrays)):
        if array is not None and array.dtype.kind == "f":
            limits = np.finfo(array.dtype)
            values = [*UNUSUAL, limits.max, limits.min, limits.tiny, limits.smallest_subnormal]
            arrays[index] = as_stored(slot.tensor, rng.choice(np.array(values, array.dtype), array.shape))
    return arrays


def differently_laid_out(array):
    """The same elements, in Fortran's order and read-only."""
    if array is None:
        return None
    array = np.asfortranarray(array)
    array.flags.writeable = False
    return array


def check_results(operator, seeds):
    for seed in seeds:
        desc = valid_desc(RandomSource(seed), operator)
        arrays = arrays_for(desc, seed)
        found = assert_alike(desc, arrays)
        assert runs(found), found
        assert outcome(desc, [differently_laid_out(array) for array in arrays]) == found
        assert runs(assert_alike(desc, unusual(desc, seed)))


@pytest.mark.parametrize("operator", OPERATORS)
def test_results(operator):
    check_results(operator, range(SAMPLES))


@pytest.mark.slow
@swept("operator", OPERATORS)
def test_results_of_more_samples(operator):
    check_results(operator, range(SAMPLES, MORE_SAMPLES))


def broken_rules(operator):
    """One rule that CreateOperator enforces, and all documentation-only ones: descs that break these run."""
    enforced = derived_rules(operator, enforced=True)
    of_the_page_alone = [rule for rule in derived_rules(operator) if rule not in enforced]
    return enforced[:1] + of_the_page_alone


@pytest.mark.slow
@swept("operator", OPERATORS)
def test_descs_that_break_rules(operator):
    for rule in broken_rules(operator):
        breach = invalid_desc_of(rule)
        is_accepted = not dml.validate(breach.desc, feature_level=breach.level)
        arrays = arrays_for(breach.desc if is_accepted else breach.valid_desc, 0)
        found = assert_alike(breach.desc, arrays, breach.level)
        if not is_accepted:
            _, _, hresult, diagnostics = found[0]
            assert hresult == dml.E_INVALIDARG
            assert [each[0] for each in diagnostics] == [each.rule for each in breach.diagnostics]


def wrong_inputs(arrays):
    """Too many arrays, an array of another type, one of other sizes, and a missing one."""
    yield [*arrays, np.zeros(1)]
    for index, array in enumerate(arrays):
        wrong = "absent" if array is None else array
        for other in (
            [np.zeros(1)]
            if isinstance(wrong, str)
            else [None, array[np.newaxis], array.astype(np.complex64), array.tolist()]
        ):
            yield [*arrays[:index], other, *arrays[index + 1 :]]


def kinds_of_inputs(operator):
    return tuple(
        (entry.kind, entry.optional) for entry in SCHEMAS[operator].struct.tensors if entry.role == "input"
    )


@swept("operator", {kinds_of_inputs(operator): operator for operator in reversed(OPERATORS)}.values())
def test_inputs_that_do_not_fit(operator):
    """Of an operator with each number of inputs that must be there, that may be, and in arrays."""
    assert_inputs_do_not_fit(operator)


@pytest.mark.slow
@swept("operator", OPERATORS)
def test_inputs_that_do_not_fit_any_operator(operator):
    assert_inputs_do_not_fit(operator)


def assert_inputs_do_not_fit(operator):
    desc = valid_desc(RandomSource(0), operator)
    for arrays in wrong_inputs(arrays_for(desc, 0)):
        unwatched = outcome(desc, arrays)
        with observed():
            assert outcome(desc, arrays) == unwatched


def test_more_memory_than_there_is(monkeypatch):
    monkeypatch.setattr("directml_py.runtime.allocation.physical_memory", lambda: 1 << 16)
    x = dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, [1 << 15], [0])
    y = dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, [1 << 15])
    desc = dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(x, y)
    array = np.broadcast_to(np.float32(1), [1 << 15])
    unwatched = outcome(desc, [array])
    _, message, hresult, _ = unwatched[0]
    assert hresult == dml.E_OUTOFMEMORY
    assert "131072 bytes" in message
    with observed():
        assert outcome(desc, [array]) == unwatched
