"""The links to what a rule's source says."""

from __future__ import annotations

import re

from documentation.markdown import source_link

from directml_py.abi.rules import LIBRARY, THIS_PACKAGE
from directml_py.cli import main
from directml_py.cli.rule_reasons import learn
from directml_py.testing.known_rules import every_rule

ADDRESS = re.compile(r"https://learn\.microsoft\.com/windows/[\w./-]+")


def test_every_source_is_a_page_or_none():
    for rule in every_rule():
        address = learn(rule.source)
        assert ADDRESS.fullmatch(address) if rule.source not in (THIS_PACKAGE, LIBRARY) else address == "", (
            rule.source
        )


def test_what_only_the_library_says_is_on_the_page_about_it(capsys):
    """DML-BufferTensor-alignment is one that no page states."""
    assert source_link(LIBRARY) == "[DirectML 1.13](/inside/fidelity.md)"
    assert main(["show", "DML-BufferTensor-alignment"]) == 0
    assert "  source: DirectML 1.13\n" in capsys.readouterr().out
