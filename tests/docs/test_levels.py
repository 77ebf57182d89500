"""The page of feature levels says what each level brought."""

from __future__ import annotations

from documentation.levels_page import every_news, news
from documentation.support_table import types_text

from directml_py.operators import SCHEMAS
from directml_py.validation.support_tables import support_of


def rows(operator):
    return [(one.level, one.what) for one in sorted(news(SCHEMAS[operator]))]


def test_join():
    """By hand, from the operator's page."""
    assert rows("JOIN") == [
        (0x1000, "new: FLOAT16, FLOAT32, INT16, INT32, UINT16, UINT32, 4 dimensions"),
        (0x2100, "INT8, UINT8"),
        (0x3000, "4 to 5 dimensions"),
        (0x4100, "FLOAT64, INT64, UINT64, 1 to 8 dimensions"),
    ]


def test_tensors_that_differ_are_named():
    (first, *_) = rows("GATHER")
    assert first == (
        0x1000,
        "new: InputTensor, OutputTensor: FLOAT16, FLOAT32, 4 dimensions; IndicesTensor: UINT32, 4 dimensions",
    )


def test_conditions_are_said():
    assert any(", where Function is " in what for _, what in rows("REDUCE"))


def test_every_operator_is_new_once_or_by_condition():
    new = {one.operator for one in every_news() if one.what.startswith("new")}
    assert new == set(SCHEMAS)


def test_a_table_that_repeats_the_one_before_is_no_news():
    """The page has two tables of ACTIVATION_RELU_GRAD for floats alone."""
    assert rows("ACTIVATION_RELU_GRAD") == [
        (0x3000, "new: FLOAT16, FLOAT32, 1 to 8 dimensions"),
        (0x5100, "INT8 to 32"),
    ]


def test_no_level_takes_anything_away():
    """Otherwise the rows, which list additions, would hide it."""
    for schema in SCHEMAS.values():
        for entry in support_of(schema):
            for before in support_of(schema):
                if before.level < entry.level and before.when == entry.when:
                    for name, tensor in before.tensors.items():
                        assert set(tensor.types) <= set(entry.tensors[name].types), schema.name
                        assert set(tensor.dimensions) <= set(entry.tensors[name].dimensions), schema.name


def test_types():
    assert types_text(("FLOAT32", "FLOAT16")) == "FLOAT16, FLOAT32"
    assert types_text(("INT64", "INT32", "INT16", "INT8", "UINT4", "UINT16")) == "INT8 to 64, UINT4, UINT16"
