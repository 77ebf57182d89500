"""Helpers to build models as Python values and to run them."""

from __future__ import annotations

import json

import numpy as np
import pytest

from directml_py import dxdispatch


class Lines:
    """A log that remembers."""

    def __init__(self):
        self.out, self.errors = [], []

    def info(self, line):
        self.out.append(line)

    def error(self, line):
        self.errors.append(line)


def resource(values, data_type="FLOAT32", **others):
    return {"initialValuesDataType": data_type, "initialValues": values, **others}


def zeros(count, data_type="FLOAT32"):
    return resource({"valueCount": count, "value": 0}, data_type)


def tensor(*sizes, data_type="FLOAT32", **others):
    return {"DataType": data_type, "Sizes": list(sizes), **others}


def dispatch(dispatchable, **bindings):
    return {"type": "dispatch", "dispatchable": dispatchable, "bindings": bindings}


def model(resources, dispatchables, *commands):
    return {"resources": resources, "dispatchables": dispatchables, "commands": list(commands)}


def add_model(*commands, **changes):
    """1, 2, 3 and 5, 8, -5 added, then printed."""
    desc = {name: tensor(3) for name in ("ATensor", "BTensor", "OutputTensor")}
    return {
        **model(
            {"A": resource([1, 2, 3]), "B": resource([5, 8, -5]), "Out": zeros(3)},
            {"add": {"type": "DML_OPERATOR_ELEMENT_WISE_ADD", "desc": desc}},
            dispatch("add", ATensor="A", BTensor="B", OutputTensor="Out"),
            *(commands or ({"type": "print", "resource": "Out"},)),
        ),
        **changes,
    }


@pytest.fixture
def write(tmp_path):
    """``write(model)``: a model, or its text, in a file."""

    def to_file(content):
        path = tmp_path / "model.json"
        text = content if isinstance(content, (str, bytes)) else json.dumps(content)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return path

    return to_file


@pytest.fixture
def printed(write, tmp_path):
    """``printed(model)``: its output without timings."""

    def run(content, **options):
        log = Lines()
        model = dxdispatch.load(write(content), output_path=tmp_path)
        model.run(options=dxdispatch.RunOptions(**options), log=log)
        assert log.errors == []
        return [line for line in log.out if not line.startswith(("Dispatch", "Compile Op"))]

    return run


@pytest.fixture
def failure(write):
    """``failure(model)``: the error's text, the error lines, and the other lines."""

    def run(content):
        log = Lines()
        with pytest.raises(dxdispatch.ModelError) as caught:
            dxdispatch.load(write(content)).run(log=log)
        return str(caught.value), log.errors, log.out

    return run


def npy(path, array):
    np.save(path, array)
    return path.name
