"""Every operator says in a line what it computes, and its desc's docstring has that line, its fields and its page."""

import inspect
import math
import re

import numpy as np
from sweeps import swept

import directml_py as dml
from directml_py.api import operator_descs
from directml_py.api.schema_data import OPERATORS

SCHEMAS = sorted(OPERATORS.values(), key=lambda schema: schema.name)
NAMES = {schema.name for schema in SCHEMAS}
FORMULA = re.compile(r"f\(([a-z, ]+)\) = ([^;]+?)(?:, NaN .*|, or .*|;.*)?\.$")
WORDS = {name: getattr(math, name) for name in dir(math) if not name.startswith("_")}
WORDS |= {"ln": math.log, "max": max, "min": min, "abs": abs, "e": math.e}
ATTRIBUTES = {
    "Alpha": 0.5,
    "Beta": 0.75,
    "Gamma": 1.5,
    "Steepness": 2.0,
    "Min": -0.25,
    "Max": 0.5,
    "Exponent": 3.0,
}
ATTRIBUTES |= {"Threshold": 0.3, "SigmoidInputScale": 1.25}
# What the formulas are tried on: floats on both sides of every limit above, and of 1 for what begins there.
FLOATS = np.array([-0.9, -0.4, -0.125, 0.2, 0.4, 0.6, 0.9, 0.7], np.float32)
POSITIVE = {name: abs(FLOATS) for name in ("ELEMENT_WISE_LOG", "ELEMENT_WISE_SQRT", "ELEMENT_WISE_POW")}
POSITIVE["ELEMENT_WISE_ACOSH"] = abs(FLOATS) + 1
INTEGERS = np.array([0, 1, 2, 5, 6, 9, 12, 31], np.uint32)


def formulas():
    """Those of one element each that can be computed: their operators, arguments and text as Python."""
    for schema in SCHEMAS:
        match = FORMULA.search(schema.about)
        text = re.sub(r"^(.+) where (.+), else (.+)$", r"(\1) if \2 else (\3)", match[2]) if match else ""
        if "BIT_" not in schema.name:
            text = text.replace("^", "**")
        arguments = match[1].split(", ") if match else []
        known = {*arguments, *ATTRIBUTES, *WORDS, "if", "else", "and", "or", "not"}
        is_plain = text and "?" not in text and set(re.findall(r"[A-Za-z]\w*", text)) <= known
        if is_plain and "QUANTIZE" not in schema.name and len(schema.struct.tensors) == len(arguments) + 1:
            yield schema, arguments, text


def test_most_formulas_can_be_computed():
    assert len(list(formulas())) >= 60


@swept("schema, arguments, text", formulas())
def test_a_formula_is_what_the_operator_computes(schema, arguments, text):
    is_float = "F" in schema.support[0].split("OutputTensor")[0] and "BIT_" not in schema.name
    base = POSITIVE.get(schema.name, FLOATS) if is_float else INTEGERS
    arrays = [np.roll(base, position).reshape(1, 1, 2, 4) for position, _ in enumerate(arguments)]
    of_input = dml.DML_TENSOR_DATA_TYPE_FLOAT32 if is_float else dml.DML_TENSOR_DATA_TYPE_UINT32
    is_logical = "OutputTensor 1-8 U8 U32" in schema.support[0]
    types = {"input": of_input, "output": dml.DML_TENSOR_DATA_TYPE_UINT32 if is_logical else of_input}
    fields = {entry.name: dml.tensor_desc(types[entry.role], [1, 1, 2, 4]) for entry in schema.struct.tensors}
    attributes = {
        entry.name: ATTRIBUTES[entry.name] for entry in schema.struct.fields if entry.kind == "float"
    }
    desc = getattr(dml, schema.struct.name)(**fields, **attributes)
    (result,) = dml.evaluate(desc, arrays)
    code = compile(text, schema.about, "eval")
    expected = [
        float(eval(code, WORDS | attributes | dict(zip(arguments, values))))
        for values in zip(*(array.ravel().tolist() for array in arrays))
    ]
    if schema.name == "ELEMENT_WISE_BIT_NOT":
        expected = [value % 2**32 for value in expected]
    if "LOGICAL" in schema.name:
        expected = [bool(value) for value in expected]
    np.testing.assert_allclose(result.ravel(), expected, rtol=2e-6, atol=1e-7)


@swept("schema", SCHEMAS)
def test_a_docstring_begins_with_what_is_computed_and_has_each_field_and_the_page(schema):
    assert re.fullmatch(r"[A-Z1].{8,106}\.", schema.about)
    doc = inspect.getdoc(getattr(operator_descs, schema.struct.name))
    first, blank, *rest = doc.splitlines()
    assert (first, blank) == (schema.about, "")
    named = [match[1] for match in map(re.compile(r"- ``(\w+)``: ").match, rest) if match]
    assert named == [entry.name for entry in schema.struct.fields]
    for entry in schema.struct.fields:
        line = next(line for line in rest if line.startswith(f"- ``{entry.name}``: "))
        assert (f": {entry.role}" in line) == entry.is_tensor
        assert ("may be None" in line) == entry.optional
    assert doc.rstrip().endswith(f"/{schema.page}")


def test_a_version_names_the_operator_that_it_is_a_version_of():
    for schema in SCHEMAS:
        if schema.about.startswith("As "):
            assert schema.about.split(",")[0].removeprefix("As ") in NAMES - {schema.name}
