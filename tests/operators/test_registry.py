"""Operators by name: each is loaded from the module in the catalog, in any order."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from sweeps import swept

import directml_py
from directml_py.operators import SCHEMAS, operator_of
from directml_py.operators.operator import OPERATORS

PACKAGE = Path(directml_py.__file__).parent
MODULES = sorted((PACKAGE / "operators").rglob("*.py"))

# A process forks once per operator, so that none finds modules loaded for another.
ASK_FOR_EACH_ALONE = """
import os
from directml_py.operators import SCHEMAS, operator_of
from directml_py.operators.operator import OPERATORS
assert not OPERATORS, "operators are loaded with the registry"
for name in SCHEMAS:
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = int(operator_of(name) is not OPERATORS[name])
        finally:
            os._exit(status)
    if os.waitpid(child, 0)[1]:
        print(name)
"""


@pytest.mark.slow
def test_each_operator_can_be_asked_for_first_and_alone():
    run = subprocess.run(
        [sys.executable, "-c", ASK_FOR_EACH_ALONE], capture_output=True, text=True, cwd=PACKAGE.parent
    )
    assert (run.returncode, run.stdout.split()) == (0, []), run.stderr


@swept("operator", sorted(SCHEMAS))
def test_the_catalog_names_the_module_of_the_class(operator):
    expected = f"directml_py.operators.{SCHEMAS[operator].module}"
    assert type(operator_of(operator)).__module__ == expected


def test_what_is_registered_is_in_the_catalog():
    for name in SCHEMAS:
        operator_of(name)
    assert OPERATORS.keys() == SCHEMAS.keys()


def unused_imports(source):
    """The names that a module imports and neither reads, also in a quoted type, nor lists in ``__all__``."""
    tree = ast.parse(source)
    imported, read = set(), {"annotations"}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            imported |= {(alias.asname or alias.name).split(".")[0] for alias in node.names}
        elif isinstance(node, ast.Name):
            read.add(node.id)
        elif isinstance(node, ast.Subscript) or (
            isinstance(node, ast.AnnAssign) and ast.unparse(node.annotation) == "TypeAlias"
        ):
            texts = (one.value for one in ast.walk(node) if isinstance(one, ast.Constant))
            read |= {word for text in texts if isinstance(text, str) for word in re.findall(r"\w+", text)}
        elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            read |= set(ast.literal_eval(node.value))
    return imported - read


@swept("path", MODULES)
def test_no_module_imports_another_for_its_side_effects(path):
    assert unused_imports(path.read_text(encoding="utf-8")) == set()


def test_packages_of_a_family_load_none_of_their_modules():
    """The registry loads only the module in the catalog; a list of all would load them needlessly."""
    for path in (PACKAGE / "operators").glob("*/__init__.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        assert not any(isinstance(node, (ast.Import, ast.ImportFrom)) for node in ast.walk(tree)), path


@pytest.mark.parametrize(
    ("source", "unused"),
    [
        ("from . import quantization as quantization", {"quantization"}),
        ("import numpy.typing\nnumpy.array", set()),
        ("import numpy.typing", {"numpy"}),
        ("from __future__ import annotations\nfrom .a import b\nx: b = 1", set()),
        ("from .a import b\nX = list['b | None']", set()),
        ("from .a import b\n__all__ = ['b']", set()),
    ],
)
def test_the_check_of_imports_itself(source, unused):
    assert unused_imports(source) == unused
