"""A program to capture, and its capture."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from sharing import built_once, shared_folder

import directml_py as dml
from directml_py.session import Session

FLOAT32 = dml.DML_TENSOR_DATA_TYPE_FLOAT32


def tensor(sizes, strides=None, **choices):
    return dml.tensor_desc(FLOAT32, sizes, strides, **choices)


def record_program(device=None):
    """Compute a + b twice, the second time over padded rows; returns the results."""
    session = Session(device)
    plain, padded = tensor([1, 1, 2, 3]), tensor([1, 1, 2, 3], [8, 8, 4, 1])
    add = dml.DML_ELEMENT_WISE_ADD_OPERATOR_DESC
    first, second = session.compile(add(plain, plain, plain)), session.compile(add(plain, plain, padded))
    first.SetName("sum")
    a = session.upload(np.arange(6, dtype=np.float32))
    b = session.upload(np.full(6, 10, np.float32))
    middle, rows = session.buffer(24), session.buffer(28)
    for buffer, name in ((a, "a"), (b, "b"), (middle, "middle"), (rows, "rows")):
        buffer.SetName(name)
    session.initialize(first)
    session.initialize(second)
    session.commands.BeginEvent(1, "forward")
    session.dispatch(first, [a, b], [middle])
    session.barrier(middle)
    session.dispatch(second, [middle, b], [rows])
    session.commands.EndEvent()
    session.execute()
    return session.read(rows, np.float32)


def record_two_weights(folder):
    """A GEMM that is initialized twice, with weights of 1 and of 2, and then runs with either on a unit matrix."""
    with dml.capture(folder):
        session = Session()
        plain = tensor([1, 1, 2, 2])
        owned = tensor([1, 1, 2, 2], flags=dml.DML_TENSOR_FLAG_OWNED_BY_DML)
        desc = dml.DML_GEMM_OPERATOR_DESC(ATensor=plain, BTensor=owned, OutputTensor=plain, Alpha=1.0)
        op = session.compile(desc)
        unit = session.upload(np.eye(2, dtype=np.float32))
        weights = [session.upload(np.full((2, 2), value, np.float32)) for value in (1, 2)]
        persistent = [session.initialize(op, [unit, one, None]) for one in weights]
        outputs = [session.buffer(16) for _ in weights]
        for kept, output in zip(persistent, outputs):
            session.dispatch(op, [unit, None, None], [output], kept)
        session.execute()
        assert [session.read(one, np.float32).tolist() for one in outputs] == [[1] * 4, [2] * 4]


def make(folder):
    with dml.capture(folder / "out"):
        record_program()


@pytest.fixture(scope="session")
def recorded(tmp_path_factory):
    """A read-only capture of ``record_program``."""
    return built_once(shared_folder(tmp_path_factory, "capturing") / "program", make) / "out"


@pytest.fixture
def copied(recorded, tmp_path):
    """A writable copy of ``recorded``."""
    return shutil.copytree(recorded, tmp_path / "copied")
