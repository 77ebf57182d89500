"""Editors that ask Jedi: fields of descs, functions of graphs, and what they say of themselves."""

from __future__ import annotations

import pytest
from checkers.checking import ROOT, need

pytestmark = pytest.mark.slow

DESC = "import directml_py as dml\ndesc = dml.DML_REDUCE_OPERATOR_DESC()\n"
GRAPH = "from directml_py.graph import Graph\ngraph = Graph()\n"


@pytest.fixture(scope="module")
def script():
    """Makes a Jedi script of a text, and the position of its end."""
    need("jedi")
    import jedi

    project = jedi.Project(ROOT)

    def of(text):
        lines = text.splitlines()
        return jedi.Script(text, project=project), (len(lines), len(lines[-1]))

    return of


def completions(script, text):
    made, position = script(text)
    return [one.name for one in made.complete(*position)]


def test_fields_of_a_desc_come_first(script):
    names = completions(script, DESC + "desc.")
    public = [name for name in names if not name.startswith("_")]
    assert public == ["Axes", "AxisCount", "Function", "InputTensor", "OutputTensor", "replace"]


def test_functions_of_a_graph(script):
    assert {"reduce", "join", "split", "sqrt", "element_wise_sqrt"} <= set(
        completions(script, GRAPH + "graph.")
    )
    assert {"desc", "name"} <= set(completions(script, GRAPH + "joined = graph.join([])\njoined."))


def test_names_of_the_package(script):
    assert completions(script, "import directml_py as dml\ndml.DML_JOIN_") == ["DML_JOIN_OPERATOR_DESC"]


def test_signatures_and_docstrings(script):
    made, position = script(DESC + "dml.DML_REDUCE_OPERATOR_DESC(")
    (signature,) = made.get_signatures(*position)
    assert [one.name for one in signature.params] == [
        *("Function", "InputTensor", "OutputTensor", "AxisCount", "Axes"),
    ]
    assert "A reduction along Axes by Function" in signature.docstring()
    made, position = script(GRAPH + "graph.reduce(")
    (signature,) = made.get_signatures(*position)
    assert [one.name for one in signature.params][:3] == ["input", "function", "axes"]
    assert "A reduction along Axes by Function" in signature.docstring()
