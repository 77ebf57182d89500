"""Recordings that do not end by themselves, and how the end of a program ends one."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import warnings
from pathlib import Path

import numpy as np
import pytest

import directml_py
import directml_py as dml
from directml_py.capturing.page import page
from directml_py.capturing.parser import read_capture
from directml_py.cli import main
from directml_py.cli.capture_command import CUT
from directml_py.session import Session

from .test_replay import SUMS, alter

ENVIRONMENT = {**os.environ, "PYTHONPATH": str(Path(directml_py.__file__).parents[1])}
PROGRAM = """
import os, signal, sys
import numpy as np
import directml_py as dml
x = dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, [1, 1, 1, 2])
def negate():
    dml.evaluate(dml.DML_ELEMENT_WISE_NEGATE_OPERATOR_DESC(x, x), [np.ones((1, 1, 1, 2), np.float32)])
negate()
"""


def run(folder, code, **options):
    """A program that is recorded as a whole; returns its exit code."""
    environment = {**ENVIRONMENT, "DIRECTML_PY_CAPTURE": str(folder)}
    program = [sys.executable, "-c", PROGRAM + code]
    return subprocess.run(program, env=environment, capture_output=True, timeout=300, **options).returncode


@pytest.mark.parametrize("code", ["", "sys.exit(3)", "raise KeyError"])
def test_programs_that_end_by_themselves(tmp_path, code, capsys):
    run(tmp_path / "out", code)
    (log,) = read_capture(tmp_path / "out")
    assert (log.ended, log.cut) == (True, "")
    assert main(["capture", "replay", str(tmp_path / "out")]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("code", ["os.kill(os.getpid(), signal.SIGKILL)", "os._exit(0)"])
def test_programs_that_are_ended(tmp_path, code, capsys):
    out = tmp_path / "out"
    run(out, code)
    (log,) = read_capture(out)
    assert not log.ended
    assert main(["capture", "replay", str(out)]) == CUT == 3
    assert f"{log.path} is incomplete; it has no end" in capsys.readouterr().err
    assert main(["capture", "show", str(out)]) == 0
    assert "is incomplete; it has no end" in capsys.readouterr().err
    assert "This recording is incomplete; it has no end" in (out / "index.html").read_text(encoding="utf-8")


def test_a_full_disk(tmp_path, capsys):
    """As with files limited to 4 KiB; the program continues."""
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))"
    code = f"signal.signal(signal.SIGXFSZ, signal.SIG_IGN); {limit}\nfor _ in range(9): negate()"
    assert run(tmp_path / "out", code) == 0
    assert main(["capture", "replay", str(tmp_path / "out")]) == CUT
    assert "is incomplete" in capsys.readouterr().err


def test_a_difference_is_more_than_a_cut(copied, capsys):
    alter(copied, SUMS, 5, 99)
    (path,) = copied.glob("*.jsonl")
    path.write_bytes(path.read_bytes()[:-2])
    assert main(["capture", "replay", str(copied)]) == 1
    assert "its last line is cut off" in capsys.readouterr().err


@pytest.mark.slow
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_children_of_multiprocessing(tmp_path, method):
    """They exit by _exit. A child that does nothing with DirectML leaves no recording."""
    code = f"""
import multiprocessing
import idle
if __name__ == "__main__":
    processes = [multiprocessing.get_context({method!r}).Process(target=work) for work in (idle.work, idle.nothing)]
    for process in processes: process.start()
    for process in processes: process.join()
"""
    idle = PROGRAM.replace("\nnegate()\n", "\nwork = negate\nnothing = int\n")
    (tmp_path / "idle.py").write_text(idle, encoding="utf-8")
    (tmp_path / "program.py").write_text(PROGRAM + code, encoding="utf-8")
    environment = {**ENVIRONMENT, "DIRECTML_PY_CAPTURE": str(tmp_path / "out")}
    subprocess.run([sys.executable, "program.py"], cwd=tmp_path, env=environment, check=True, timeout=300)
    logs = read_capture(tmp_path / "out")
    assert [log.cut for log in logs] == [""] * len(logs)
    assert sum(bool(log.dispatches) for log in logs) == (2 if method == "fork" else 3)


NAME = "\udc80 été \x1b[31m \u202e"


@pytest.mark.slow
@pytest.mark.parametrize(
    "streams", [{"PYTHONIOENCODING": "ascii"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}]
)
def test_names_that_no_terminal_should_get(copied, streams):
    if "LC_ALL" in streams and not sys.prefix.isascii():
        pytest.skip("NumPy cannot be imported from such a path in the locale C")
    alter(copied, SUMS, 5, 99)
    (path,) = copied.glob("*.jsonl")
    text = path.read_text(encoding="utf-8")
    assert '"name": "sum"' in text
    path.write_text(text.replace('"name": "sum"', f'"name": {json.dumps(NAME)}'), encoding="utf-8")
    (log,) = read_capture(copied)
    assert any(one.dispatchable.name == NAME for one in log.dispatches)
    alter(copied, [10, 11, 12, 13, 14, 15], 0, 7)
    environment = {**ENVIRONMENT, **streams}
    command = [sys.executable, "-m", "directml_py", "capture", "replay", str(copied)]
    replayed = subprocess.run(command, env=environment, capture_output=True, timeout=300)
    assert (replayed.returncode, replayed.stderr) == (1, b"")
    assert b"\\udc80 \\xe9t\\xe9 \\x1b[31m \\u202e" in replayed.stdout
    assert replayed.stdout.isascii()
    assert b"\x1b" not in replayed.stdout


def test_signaling_nans_on_a_page(tmp_path):
    """Conversions to other types would quiet them, with a warning."""
    for kind, bits in (
        (dml.DML_TENSOR_DATA_TYPE_FLOAT32, np.uint32(0x7F800001)),
        (dml.DML_TENSOR_DATA_TYPE_FLOAT16, np.uint16(0x7C01)),
    ):
        with dml.capture(tmp_path / kind.name):
            session = Session()
            desc = dml.tensor_desc(kind, [1, 1, 1, 64])
            op = session.compile(dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(desc, desc))
            session.initialize(op)
            source = session.upload(np.full(64, bits))
            session.dispatch(op, [source], [session.buffer(source.width)])
            session.execute()
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert "64 NaN" in page(read_capture(tmp_path / kind.name))
