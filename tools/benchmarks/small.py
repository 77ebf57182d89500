"""Overheads with tiny tensors: importing, validating, compiling, recording, executing."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator

import numpy as np

import directml_py as dml

from .cpp_comparison import python_round
from .interleaved_timing import interleaved
from .peers import onnx_call, torch, torch_call
from .replay_cost import recorded
from .runs import OURS, Row
from .timing_samples import convolution_desc, device, join_desc

IMPORT_RUNS = 15
# More than any cache holds.
DIFFERENT = 2000


def rows() -> Iterator[Row]:
    yield importing("import directml_py beyond NumPy", "import directml_py")
    yield importing("every name of directml_py beyond NumPy", "from directml_py import *")
    dml_device, three = device(), join_desc(3, 4, 2)
    descs = itertools.cycle([join_desc(width, width + 1, width + 2) for width in range(1, DIFFERENT)])
    convolutions = itertools.cycle([convolution_desc(height) for height in range(1, DIFFERENT)])
    parts = [np.ones((1, 1, 2, width), np.float32) for width in (3, 4, 2)]
    whole = np.empty((1, 1, 2, 9), np.float32)
    run = onnx_call("Concat", parts, [whole], 1, {"axis": 3})
    cat = torch_call(lambda *t: torch.cat(t[:-1], 3, out=t[-1]), parts, [whole])
    ours = recorded(three, parts)

    def compiled(desc: object) -> object:
        return dml_device.CompileOperator(dml_device.CreateOperator(desc))

    calls = {
        "execute a recorded JOIN of three and signal": ours.execute,
        "NumPy": lambda: np.concatenate(parts, 3, out=whole),
        "PyTorch": cat,
        "ONNX Runtime": run,
        "record, execute, wait and reset a JOIN": python_round(),
        "CreateOperator + CompileOperator, JOIN of three": lambda: compiled(three),
        "CreateOperator + CompileOperator, JOINs, no two of one size": lambda: compiled(next(descs)),
        "CreateOperator + CompileOperator, CONVOLUTION, no two of one size": lambda: compiled(
            next(convolutions)
        ),
        "validate a JOIN of three": lambda: dml.validate(three),
        "validate JOINs, no two of one size": lambda: dml.validate(next(descs)),
        "evaluate a JOIN of three": lambda: dml.evaluate(three, parts),
    }
    times = interleaved({name: call for name, call in calls.items() if call is not None})
    names: tuple[str, ...] = ("NumPy", "PyTorch", "ONNX Runtime")
    peers = {name: times.pop(name) for name in names if name in times}
    for name, values in times.items():
        sides = {OURS: values}
        if name.startswith(("execute", "record", "evaluate")):
            sides |= peers
        yield Row(f"small {name}", sides)


def importing(name: str, statement: str) -> Row:
    """The import time in addition to NumPy's, which is the peer."""
    code = (
        "import time; start = time.perf_counter(); import numpy; middle = time.perf_counter(); "
        f"{statement}; print(time.perf_counter() - middle, middle - start)"
    )
    command = [sys.executable, "-c", code]
    with tempfile.TemporaryDirectory() as folder:
        # The first run writes bytecode and the others read it, whatever the environment's settings.
        environment = {**os.environ, "PYTHONDONTWRITEBYTECODE": "", "PYTHONPYCACHEPREFIX": folder}
        runs = [
            subprocess.run(command, capture_output=True, text=True, check=True, env=environment).stdout
            for _ in range(IMPORT_RUNS + 1)
        ]
    ours, numpy = zip(*(map(float, run.split()) for run in runs[1:]))
    return Row(f"small {name}", {OURS: ours, "import numpy": numpy})
