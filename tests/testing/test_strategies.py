"""The Hypothesis strategies: valid descs are valid, and broken ones break exactly one rule."""

from __future__ import annotations

import ctypes
from collections import Counter

import pytest
from hypothesis import HealthCheck, Phase, find, given, settings
from hypothesis import strategies as st

import directml_py as dml
from directml_py.descs import decode_operator_desc
from directml_py.operators import SCHEMAS
from directml_py.testing.decision_source import RandomSource
from directml_py.testing.mutations import broken_desc
from directml_py.testing.strategies import broken_descs, feature_levels, operators, valid_descs
from directml_py.testing.valid_descs import valid_desc
from directml_py.validation import RULES
from directml_py.validation.support_tables import support_of

quick = settings(
    derandomize=True,
    deadline=None,
    max_examples=60,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
LEVELS = tuple(dml.DML_FEATURE_LEVEL)
# What no change of a desc in readable memory breaks.
NOT_OF_DESCS = {"DML-Desc-unreadable", "DML-Desc-interface", "DML-Desc-reserved-type"}


@quick
@given(st.data())
def test_valid_at_every_level(data):
    level = data.draw(feature_levels())
    desc = data.draw(valid_descs(feature_level=level))
    assert isinstance(desc, ctypes.Structure)
    assert dml.validate(desc, feature_level=level) == []
    device = dml.DMLCreateDevice(dml.D3D12CreateDevice(), feature_level=level)
    device.CreateOperator(desc)


@quick
@given(st.data())
def test_broken_once(data):
    level = data.draw(feature_levels())
    desc, rule, path = data.draw(broken_descs(feature_level=level))
    found = dml.validate(desc, feature_level=level)
    assert {item.rule for item in found} == {rule}
    assert found[0].path == path


@quick
@given(st.data())
def test_one_operator(data):
    name = data.draw(operators(dml.DML_FEATURE_LEVEL_4_1))
    desc = data.draw(valid_descs(name, feature_level=dml.DML_FEATURE_LEVEL_4_1, max_elements=50))
    assert type(desc).__name__ == f"DML_{name}_OPERATOR_DESC"
    decoded = decode_operator_desc(desc).desc
    slots = (*decoded.inputs, *decoded.outputs)
    assert all(slot.tensor.element_count <= 50 for slot in slots if slot.tensor is not None)
    broken = data.draw(broken_descs(name, feature_level=dml.DML_FEATURE_LEVEL_4_1))
    assert type(broken.desc) is type(desc)


@pytest.mark.parametrize("strategy", [valid_descs, broken_descs])
@pytest.mark.parametrize(
    ("name", "level", "text"),
    [
        ("NONSENSE", LEVELS[-1], "there is no operator DML_OPERATOR_NONSENSE$"),
        ("jion", LEVELS[-1], r"there is no operator DML_OPERATOR_JION; did you mean JOIN\?"),
        ("relu", LEVELS[-1], r"there is no operator DML_OPERATOR_RELU; did you mean ACTIVATION_RELU\?"),
        (
            "ARGMAX",
            dml.DML_FEATURE_LEVEL_2_1,
            "DML_FEATURE_LEVEL_2_1 lacks DML_OPERATOR_ARGMAX, which DML_FEATURE_LEVEL_3_0 has",
        ),
    ],
)
def test_operators_that_are_not_there(strategy, name, level, text):
    with pytest.raises(ValueError, match=text):
        strategy(name, feature_level=level)
    with pytest.raises(TypeError, match="an operator is named as GEMM or DML_OPERATOR_GEMM, not by"):
        strategy(dml.DML_GEMM_OPERATOR_DESC)


@pytest.mark.parametrize("name", ["gemm", "GEMM", "DML_OPERATOR_GEMM", dml.DML_OPERATOR_GEMM])
def test_an_operator_by_each_of_its_names(name):
    any_will_do = settings(quick, phases=[Phase.generate])
    desc = find(valid_descs(name), lambda desc: True, settings=any_will_do)
    broken = find(broken_descs(name), lambda found: True, settings=any_will_do)
    assert type(desc) is type(broken.desc) is dml.DML_GEMM_OPERATOR_DESC
    assert broken.rule.startswith("DML-")


def test_operators_of_a_level():
    assert "ARGMAX" not in {find(operators(0x1000), lambda name: True, settings=quick)}
    with pytest.raises(ValueError, match="DML_FEATURE_LEVEL"):
        valid_descs(feature_level=7)


def test_simple_examples_are_small():
    desc = find(
        valid_descs("JOIN", dml.DML_FEATURE_LEVEL_4_1), lambda desc: desc.InputCount >= 2, settings=quick
    )
    assert repr(desc) == (
        "DML_JOIN_OPERATOR_DESC(InputTensors=[FLOAT32 {1}, FLOAT32 {1}], OutputTensor=FLOAT32 {2}, Axis=0)"
    )


@pytest.fixture(scope="module")
def many():
    """Decoded valid and broken descs for each level, reproducible."""
    found = []
    for seed in range(1000):
        source = RandomSource(seed)
        level = LEVELS[seed % len(LEVELS)]
        found.append((level, valid_desc(source, None, level), broken_desc(source, None, level)))
    return found


def test_every_rule_about_all_descs_is_broken(many):
    """Rules of individual operators are broken in ``tests/operators``."""
    prefixes = ("DML-Desc-", "DML-BufferTensor-", "DML-TensorFlags-", "DML-Operator-")
    wanted = {
        rule for rule, known in RULES.items() if rule.startswith(prefixes) and known.severity.value == "error"
    }
    broken = {item.rule for _, _, item in many}
    assert wanted - NOT_OF_DESCS == {rule for rule in broken if rule.startswith(prefixes)}
    assert len({rule for rule in broken if rule.endswith("-data-type")}) > 20
    assert len({rule for rule in broken if rule.endswith("-sizes")}) > 20


def test_valid_descs_are_of_every_kind(many):
    kinds = Counter()
    for _, desc, _ in many:
        kinds[desc.name] += 1
        for role, slots in (("input", desc.inputs), ("output", desc.outputs)):
            for tensor in (slot.tensor for slot in slots if slot.tensor is not None):
                kinds[role, "strided"] += tensor.strides is not None and not tensor.is_packed
                kinds[role, "overlapping"] += tensor.overlaps
                kinds[role, "larger"] += tensor.total_size > tensor.minimum_size
                kinds[role, "owned"] += tensor.is_owned_by_dml
                kinds[role, "aligned"] += bool(tensor.alignment)
    assert len(kinds.keys() & SCHEMAS.keys()) > 150
    for trait in ("strided", "larger", "aligned"):
        assert kinds["input", trait] > 50
        assert kinds["output", trait] > 50
    assert kinds["input", "overlapping"] > 50
    assert kinds["input", "owned"] > 50
    assert kinds["output", "overlapping"] == kinds["output", "owned"] == 0


@pytest.mark.parametrize("operator", sorted(SCHEMAS))
def test_valid_descs_have_all_that_the_tables_have(operator):
    """Every tensor comes in every data type and in every dimension count."""
    tables = [
        (field, entry) for table in support_of(SCHEMAS[operator]) for field, entry in table.tensors.items()
    ]
    types = {(field, kind) for field, entry in tables for kind in entry.types}
    counts = {(field, count) for field, entry in tables for count in entry.dimensions}
    if operator == "QUANTIZED_LINEAR_AVERAGE_POOLING":
        # What has other parameters is valid, but does not compile.
        counts = {(field, count) for field, count in counts if count >= 4}
    for seed in range(400):
        desc = valid_desc(RandomSource(seed), operator)
        slots = [slot for slot in (*desc.inputs, *desc.outputs) if slot.tensor is not None]
        types -= {(slot.field, slot.tensor.data_type) for slot in slots}
        counts -= {(slot.field, slot.tensor.dimension_count) for slot in slots}
        if not types and not counts:
            return
    assert (types, counts) == (set(), set())


def test_the_same_seed_gives_the_same_desc():
    assert valid_desc(RandomSource(3)) == valid_desc(RandomSource(3))
    assert len({valid_desc(RandomSource(seed)) for seed in range(50)}) > 45
