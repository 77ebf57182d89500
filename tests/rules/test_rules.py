"""Every rule is broken in isolation: exactly that rule is reported, at the expected path.

Rules are broken by cases of this folder, or by descs derived from the catalog, in ``tests/operators``.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from pathlib import Path

import pytest

import directml_py as dml
from directml_py.abi.rules import LIBRARY
from directml_py.cli import show_command as listed
from directml_py.operators import every_rule
from directml_py.validation import RULES, Severity

from ..operators.test_every_operator import RULES as OF_OPERATORS
from ..operators.test_every_operator import test_a_broken_desc_is_refused_by_its_rule as derived_test
from .layer import layer_bench, messages
from .message_check import check_message
from .registry import CASES, DESCS

TESTS = Path(__file__).resolve().parents[1]

# Test folders register their cases in modules of these names.
for _path in sorted(TESTS.glob("*/*_cases.py")):
    importlib.import_module(f"tests.{_path.parent.name}.{_path.stem}")


DERIVED = {parameter.id for parameter in OF_OPERATORS}


@pytest.mark.parametrize("identifier", sorted(CASES))
def test_rule(identifier):
    for case in CASES[identifier]:
        right = case.run(False)
        assert right.diagnostics == [], f"{case.name} breaks rules where it should not"
        assert right.hresult is None
        found = case.run(True)
        # One field may break the rule in two ways: the end of a range lies beyond both heaps, say.
        places = list(dict.fromkeys((item.rule, item.path) for item in found.diagnostics))
        assert places == [(identifier, path) for path in case.paths], case.name
        assert found.hresult == case.hresult, case.name
        # What the debug layers alone check, and what only a page forbids, is said, and raises nothing.
        broken = RULES[identifier]
        assert (broken.debug or broken.page_only) is (case.hresult is None), case.name
        for item in found.diagnostics:
            check_message(item)
            assert item.severity is (Severity.ERROR if broken.page_only else broken.severity)


def test_every_rule_is_broken():
    assert set(CASES) | DERIVED == {rule.id for rule in every_rule()}


def test_the_list_names_the_test_that_breaks_a_rule():
    for rule in every_rule():
        file, _, test = listed.test_of(rule).partition("::")
        names = {
            "tests/rules/test_rules.py": {f"{test_rule.__name__}[{identifier}]" for identifier in CASES},
            "tests/operators/test_every_operator.py": {
                f"{derived_test.__name__}[{identifier}]" for identifier in DERIVED
            },
        }
        assert test in names[file]


def test_the_list_is_complete():
    """The command line lists, without any test imported, the rules that all modules declare."""
    import directml_py

    # Programs, and what runs in GDB's Python.
    others = ("directml_py.__main__", "directml_py.com.gdb_printers", "directml_py.samples.")
    for entry in pkgutil.walk_packages(directml_py.__path__, "directml_py."):
        if not entry.name.startswith(others):
            importlib.import_module(entry.name)
    known = {rule.id for rule in every_rule()}
    assert known == set(RULES)
    assert len(set(map(dml.message_id, known))) == len(known)


def test_rules_are_written_out():
    for identifier, known in RULES.items():
        assert known.id == identifier
        assert re.fullmatch(r"(DML|D3D12)-[A-Za-z0-9_]+-[a-z0-9-]+", identifier), identifier
        assert len(known.text) > 10
        # The names of all tensors that must agree may be many.
        assert len(known.text) < (300 if identifier in DERIVED else 160)
        assert known.text[-1] not in ".;,"
        assert "\n" not in known.text
        assert re.fullmatch(r"[a-z0-9_-]+|DirectML 1\.13", known.source), known.source
    # Microsoft's library says the same of several operators, whose pages would be several.
    texts = [(known.text, known.source, known.source == LIBRARY and known.id) for known in RULES.values()]
    assert len(set(texts)) == len(texts)


@pytest.mark.parametrize(("identifier", "wrong", "right"), DESCS, ids=[entry[0] for entry in DESCS])
def test_creating_the_operator(identifier, wrong, right):
    """CreateOperator finds what ``validate`` finds, raises it, and tells it to the info queue."""
    profile = "strict" if RULES[identifier].page_only else None
    bench = layer_bench(feature_level=wrong.level, profile=profile)
    with pytest.raises(dml.DMLError) as caught:
        bench.dml.CreateOperator(wrong.desc)
    found = dml.validate(wrong.desc, feature_level=wrong.level, strict=True)
    assert caught.value.hresult == dml.E_INVALIDARG
    assert caught.value.diagnostics == found == messages(bench)
    for item in found:
        assert item.severity is Severity.ERROR
        assert str(item) in str(caught.value)
    assert not bench.removed
    if profile:
        lenient = layer_bench(feature_level=wrong.level)
        assert isinstance(lenient.dml.CreateOperator(wrong.desc), dml.IDMLOperator)
        assert [item.severity for item in messages(lenient)] == [Severity.WARNING] * len(found)
    other = layer_bench(feature_level=right.level)
    assert isinstance(other.dml.CreateOperator(right.desc), dml.IDMLOperator)
    assert messages(other) == []
