"""The README tells the truth, and CONTRIBUTING too."""

from __future__ import annotations

import ast
import re
import sys
from pathlib import Path

from generators.catalog import SCALARS, Catalog
from generators.operator_entries import Entry, check

from directml_py.api.enums import DML_FEATURE_LEVEL

from ..fidelity.recorded import SOFTWARE_DEVICE, cases

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
CONTRIBUTING = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def test_two_commands() -> None:
    commands = [line for block in blocks("sh") for line in block.splitlines()]
    assert len(commands) == 2
    assert commands[0].endswith("-m directml_py.samples.hello_directml")
    assert re.search(r"-m pytest\b", commands[1])


def test_nox_runs_the_second_command() -> None:
    tree = ast.parse((ROOT / "noxfile.py").read_text(encoding="utf-8"))
    (arguments,) = (
        ast.literal_eval(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "PYTEST"
    )
    assert blocks("sh")[1].split()[1:] == list(arguments)


def test_files_that_the_readme_names_exist() -> None:
    for path in re.findall(r"`((?:include|tools|tests|directml_py|\.ci)/[\w./]+)`", README + CONTRIBUTING):
        assert (ROOT / path).exists(), path


def test_links_lead_somewhere() -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", README)
    assert len(links) > 10
    for link in links:
        assert (ROOT / link).is_file(), link


def test_the_readme_is_short() -> None:
    """Without the table of the benchmark, which grows by a row for each kind of program."""
    written = re.sub(r"<!-- Written by .*?<!-- The end .*? -->", "", README, flags=re.DOTALL)
    assert len(written.splitlines()) <= 130


def test_the_readme_answers_in_order() -> None:
    """What a DirectML programmer asks, before everything else."""
    headings = re.findall(r"^## (.+)$", README, re.MULTILINE)
    order = ["What runs", "Fidelity", "Two commands", "A first program", "A test", "Status"]
    assert headings[: len(order)] == order


def test_figures_are_those_of_the_page_on_fidelity() -> None:
    page = (ROOT / "docs/inside/fidelity.md").read_text(encoding="utf-8")
    runs = re.findall(r"^\| (?:valid|mutations|graphs|tables) \|(.*)\|$", page, re.MULTILINE)
    judged, same, stricter, crashed, unlisted = (
        sum(map(int, column)) for column in zip(*(row.split("|") for row in runs))
    )
    assert unlisted == 0
    stated = f"| {judged:,} | {same:,} | stricter here, as listed: {stricter:,}; crashed there: {crashed:,} |"
    assert stated in README
    recorded, exceptions = len(cases()), len(SOFTWARE_DEVICE)
    stated = f"| {recorded:,} | {recorded - exceptions:,} | what only a software device does: {exceptions} |"
    assert stated in README
    (webnn,) = re.findall(r"^\| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", page, re.MULTILINE)
    total, agree, differ, *rest = map(int, webnn)
    assert f"| {total:,} | {agree:,} | differ: {differ}; wrong or not lowered: {sum(rest)} |" in README


def test_the_operator_that_the_page_on_adding_one_shows_is_the_catalogs() -> None:
    page = (ROOT / "docs/inside/operators.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"^```toml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    ((name, entry),) = tomllib.loads(shown).items()
    operator = next(one for one in Catalog().operators if one.name == name)
    check([Entry(name, operator.family, entry)], SCALARS, [level.name for level in DML_FEATURE_LEVEL])
    assert (entry["about"], entry["value"], entry["module"]) == (
        operator.about,
        operator.value,
        operator.module,
    )
