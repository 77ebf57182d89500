"""The catalog is whole and consistent, and the generated files are what it says."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from generators.catalog import Catalog, read_in_place

from directml_py.api import enums, iids, operator_descs, structs
from directml_py.api.enums import DML_FEATURE_LEVEL, DML_TENSOR_DATA_TYPE, DML_TENSOR_DATA_TYPE_UNKNOWN
from directml_py.api.schema_data import OPERATORS, STRUCTS
from directml_py.validation.support_tables import same_of, support_of

ROOT = Path(__file__).resolve().parents[2]
SCHEMAS = [op.struct for op in OPERATORS.values()] + list(STRUCTS.values())


def generate(root, *arguments):
    command = [sys.executable, str(root / "tools" / "generate.py"), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


def test_nothing_has_drifted():
    run = generate(ROOT, "--check")
    assert (run.returncode, run.stdout) == (0, ""), run.stdout + run.stderr


@pytest.fixture
def copy(tmp_path):
    """The repository, without what tools keep there and what is built."""
    target = tmp_path / "repository"
    hidden = (".git", ".venv", ".nox", ".hypothesis", ".*_cache")
    ignore = shutil.ignore_patterns(*hidden, "__pycache__", "*.pyc", "build", "dist", "*.egg-info", "*.so")
    shutil.copytree(ROOT, target, ignore=ignore)
    return target


def contents(root):
    return {
        path: path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and path.suffix != ".pyc"
    }


def test_drift_is_found_and_nothing_written(copy):
    edited = copy / "directml_py" / "api" / "enums.py"
    original = edited.read_text(encoding="utf-8")
    assert "DML_OPERATOR_JOIN = " in original
    edited.write_text(
        original.replace("DML_OPERATOR_JOIN = ", "DML_OPERATOR_JOIN = 1 + ", 1), encoding="utf-8"
    )
    missing = copy / "include" / "DirectML.h"
    header = missing.read_text(encoding="utf-8")
    missing.unlink()
    before = contents(copy)

    run = generate(copy, "--check")
    assert run.returncode == 1, run.stderr
    assert sorted(run.stdout.splitlines()) == [
        "differs: directml_py/api/enums.py",
        "differs: include/DirectML.h",
    ]
    assert contents(copy) == before

    run = generate(copy)
    assert run.returncode == 0, run.stderr
    assert sorted(run.stdout.splitlines()) == ["wrote: directml_py/api/enums.py", "wrote: include/DirectML.h"]
    assert edited.read_text(encoding="utf-8") == original
    assert missing.read_text(encoding="utf-8") == header


def edit(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_a_changed_catalog_is_drift(copy):
    family = copy / "tools" / "api" / "operators" / "reduction.toml"
    edit(family, 'about = "Running sums', 'about = "Sums that run')
    edit(family, 'since = "0x2100"', 'since = "0x3000"')
    run = generate(copy, "--check")
    assert run.returncode == 1, run.stderr
    assert sorted(run.stdout.splitlines()) == [
        "differs: directml_py/api/operator_descs.py",
        "differs: directml_py/api/schema_data.py",
        "differs: directml_py/graph/functions.pyi",
        "differs: include/DirectML.h",
    ]


class TestCompleteness:
    """The numbers are those of DirectML.h for the target version 0x6400."""

    def test_counts(self):
        catalog = Catalog()
        assert len(catalog.enums) == 25
        assert len(catalog.operators) == 177
        assert len(catalog.interfaces) == 12
        assert len([struct for struct in catalog.structs if not struct.union]) == 22
        assert [struct.name for struct in catalog.structs if struct.union] == ["DML_SCALAR_UNION"]

    def test_in_python(self):
        catalog = Catalog()
        assert {enum.name for enum in catalog.enums} <= set(vars(enums))
        assert {struct.name for struct in catalog.structs} == set(structs.__all__)
        descs = {op.struct.name for op in catalog.operators}
        assert descs | {"DML_SCATTER_ELEMENTS_OPERATOR_DESC"} == set(operator_descs.__all__)
        assert {f"IID_{interface.name}" for interface in catalog.interfaces} <= set(iids.__all__)
        assert {op.name for op in catalog.operators} == {op.name for op in OPERATORS.values()}

    def test_operator_types(self):
        """Every operator has its type, its desc, and the desc knows the type."""
        types = {member.name: int(member) for member in enums.DML_OPERATOR_TYPE}
        assert types.pop("DML_OPERATOR_INVALID") == 0
        assert types == {op.type_name: op.value for op in OPERATORS.values()}
        for value, op in OPERATORS.items():
            assert op.value == value
            kind = getattr(operator_descs, f"DML_{op.name}_OPERATOR_DESC")
            assert kind._operator_ == value
            assert op.struct.name == kind.__name__
            assert [field.name for field in op.struct.fields] == [field[0] for field in kind._fields_]
        assert STRUCTS["DML_OPERATOR_DESC"].variants == {
            op.value: op.struct.name for op in OPERATORS.values()
        }

    @pytest.mark.parametrize(
        ("name", "value", "level"),
        [
            ("ELEMENT_WISE_IDENTITY", 1, 0x1000),
            ("REDUCE", 55, 0x1000),
            ("SPLIT", 62, 0x1000),
            ("JOIN", 63, 0x1000),
            ("GATHER", 67, 0x1000),
            ("ARGMIN", 137, 0x3000),
            ("ARGMAX", 138, 0x3000),
        ],
    )
    def test_some_by_hand(self, name, value, level):
        assert OPERATORS[value].name == name
        assert OPERATORS[value].level == level


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.name)
def test_fields_name_each_other(schema):
    """A count is an earlier or later integer of the struct; a union is governed by a data type of the struct."""
    for field in schema.fields:
        if field.counted_by:
            assert schema.fields[schema.index[field.counted_by]].kind == "integer"
        if field.kind == "array":
            assert field.counted_by, field
        if field.governed_by:
            governor = schema.fields[schema.index[field.governed_by]]
            assert governor.type == "DML_TENSOR_DATA_TYPE"
            assert field.kind == "union"
        if field.type == "DML_SCALAR_UNION":
            assert field.governed_by, field


@pytest.mark.parametrize("op", OPERATORS.values(), ids=lambda op: op.name)
def test_tensors_of_operators(op):
    """Exactly the fields that hold tensors are inputs and outputs, and every operator has an output."""
    for field in op.struct.fields:
        assert field.is_tensor == (field.type == "DML_TENSOR_DESC")
    assert any(field.role == "output" for field in op.struct.fields)
    assert op.level in set(DML_FEATURE_LEVEL)


def agrees(first, second):
    """Whether some attribute values fall under both conditions."""
    shared = first.keys() & second.keys()
    return all(set(first[name]) & set(second[name]) for name in shared)


@pytest.mark.parametrize("op", OPERATORS.values(), ids=lambda op: op.name)
class TestSupport:
    def test_tables(self, op):
        tensors = {field.name for field in op.struct.tensors}
        attributes = {field.name for field in op.struct.fields if not field.is_tensor}
        assert op.support
        for entry in support_of(op):
            assert entry.level in set(DML_FEATURE_LEVEL)
            assert entry.level >= op.level
            assert set(entry.tensors) == tensors
            assert set(entry.when) <= attributes
            for table in entry.tensors.values():
                assert table.dimensions
                assert set(table.dimensions) <= set(range(1, 9))
                assert table.types
                assert len(set(table.types)) == len(table.types)
                assert all(value in set(DML_TENSOR_DATA_TYPE) for value in table.types)
                assert DML_TENSOR_DATA_TYPE_UNKNOWN not in table.types

    def test_every_level_has_one_table(self, op):
        """No two tables of a level hold at once, and a newer level never takes something away."""
        for index, entry in enumerate(support_of(op)):
            for other in support_of(op)[index + 1 :]:
                if not agrees(entry.when, other.when):
                    continue
                assert entry.level != other.level
                newer, older = sorted((entry, other), key=lambda e: -e.level)
                for name, table in older.tensors.items():
                    assert set(table.types) <= set(newer.tensors[name].types)
                    assert set(table.dimensions) <= set(newer.tensors[name].dimensions)

    def test_the_first_level_has_a_table(self, op):
        """For every value of the enumerations that tables distinguish."""
        for field in op.struct.fields:
            if any(field.name in entry.when for entry in support_of(op)):
                kind = getattr(enums, field.type)
                first = [entry for entry in support_of(op) if entry.level == op.level]
                covered = {value for entry in first for value in entry.when.get(field.name, kind)}
                later = {value for entry in support_of(op) for value in entry.when.get(field.name, kind)}
                assert later == set(kind)
                assert covered
        assert any(entry.level == op.level for entry in support_of(op))

    def test_what_must_agree(self, op):
        tensors = {field.name for field in op.struct.tensors}
        for entry in same_of(op):
            assert len(set(entry.fields)) == len(entry.fields)
            assert set(entry.fields) <= tensors
            assert set(entry.properties) <= {"DataType", "DimensionCount", "Sizes"}


# Which inputs pages name, where they do not name all; an operator that is absent works in place of every input, or of
# none.
IN_PLACE = {
    "ACTIVATION_PARAMETERIZED_RELU": ("InputTensor",),
    "ADAM_OPTIMIZER": (
        "InputParametersTensor",
        "InputFirstMomentTensor",
        "InputSecondMomentTensor",
        "GradientTensor",
    ),
    "ELEMENT_WISE_CLIP_GRAD": ("InputTensor",),
    "ELEMENT_WISE_CLIP_GRAD1": ("InputTensor",),
    "ELEMENT_WISE_POW": ("InputTensor",),
}


class TestInPlace:
    def test_of_some_inputs(self):
        partly = {}
        for op in OPERATORS.values():
            inputs = tuple(field.name for field in op.struct.fields if field.role == "input")
            if op.in_place not in ((), inputs):
                partly[op.name] = op.in_place
        assert partly == IN_PLACE

    @pytest.mark.parametrize("entry", ["ATensor OutputTensor", "Exponent", "aTensor"])
    def test_of_what_is_no_input(self, entry):
        add = next(op for op in Catalog().operators if op.name == "ELEMENT_WISE_ADD")
        with pytest.raises(ValueError, match="ELEMENT_WISE_ADD works in place of"):
            read_in_place(add.name, entry, add.struct)
