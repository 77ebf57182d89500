"""A C++ client that dispatches one operator at a time."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from .cpp_comparison import built
from .runs import OURS, Row

PROGRAM = Path(__file__).with_name("eager_client.cpp")
NAMES = {
    "operator": "C++: table, bindings, dispatch and barrier of an operator",
    "reset": "C++: with Reset of one table",
    "moving": "C++: with other memory each time",
    "create": "C++: CreateOperator and CompileOperator",
}


def rows() -> Iterator[Row]:
    """The costs of an operator, and those of the calls that they consist of."""
    with tempfile.TemporaryDirectory() as folder:
        program = built(PROGRAM, folder)
        if program is None:
            return
        found = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    for line in found.splitlines():
        name, _, time = line.rpartition(" ")
        yield Row(f"eager {NAMES.get(name, name)}", {OURS: [float(time) / 1e6]})
