"""``python -m directml_py show api``: a document from which bindings for other languages can be generated."""

from __future__ import annotations

import json
import shutil
import subprocess

import pytest
from jsonschema import Draft202012Validator

from directml_py.api.schema_data import OPERATORS
from directml_py.cli import main

ADDRESS = 8
SCALARS = {
    "BYTE": ("u8", 1),
    "INT8": ("i8", 1),
    "UINT8": ("u8", 1),
    "INT16": ("i16", 2),
    "UINT16": ("u16", 2),
}
SCALARS |= {
    "INT": ("i32", 4),
    "INT32": ("i32", 4),
    "UINT": ("u32", 4),
    "UINT32": ("u32", 4),
    "BOOL": ("i32", 4),
}
SCALARS |= {"INT64": ("i64", 8), "UINT64": ("u64", 8), "SIZE_T": ("usize", 8)}
SCALARS |= {"FLOAT": ("f32", 4), "DOUBLE": ("f64", 8)}


def printed(capsys, *arguments):
    assert main(["show", *arguments]) == 0
    return json.loads(capsys.readouterr().out)


@pytest.fixture
def document(capsys):
    return printed(capsys, "api")


def test_the_document_is_what_its_schema_says(capsys, document):
    schema = printed(capsys, "schema")
    Draft202012Validator.check_schema(schema)
    assert list(Draft202012Validator(schema).iter_errors(document)) == []


def test_a_document_with_another_word_is_none(capsys, document):
    validator = Draft202012Validator(printed(capsys, "schema"))
    document["structs"]["DML_SIZE_2D"]["fields"][0]["colour"] = "red"
    (error,) = validator.iter_errors(document)
    assert list(error.path) == ["structs", "DML_SIZE_2D", "fields", 0]


def test_all_that_a_binding_needs_is_there(document):
    assert (document["directml"], document["feature_level"]) == ("1.15", "DML_FEATURE_LEVEL_6_4")
    assert len(document["operators"]) == len(OPERATORS)
    join = document["operators"]["DML_OPERATOR_JOIN"]
    assert (join["struct"], join["feature_level"]) == ("DML_JOIN_OPERATOR_DESC", "DML_FEATURE_LEVEL_1_0")
    assert join["value"] == document["enums"]["DML_OPERATOR_TYPE"]["values"]["DML_OPERATOR_JOIN"]
    assert join["support"][0]["tensors"]["InputTensors"]["dimensions"] == [1, 8]
    assert "DML-JOIN-axis" in join["rules"]
    assert document["structs"]["DML_TENSOR_DESC"]["variants"] == {
        "DML_TENSOR_TYPE_BUFFER": "DML_BUFFER_TENSOR_DESC"
    }
    device = document["interfaces"]["IDMLDevice"]
    assert device["iid"] == "6dbd6437-96fd-423f-a98c-ae5e7c2a573f"
    assert [one["name"] for one in device["methods"]][:2] == ["CheckFeatureSupport", "CreateOperator"]
    assert document["rules"]["D3D12-UAVBarrier-missing"]["debug"] is True


def test_every_name_that_is_named_is_there(document):
    structs, enums = document["structs"], document["enums"]
    homes = {"struct": structs, "union": structs, "pointer": structs, "enum": enums, "flags": enums}
    homes |= {"integer": SCALARS, "float": SCALARS, "bool": SCALARS, "interface": document["interfaces"]}
    for name, struct in structs.items():
        fields = {one["name"]: one for one in struct["fields"]}
        for field in struct["fields"]:
            home = homes.get(field["kind"], {**structs, **enums, **SCALARS})
            assert "type" not in field or field["type"] in home, (name, field)
            assert field.get("counted_by", field["name"]) in fields
    for operator in document["operators"].values():
        assert operator["struct"] in structs
        assert set(operator["rules"]) <= set(document["rules"])
        tensors = {one["name"] for one in structs[operator["struct"]]["fields"] if "role" in one}
        assert all(set(table["tensors"]) <= tensors for table in operator["support"])


def layout(structs, name):
    """Size and alignment, as C lays fields out one after another."""
    end, largest = 0, 1
    for field in structs[name]["fields"]:
        size, alignment = place(structs, field)
        begin = 0 if structs[name]["union"] else -(-end // alignment) * alignment
        assert (field["offset"], field["size"]) == (begin, size), (name, field)
        end, largest = max(end, begin + size), max(largest, alignment)
    return -(-end // largest) * largest, largest


def place(structs, field):
    if field["pointer"]:
        return ADDRESS, ADDRESS
    if field["kind"] in ("enum", "flags"):
        return 4, 4
    if field["type"] in structs:
        return layout(structs, field["type"])
    size = SCALARS[field["type"]][1]
    return size * field.get("length", 1), size


def test_layouts_follow_from_the_types(document):
    structs = document["structs"]
    for name, struct in structs.items():
        assert layout(structs, name) == (struct["size"], struct["alignment"]), name


def rust_type(field):
    if field["pointer"]:
        pointed = field.get("type", "")
        known = SCALARS.get(pointed, (pointed if pointed.endswith("_DESC") else "c_void",))[0]
        return f"*const {known}"
    if field["kind"] in ("enum", "flags"):
        return "i32"
    name = SCALARS.get(field["type"], (field["type"],))[0]
    return f"[{name}; {field['length']}]" if "length" in field else name


def rust(document):
    """A binding: all structs and enumerators, and assertions that the compiler lays them out as the document says."""
    lines = ["#![allow(non_camel_case_types, non_snake_case, non_upper_case_globals, dead_code)]"]
    lines += ["use std::ffi::c_void;", "use std::mem::{align_of, offset_of, size_of};"]
    for name, one in document["enums"].items():
        lines += [f"pub type {name} = i32;"]
        lines += [f"pub const {member}: {name} = {value}u32 as i32;" for member, value in positive(one)]
    for name, struct in document["structs"].items():
        word = "union" if struct["union"] else "struct"
        fields = " ".join(f"pub {one['name']}: {rust_type(one)}," for one in struct["fields"])
        lines += [f"#[repr(C)] #[derive(Clone, Copy)] pub {word} {name} {{ {fields} }}"]
        lines += [f"const _: () = assert!(size_of::<{name}>() == {struct['size']});"]
        lines += [f"const _: () = assert!(align_of::<{name}>() == {struct['alignment']});"]
        lines += [
            f"const _: () = assert!(offset_of!({name}, {one['name']}) == {one['offset']});"
            for one in struct["fields"]
        ]
    return "\n".join([*lines, "fn main() {}"])


def positive(one):
    return [(name, value & 0xFFFFFFFF) for name, value in one["values"].items()]


@pytest.mark.slow
def test_a_binding_in_rust_compiles(document, tmp_path):
    compiler = shutil.which("rustc")
    if compiler is None:
        pytest.skip("there is no rustc")
    source = tmp_path / "directml.rs"
    source.write_text(rust(document))
    command = [compiler, "--edition=2021", "--emit=metadata", "--out-dir", tmp_path, source]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[:2000]
