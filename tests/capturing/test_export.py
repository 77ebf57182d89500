"""Export of dispatches as DxDispatch models, which reproduce the recorded results."""

from __future__ import annotations

import numpy as np
import pytest

import directml_py as dml
from directml_py import dxdispatch
from directml_py.capturing.dispatch_export import export
from directml_py.capturing.parser import CaptureError, read_capture
from directml_py.cli import main
from directml_py.graph import Graph
from directml_py.session import Session

from .conftest import FLOAT32, record_two_weights, tensor


def output(path):
    """The final contents of a model's last resource."""
    *_, last = dxdispatch.load(path).run().values()
    return last.tolist()


def test_a_dispatch_runs_to_what_was_recorded(recorded, tmp_path, capsys):
    """The second addition reads what the first wrote, and writes padded rows."""
    target = tmp_path / "model.json"
    assert main(["capture", "export", str(recorded), "3", "--json", str(target)]) == 0
    files = capsys.readouterr().out.split()
    assert files[-1] == str(target)
    assert len(files) == 3
    assert output(target) == [20, 21, 22, 0, 23, 24, 25]


def test_owned_inputs_are_those_of_initialization(tmp_path):
    with dml.capture(tmp_path / "out"):
        session = Session()
        plain = tensor([1, 1, 1, 3])
        owned = tensor([1, 1, 1, 3], flags=dml.DML_TENSOR_FLAG_OWNED_BY_DML)
        op = session.compile(dml.DML_ELEMENT_WISE_ADD_OPERATOR_DESC(plain, owned, plain))
        a, b = (session.upload(np.array(values, np.float32)) for values in ([1, 2, 3], [10, 20, 30]))
        persistent = session.initialize(op, [a, b])
        session.run(lambda commands: commands.CopyResource(b, a))
        target = session.buffer(12)
        session.dispatch(op, [a, b], [target], persistent)
        session.execute()
    export(read_capture(tmp_path / "out"), 1, tmp_path / "model.json")
    assert output(tmp_path / "model.json") == [11, 22, 33]


def test_owned_inputs_are_those_of_the_persistent_resource(tmp_path):
    record_two_weights(tmp_path / "out")
    logs = read_capture(tmp_path / "out")
    for number, weight in ((2, 1), (3, 2)):
        export(logs, number, tmp_path / "model.json")
        assert output(tmp_path / "model.json") == [weight] * 4


def test_a_graph(tmp_path):
    with dml.capture(tmp_path / "out"):
        graph = Graph()
        x = graph.input_tensor("x", FLOAT32, [1, 1, 1, 3])
        compiled = graph.compile({"y": x * graph.constant(np.full((1, 1, 1, 3), 3, np.float32)) + 1})
        compiled.run({"x": np.array([[[[1, 2, 3]]]], np.float32)})
    export(read_capture(tmp_path / "out"), 1, tmp_path / "model.json")
    assert output(tmp_path / "model.json") == [4, 7, 10]


def test_what_cannot_be_exported(recorded, tmp_path):
    logs = read_capture(recorded)
    with pytest.raises(CaptureError, match="there is no dispatch 4; the capture has 4, numbered from 0"):
        export(logs, 4, tmp_path / "model.json")
    with pytest.raises(CaptureError, match="dispatch 0 is an operator initializer, which is not an operator"):
        export(logs, 0, tmp_path / "model.json")
    assert list(tmp_path.iterdir()) == []
