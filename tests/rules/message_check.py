"""The message of a rule: a readable sentence that names its subject. The tests that break rules check all of them."""

from __future__ import annotations

import re

import directml_py as dml
from directml_py.operators import SCHEMAS
from directml_py.validation import RULES, Diagnostic

# What fields and arguments of enumeration types are called, and which types they have.
FIELDS = {
    "DataType": {dml.DML_TENSOR_DATA_TYPE},
    "Type": {dml.DML_OPERATOR_TYPE},
    "feature": {dml.DML_FEATURE},
    "minimumFeatureLevel": {dml.DML_FEATURE_LEVEL},
    "feature_level": {dml.DML_FEATURE_LEVEL},
}
for _schema in SCHEMAS.values():
    for _entry in _schema.struct.fields:
        if _entry.kind == "enum":
            FIELDS.setdefault(_entry.name, set()).add(getattr(dml, _entry.type))


def check_message(item: Diagnostic) -> None:
    message = item.message
    # What comes up while commands execute is about them, and names them in the message itself.
    assert item.path or RULES[item.rule].debug
    assert message.startswith(f"{item.path} " if item.path else ""), message
    check_sentence(message)
    check_names(item)
    # It has the actual value, not only the rule's text.
    assert RULES[item.rule].text.lower() not in message.lower()
    assert len(message.removeprefix(item.path).split()) >= 2, message


def check_sentence(message: str) -> None:
    assert "\n" not in message
    assert "  " not in message
    assert message == message.strip()
    assert message[-1] not in ".;:,!", message
    assert not re.search(r"[a-z)]\. [A-Z]", message), message
    # Without the folders of call sites, which are the program's.
    assert len(re.sub(r"(?<= at )/\S*/", "", message)) < 400, message


def check_names(item: Diagnostic) -> None:
    """Messages contain neither Python representations nor numbers that have names."""
    message = item.message
    assert not re.search(r"<[\w.]+|\bNone\b|\bTrue\b|\bFalse\b|object at", message), message
    hexadecimal = {int(digits, 16) for digits in re.findall(r"\b0x([0-9A-F]+)\b", message)}
    assert not hexadecimal & set(map(int, dml.DML_FEATURE_LEVEL)), "feature levels have names"
    field = re.search(r"(\w+)$", item.path)
    kinds = FIELDS.get(field[1], ()) if field else ()
    number = re.match(r"\S+ (?:is|must be a [A-Z_]+, not) (-?\d+)\b", message)
    if kinds and number:
        assert all(int(number[1]) not in set(map(int, kind)) for kind in kinds), message
        assert any(kind.__name__ in message for kind in kinds) or "data type" in message
