"""The overhead of a capture for the recorded program."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from functools import partial
from itertools import count
from pathlib import Path

import numpy as np

import directml_py as dml
from directml_py.session import Session

from .interleaved_timing import interleaved
from .runs import OURS, Row

DISPATCHES = 100
SIZES = [1, 1, 512, 512]
PEER = "without it"


def rows() -> Iterator[Row]:
    programs = {"that write the same": partial(program, 1), "each with another result": partial(program, 3)}
    for name, run in programs.items():
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "captures")
            numbers = (path / str(number) for number in count())
            calls = {OURS: partial(captured, run, numbers), PEER: run}
            times = interleaved(calls, after=partial(shutil.rmtree, path, ignore_errors=True))
        yield Row(f"capture {DISPATCHES} ADDs over 1 MiB {name}", times)


def program(used: int) -> None:
    """A complete program: devices, uploads, dispatches with a barrier after each, readback. Dispatches rotate through
    the first ``used`` buffers: with 1 all are identical, with 3 each reads what others wrote."""
    session = Session()
    desc = dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, SIZES)
    add = session.compile(dml.DML_ELEMENT_WISE_ADD_OPERATOR_DESC(desc, desc, desc))
    buffers = [session.upload(np.full(SIZES, value, np.float32)) for value in (1, 2, 3)]
    session.initialize(add)
    for number in range(DISPATCHES):
        one, other, result = (buffers[(number % used + index) % 3] for index in range(3))
        session.dispatch(add, [one, other], [result])
        session.barrier(result)
    session.execute()
    session.read(result)


def captured(run: partial[None], folders: Iterator[Path]) -> None:
    """Capture the program into the next folder; deleting captures is not timed."""
    with dml.capture(next(folders)):
        run()
