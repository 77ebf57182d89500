"""What front ends that run on arrays share: a runner, which goes through the object model if it is observed."""

from __future__ import annotations

import numpy as np
import pytest

import directml_py as dml
from directml_py import shortcuts
from directml_py.d3d12 import ID3D12Resource
from directml_py.graph import Graph
from directml_py.runner import Runner
from directml_py.runtime.observers import PROFILE_VARIABLE, Observer, watchers
from directml_py.session import RecordedRun, Session

FLOAT32, UINT32 = dml.DML_TENSOR_DATA_TYPE_FLOAT32, dml.DML_TENSOR_DATA_TYPE_UINT32
OWNED = dml.DML_TENSOR_FLAG_OWNED_BY_DML


class Created(Observer):
    def __init__(self):
        self.buffers = 0

    def created(self, item):
        self.buffers += isinstance(item, ID3D12Resource)


@pytest.fixture
def created():
    """Counts the buffers that are created meanwhile."""
    observer = Created()
    watchers.add(observer)
    yield observer
    watchers.remove(observer)


def doubling(flags=dml.DML_TENSOR_FLAG_NONE):
    graph = Graph()
    x, y = (
        graph.input_tensor(index, FLOAT32, (1, 3), flags=flag, name=name)
        for index, (name, flag) in enumerate({"x": dml.DML_TENSOR_FLAG_NONE, "y": flags}.items())
    )
    graph.outputs = {"sum": graph.add(x, y)}
    return graph.compile()


def test_a_graph_is_bound_once(created):
    compiled = doubling()
    ones = np.ones((1, 3), np.float32)
    assert compiled.run({"x": ones, "y": ones})["sum"].tolist() == [[2, 2, 2]]
    assert created.buffers
    created.buffers = 0
    assert compiled.run({"x": 3 * ones, "y": 2 * ones})["sum"].tolist() == [[5, 5, 5]]
    assert not created.buffers


@pytest.mark.parametrize("is_seen", [False, True])
def test_owned_inputs_may_change(request, is_seen):
    """An operator is initialized only once, but nothing of its contents is kept for the next run."""
    if is_seen:
        request.getfixturevalue("created")
    compiled = doubling(OWNED)
    x = np.ones((1, 3), np.float32)
    for value in (2, 5):
        weights = np.full((1, 3), value, np.float32)
        assert compiled.run([x, weights])[0].tolist() == [[value + 1] * 3]
        weights += 1
        assert compiled.run([x, weights])[0].tolist() == [[value + 2] * 3]


def test_results_of_a_graph_are_the_callers(created):
    compiled = doubling()
    ones = np.ones((1, 3), np.float32)
    watchers.remove(created)
    first, second = (compiled.run([value * ones, ones])[0] for value in (1, 2))
    watchers.add(created)
    assert (first.tolist(), second.tolist()) == ([[2, 2, 2]], [[3, 3, 3]])


@pytest.mark.parametrize(("profile", "runs"), [("kind", 0), ("undefined-memory", 1), ("demanding", 1)])
def test_profiles_see_what_evaluate_does(monkeypatch, profile, runs):
    recorded = []
    run = RecordedRun.run
    monkeypatch.setattr(
        RecordedRun, "run", lambda self, arrays: [recorded.append(self), *run(self, arrays)][1:]
    )
    monkeypatch.setenv(PROFILE_VARIABLE, profile)
    x = dml.tensor_desc(FLOAT32, [1, 3])
    (found,) = dml.evaluate(
        dml.DML_ELEMENT_WISE_ADD_OPERATOR_DESC(x, x, x), [np.ones((1, 3), np.float32)] * 2
    )
    assert found.tolist() == [[2, 2, 2]]
    assert len(recorded) == runs


SIZES = [5, 1, 1]


def nonzero_coordinates():
    tensors = (
        dml.tensor_desc(kind, sizes) for kind, sizes in ((FLOAT32, SIZES), (UINT32, [1]), (UINT32, [5, 3]))
    )
    return dml.DML_NONZERO_COORDINATES_OPERATOR_DESC(*tensors)


def by_a_graph(array):
    graph = Graph()
    graph.outputs = list(graph.nonzero_coordinates(graph.input_tensor("x", FLOAT32, SIZES)))
    return graph.compile().run([array])


FRONT_ENDS = {
    "evaluate": lambda array: dml.evaluate(nonzero_coordinates(), [array]),
    "graph": by_a_graph,
    "runner": lambda array: Runner(Session().compile(nonzero_coordinates())).run([array]),
}


@pytest.mark.parametrize("front_end", FRONT_ENDS)
@pytest.mark.parametrize(("profile", "undefined"), [("kind", 0), ("undefined-memory", 0xCDCDCDCD)])
def test_what_is_undefined_is_poisoned(monkeypatch, front_end, profile, undefined):
    """By a kernel that writes what the page defines, one row of coordinates, and nothing behind it."""

    def one_row(x, coordinates):
        def search():
            coordinates[:1] = [[3, 0, 0]]
            return 1

        return search

    monkeypatch.setattr("directml_py.operators.indexing.nonzero.nonzero", one_row)
    monkeypatch.setenv(PROFILE_VARIABLE, profile)
    shortcuts._kept_runner.cache_clear()
    for _ in range(2):
        count, coordinates = FRONT_ENDS[front_end](np.ones(SIZES, np.float32))
        assert count.tolist() == [1]
        assert coordinates.tolist() == [[3, 0, 0], *[[undefined] * 3] * 4]
    shortcuts._kept_runner.cache_clear()
