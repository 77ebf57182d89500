"""A C++ client that dispatches one operator at a time."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from directml_py.cli.config_command import SYSTEM_HEADERS, Missing, cflags, libs

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
    compiler = shutil.which("c++")
    if compiler is None:
        print("eager: left out, there is no C++ compiler", file=sys.stderr)
        return
    try:
        options = [*cflags(SYSTEM_HEADERS), *libs()]
    except Missing as missing:
        print(f"eager: left out, {missing}", file=sys.stderr)
        return
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder) / "client"
        command = [compiler, "-O2", "-std=c++17", str(PROGRAM), "-o", str(program), *options]
        subprocess.run(command, check=True)
        found = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    for line in found.splitlines():
        name, _, time = line.rpartition(" ")
        yield Row(f"eager {NAMES.get(name, name)}", {OURS: [float(time) / 1e6]})
