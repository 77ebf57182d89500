"""``directml_py/cli/examples.json``: for rules that no desc derived from the catalog breaks, the example from the
tests.

The tests are the source: their ``play(…, wrong)`` is printed once for a wrong argument and once for the right one.
"""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import logging
import re
import subprocess
import sys
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

TARGET = "directml_py/cli/examples.json"
CONSTANTS = (bool, int, str, type(None))
CALL_SITE = re.compile(r" \((recorded|created|called|mapped) at [^)]*\)")
TARGETS = re.compile(r"(?m)(^ *|\bfor )\((\w+(?:, \w+)*)\)(?= = | in )")
OPEN = (ast.Name, ast.Call, ast.Attribute)


class Resolved(ast.NodeTransformer):
    """Partial evaluation of the function for a known argument ``wrong``, without the code that does not run."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return ast.Constant(self.value) if node.id == "wrong" else node

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        return self.known(self.generic_visit(node))

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        return self.known(self.generic_visit(node))

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        return self.known(self.generic_visit(node))

    def visit_IfExp(self, node: ast.IfExp) -> Any:
        test = self.visit(node.test)
        if isinstance(test, ast.Constant):
            return self.visit(node.body if test.value else node.orelse)
        return ast.IfExp(test, self.visit(node.body), self.visit(node.orelse))

    def visit_If(self, node: ast.If) -> Any:
        test = self.visit(node.test)
        if isinstance(test, ast.Constant):
            chosen = [self.visit(one) for one in (node.body if test.value else node.orelse)]
            return [line for one in chosen for line in (one if isinstance(one, list) else [one])]
        return self.generic_visit(node)

    @staticmethod
    def known(node: ast.AST) -> ast.AST:
        """The value of a constant expression, if all of ``node`` is known."""
        if any(isinstance(one, OPEN) for one in ast.walk(node)):
            return node
        expression = ast.fix_missing_locations(ast.Expression(node))  # type: ignore[arg-type]
        return ast.Constant(eval(compile(expression, "example", "eval")))


def resolved(play: Callable[..., Any], value: Any) -> str:
    """The source of ``play`` for one value of its argument ``wrong``, without decorators."""
    source = textwrap.dedent(inspect.getsource(play)).strip()
    if not source.startswith(("def ", "@")):
        # An anonymous function, in a table of functions.
        table = ast.parse("{" + source + "}")
        return ast.unparse(next(one for one in ast.walk(table) if isinstance(one, ast.Lambda)))
    (tree,) = ast.parse(source).body
    if isinstance(tree, ast.FunctionDef):
        if "``wrong``" in (ast.get_docstring(tree) or ""):
            # It refers to the known argument.
            del tree.body[0]
        tree.decorator_list = []
        if isinstance(value, CONSTANTS):
            tree.args.args = [one for one in tree.args.args if one.arg != "wrong"]
            tree = Resolved(value).visit(tree)
            tree.body = tree.body or [ast.Pass()]
    # Python 3.10 writes targets in parentheses, later ones without.
    return TARGETS.sub(r"\1\2", ast.unparse(ast.fix_missing_locations(tree)))


def generate(root: Path) -> dict[str, str]:
    """Uses the tests in ``root``, which is on the path."""
    for path in sorted((root / "tests").glob("*/*_cases.py")):
        importlib.import_module(f"tests.{path.parent.name}.{path.stem}")
    registry = importlib.import_module("tests.rules.registry")
    derived = importlib.import_module("tests.rules.derived").DERIVED
    found: dict[str, dict[str, str]] = {}
    for rule, cases in sorted(registry.CASES.items()):
        if rule in derived:
            continue
        case = cases[0]
        if case.play is not None:
            right = resolved(case.play, case.fine) if case.twin is None else resolved(case.twin, None)
            found[rule] = {"wrong": resolved(case.play, case.way), "right": right}
        else:
            wrong, valid = next((one, other) for name, one, other in registry.DESCS if name == rule)
            found[rule] = {"wrong": shown(wrong), "right": shown(valid)}
        found[rule]["message"] = message_of(case)
    return {TARGET: json.dumps(neat(found), indent=1, ensure_ascii=False) + "\n"}


def message_of(case: Any) -> str:
    """The message, without the test's line; of several messages, which may come in any order, the alphabetically
    first."""
    logger, handler = logging.getLogger("directml_py"), logging.NullHandler()
    logger.addHandler(handler)
    try:
        return min(CALL_SITE.sub("", found.message) for found in case.run(True).diagnostics)
    finally:
        logger.removeHandler(handler)


def shown(desc: Any) -> str:
    levels = importlib.import_module("directml_py").DML_FEATURE_LEVEL
    return f"{desc.desc!r}\nat {levels(desc.level).name}"


def neat(found: dict[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    """All functions as formatted by ``ruff``, in one call."""
    mark = "# next example"
    texts = [
        text if text.startswith(("def ", "lambda")) else "" for one in found.values() for text in one.values()
    ]
    command = [
        sys.executable,
        "-m",
        "ruff",
        "format",
        "--line-length",
        "88",
        "--stdin-filename",
        "examples.py",
        "-",
    ]
    done = subprocess.run(
        command, input=f"\n{mark}\n".join(texts), text=True, capture_output=True, check=True
    ).stdout
    formatted = iter(part.strip() for part in done.split(mark))
    return {
        rule: {kind: next(formatted) or text for kind, text in one.items()} for rule, one in found.items()
    }
