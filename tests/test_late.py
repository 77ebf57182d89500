"""Imports that are made when they are first needed, in processes that fork meanwhile: no child hangs."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import directml_py

PACKAGE = Path(directml_py.__file__).parent
# Programs that fork have no business in these.
FRONT_ENDS = {"cli", "dxdispatch", "hardware", "pydirectml", "samples", "testing"}

# A thread loads everything that dispatches may need. Meanwhile the main thread forks; each child asks for the modules
# that any thread has begun to import, and uses operators.
FORKS = """
import faulthandler, importlib, os, signal, sys, threading
import numpy as np
import directml_py as dml
from directml_py.graph import Graph
from directml_py.operators import SCHEMAS, operator_of
from directml_py.kernels.backend import backend

SECONDS, most = 60, int(sys.argv[1])
graph, loaded = Graph(), threading.Event()
x = dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, [1, 1, 1, 4])

def evaluate():
    desc = dml.DML_ELEMENT_WISE_ABS_OPERATOR_DESC(InputTensor=x, OutputTensor=x)
    return dml.evaluate(desc, [np.full((1, 1, 1, 4), -2, np.float32)])[0].tolist()

def load():
    for name in SCHEMAS:
        operator_of(name)
    dml.D3D12CreateDevice().SetName("a")
    evaluate()
    a = graph.input_tensor("a", dml.DML_TENSOR_DATA_TYPE_FLOAT32, [1, 1, 1, 4])
    graph.compile({"sum": a + a})
    loaded.set()

def child():
    signal.alarm(SECONDS)
    for name in list(sys.modules):
        if name.startswith("directml_py"):
            importlib.import_module(name)
    assert evaluate() == [[[[2, 2, 2, 2]]]]

thread = threading.Thread(target=load)
thread.start()
children = []
while thread.is_alive() and len(children) < most:
    pid = os.fork()
    if not pid:
        status = 1
        try:
            child()
            status = 0
        finally:
            os._exit(status)
    children.append(pid)
thread.join()
assert loaded.is_set()
print(" ".join(str(os.waitpid(pid, 0)[1]) for pid in children))
"""


def statuses(most):
    """How the children of one process ended."""
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", FORKS, str(most)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=600, cwd=PACKAGE.parent)
    assert run.returncode == 0, run.stderr
    return [int(status) for status in run.stdout.split()]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
@pytest.mark.parametrize("children", [20, pytest.param(1000, marks=pytest.mark.slow)])
def test_no_child_hangs_that_is_forked_while_a_thread_imports(children):
    ended = []
    while len(ended) < children:
        ended += statuses(min(40, children - len(ended)))
    assert set(ended) == {0}


def late_imports(path):
    """The imports of a module that are made within a function, by line; and whether each is within ``with loading``."""
    text = path.read_text(encoding="utf-8")
    # Parsing takes longest, and few modules import anything late.
    if not re.search(r"^ .*\bimport|import_module", text, re.MULTILINE):
        return
    tree = ast.parse(text)
    guarded = {
        id(inner)
        for node in ast.walk(tree)
        if isinstance(node, ast.With) and ast.unparse(node.items[0].context_expr) in ("loading", "_loading")
        for inner in ast.walk(node)
    }
    for function in ast.walk(tree):
        if not isinstance(function, ast.FunctionDef):
            continue
        for node in ast.walk(function):
            by_name = isinstance(node, ast.Call) and ast.unparse(node.func).endswith("import_module")
            if by_name or isinstance(node, (ast.Import, ast.ImportFrom)):
                yield f"{path.relative_to(PACKAGE)}:{node.lineno}", id(node) in guarded


def test_late_imports_are_made_under_the_lock():
    sources = [path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0] not in FRONT_ENDS]
    found = [each for path in sources for each in late_imports(path)]
    assert len(found) > 5
    assert [where for where, is_guarded in found if not is_guarded] == []
