"""Invalid JSON, with RapidJSON's error texts and the position."""

from __future__ import annotations

import pytest


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("", "char offset:0, line:1, column:1, error:1 The document is empty."),
        ("// nothing", "char offset:10, line:1, column:11, error:1 The document is empty."),
        ("{\n  'a': 1}", "char offset:4, line:2, column:3, error:4 Missing a name for object member."),
        (
            '{"ü" 1}',
            "char offset:6, line:1, column:6, error:5 Missing a colon after a name of object member.",
        ),
        (
            '{"a": 1 "b": 2}',
            "char offset:8, line:1, column:9, error:6 Missing a comma or } after an object member.",
        ),
        (
            '{"a": [1 2]}',
            "char offset:9, line:1, column:10, error:7 Missing a comma or ] after an array element.",
        ),
        ('{"a": [,]}', "char offset:7, line:1, column:8, error:3 Invalid value."),
        ('{"a": [1,,]}', "char offset:9, line:1, column:10, error:3 Invalid value."),
        ('{"a": NaN}', "char offset:6, line:1, column:7, error:3 Invalid value."),
        ('{"NaN": 1, /* NaN */ "a": NaN}', "char offset:26, line:1, column:27, error:3 Invalid value."),
        (
            '{"1e999": 1e999}',
            "char offset:10, line:1, column:11, error:13 Number too big to be stored in double.",
        ),
        ('{"a": 1e999}', "char offset:6, line:1, column:7, error:13 Number too big to be stored in double."),
        (
            '{"a": "x}',
            "char offset:6, line:1, column:7, error:11 Missing a closing quotation mark in string.",
        ),
        ('{"a": "\\q"}', "char offset:7, line:1, column:8, error:10 Invalid escape character in string."),
        (
            '{"a": "\\u12G4"}',
            "char offset:8, line:1, column:9, error:8 Incorrect hex digit after \\u escape in string.",
        ),
        ('{"a": "b\nc"}', "char offset:8, line:1, column:9, error:12 Invalid encoding in string."),
        # Blanks for a comment leave all else where it was.
        (' /* */{"a": nul}', "char offset:12, line:1, column:13, error:3 Invalid value."),
    ],
)
def test_json_errors(text, start, failure):
    found, _, _ = failure(text)
    assert found.splitlines()[0] == f"JSON parse error at {start}"
    assert found.splitlines()[1].startswith("Snippet: >>>")
