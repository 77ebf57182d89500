"""Memory does not grow while an operator is dispatched again and again."""

from __future__ import annotations

import subprocess
import sys

import pytest

DISPATCHES = 20_000
# What allocators keep for themselves stays far below this.
GROWTH = 4 << 20
SOAK = """
import gc, os, sys
import numpy as np
import directml_py as dml
from directml_py.session import Session

def resident():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE")

count = int(sys.argv[1])
session = Session()
x = dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, [1, 1, 1, 4])
compiled = session.compile(dml.DML_ELEMENT_WISE_ABS_OPERATOR_DESC(InputTensor=x, OutputTensor=x))
source, target = session.upload(np.array([1, -2, 3, -4], np.float32)), session.buffer(16)
for index in range(count):
    session.dispatch(compiled, [source], [target])
    session.execute()
    if index == count // 10:
        print(resident())
print(resident())
assert session.read(target, np.float32).tolist() == [1, 2, 3, 4]
"""


@pytest.mark.slow
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc is Linux's")
def test_dispatches() -> None:
    command = [sys.executable, "-c", SOAK, str(DISPATCHES)]
    run = subprocess.run(command, capture_output=True, text=True, timeout=3000)
    assert run.returncode == 0, run.stderr
    early, late = map(int, run.stdout.split())
    assert late - early < GROWTH, (early, late)
