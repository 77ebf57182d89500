"""Invalid JSON, with the line and column, and the liberties that models may take."""

from __future__ import annotations

import pytest

from directml_py.dxdispatch.json_values import parse_json


@pytest.mark.parametrize(
    ("text", "position"),
    [
        ("", (1, 1)),
        ("// nothing", (1, 11)),
        ("{\n  'a': 1}", (2, 3)),
        ('{"ü" 1}', (1, 6)),
        ('{"a": 1 "b": 2}', (1, 9)),
        ('{"a": [1 2]}', (1, 10)),
        ('{"a": [,]}', (1, 8)),
        ('{"a": [ ,]}', (1, 9)),
        ('{"a": [1,,]}', (1, 10)),
        ('{"a": NaN}', (1, 7)),
        ('{"NaN": 1, /* NaN */ "a": NaN}', (1, 27)),
        ('{"1e999": 1e999}', (1, 11)),
        ('{"a": 1e999}', (1, 7)),
        ('{"a":\n 0.1e309, "b": -1e309}', (2, 16)),
        ('{"a": ' + "9" * 401 + "}", (1, 7)),
        ('{"a": "x}', (1, 7)),
        ('{"a": "\\q"}', (1, 8)),
        ('{"a": "b\nc"}', (1, 9)),
        # Blanks for a comment leave all else where it was.
        (' /* \n */ {"a": nul}', (2, 11)),
    ],
)
def test_json_errors(text, position, failure):
    found, _, _ = failure(text)
    assert found.startswith("JSON parse error: line {} column {}: ".format(*position))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b'/* a */ {"a": [1, 2 , ], // b\n "b": {"c": "x",},} trailing', {"a": [1, 2], "b": {"c": "x"}}),
        (b'{"a": 1, "b": 2, "a": 3}', {"a": 1, "b": 2}),
        (b'["// no comment", "/*", ",]", "\\"/*,]", 1]', ["// no comment", "/*", ",]", '"/*,]', 1]),
        (b'["\xff"]', ["\udcff"]),
    ],
)
def test_liberties(text, value):
    found = parse_json(text)
    assert found == value
    assert list(found) == list(value)
