"""The Hypothesis strategies: what is valid is valid, and what is broken is broken once."""

from __future__ import annotations

import ctypes
from collections import Counter

import pytest
from hypothesis import HealthCheck, find, given, settings
from hypothesis import strategies as st

import directml_py as dml
from directml_py.api.schema_data import OPERATORS as ALL_SCHEMAS
from directml_py.descs import decode_operator_desc
from directml_py.operators import OPERATORS
from directml_py.testing.mutations import broken_desc
from directml_py.testing.source import RandomSource
from directml_py.testing.strategies import broken_descs, feature_levels, operators, valid_descs
from directml_py.testing.valid import valid_desc
from directml_py.validation import RULES

quick = settings(
    derandomize=True,
    deadline=None,
    max_examples=60,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
LEVELS = tuple(dml.DML_FEATURE_LEVEL)
# What no change of an executing operator's desc in readable memory can break: rules about other memory, and
# dimension counts where the tables have all that a tensor can have.
NOT_OF_DESCS = {"DML-Desc-unreadable", "DML-Desc-interface"} | {
    f"DML-{schema.name}-dimension-count"
    for schema in ALL_SCHEMAS.values()
    if all(entry.dimensions == range(1, 9) for table in schema.support for entry in table.tensors.values())
}


@quick
@given(st.data())
def test_valid_at_every_level(data):
    level = data.draw(feature_levels())
    desc = data.draw(valid_descs(feature_level=level))
    assert isinstance(desc, ctypes.Structure)
    assert dml.validate(desc, feature_level=level) == []
    device = dml.DMLCreateDevice(dml.D3D12CreateDevice(), feature_level=level)
    device.CompileOperator(device.CreateOperator(desc))


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
    assert all(slot.tensor.element_count <= 50 for slot in (*decoded.inputs, *decoded.outputs))
    broken = data.draw(broken_descs(name, feature_level=dml.DML_FEATURE_LEVEL_4_1))
    assert type(broken.desc) is type(desc)


@pytest.mark.parametrize("strategy", [valid_descs, broken_descs])
@pytest.mark.parametrize(
    ("name", "level"), [("GEMM", LEVELS[-1]), ("ARGMAX", dml.DML_FEATURE_LEVEL_2_1), ("join", LEVELS[-1])]
)
def test_operators_that_are_not_there(strategy, name, level):
    with pytest.raises(ValueError, match=f"not {name}"):
        strategy(name, feature_level=level)


def test_operators_of_a_level():
    assert "ARGMAX" not in {find(operators(0x1000), lambda name: True, settings=quick)}
    with pytest.raises(ValueError, match="DML_FEATURE_LEVEL"):
        valid_descs(feature_level=7)


def test_simple_examples_are_small():
    desc = find(
        valid_descs("JOIN", dml.DML_FEATURE_LEVEL_4_1), lambda desc: desc.InputCount >= 2, settings=quick
    )
    assert repr(desc) == (
        "DML_JOIN_OPERATOR_DESC(InputTensors=[FLOAT64 {1}, FLOAT64 {1}], OutputTensor=FLOAT64 {2}, Axis=0)"
    )


@pytest.fixture(scope="module")
def many():
    """For each level, decoded valid descs and broken ones: the same in every run."""
    found = []
    for seed in range(6000):
        source = RandomSource(seed)
        level = LEVELS[seed % len(LEVELS)]
        found.append((level, valid_desc(source, None, level), broken_desc(source, None, level)))
    return found


def test_every_rule_about_descs_is_broken(many):
    general = ("DML-Desc-", "DML-BufferTensor-", "DML-TensorFlags-", "DML-Operator-")
    prefixes = general + tuple(f"DML-{name}-" for name in OPERATORS)
    wanted = {
        rule for rule, known in RULES.items() if rule.startswith(prefixes) and known.severity.value == "error"
    }
    broken = {item.rule for _, _, item in many}
    assert wanted - NOT_OF_DESCS <= broken
    # From the tables, where rules are named by operator.
    assert {f"DML-{name}-data-type" for name in OPERATORS} <= broken


def test_valid_descs_are_of_every_kind(many):
    kinds = Counter()
    for _, desc, _ in many:
        kinds[desc.name] += 1
        for role, slots in (("input", desc.inputs), ("output", desc.outputs)):
            for slot in slots:
                tensor = slot.tensor
                kinds[role, "strided"] += tensor.strides is not None and not tensor.is_packed
                kinds[role, "overlapping"] += tensor.overlaps
                kinds[role, "larger"] += tensor.total_size > tensor.minimum_size
                kinds[role, "owned"] += tensor.is_owned_by_dml
                kinds[role, "aligned"] += bool(tensor.alignment)
                kinds[desc.name, slot.field, tensor.data_type] += 1
                kinds[slot.field, tensor.dimension_count] += 1
        if desc.name == "REDUCE":
            kinds[desc.Function] += 1
        if desc.name == "GATHER":
            kinds["cropped"] += desc.IndexDimensions > 1
            kinds["leading", desc.IndexDimensions == desc.IndicesTensor.dimension_count] += 1
    for name in OPERATORS:
        assert kinds[name] > 100, name
    for function in dml.DML_REDUCE_FUNCTION:
        assert kinds[function] > 10, function
    for trait in ("strided", "larger", "aligned"):
        assert kinds["input", trait] > 100
        assert kinds["output", trait] > 100
    assert kinds["input", "overlapping"] > 100
    assert kinds["input", "owned"] > 100
    assert kinds["output", "overlapping"] == kinds["output", "owned"] == 0
    assert kinds["cropped"] > 50
    assert kinds["leading", True] > 50
    assert kinds["leading", False] > 50
    assert all(kinds["OutputTensor", count] for count in range(1, 9))
    for schema in ALL_SCHEMAS.values():
        if schema.name in OPERATORS:
            for table in schema.support:
                for field, supported in table.tensors.items():
                    missing = [kind for kind in supported.types if not kinds[schema.name, field, kind]]
                    assert not missing, (schema.name, field)


def test_the_same_seed_gives_the_same_desc():
    assert valid_desc(RandomSource(3)) == valid_desc(RandomSource(3))
    assert len({valid_desc(RandomSource(seed)) for seed in range(50)}) > 45
