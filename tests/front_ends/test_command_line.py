"""``python -m directml_py``: its output and exit codes, without tracebacks."""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import shlex
import subprocess
import sys

import numpy as np
import pytest
from children import run_in_child
from toolchain import later

import directml_py as dml
from directml_py import cli
from directml_py.api.schema_data import OPERATORS as CATALOG
from directml_py.cli import COMMANDS, config_command, main
from directml_py.cli.catalog_document import API_VERSION
from directml_py.operators import SCHEMAS
from directml_py.text import terminal


@pytest.fixture
def run(python):
    return lambda *arguments, **options: python("-m", "directml_py", *arguments, **options)


@pytest.fixture
def answer(capsys):
    """``answer(*arguments)``: exit code, output and errors of a command run in this process."""

    def run(*arguments):
        try:
            code = main(arguments)
        except SystemExit as end:
            code = end.code
        return (code, *capsys.readouterr())

    return run


def succeeds(process):
    assert (process.returncode, process.stderr) == (0, "")
    return process.stdout


def shown(answered):
    code, text, errors = answered
    assert (code, errors) == (0, "")
    return text


def test_info(run):
    """One ``name: value`` a line, of which a terminal shows all."""
    printed = succeeds(run("info")).splitlines()
    assert len(printed) <= 15
    lines = dict(re.split(r":\s+", line, maxsplit=1) for line in printed)
    assert lines["directml-py"] == dml.__version__
    assert lines["DirectML API"] == "1.15"
    assert lines["feature level"] == "DML_FEATURE_LEVEL_6_4"
    assert lines["operators"] == str(len(CATALOG))
    assert lines["NumPy"] == np.__version__
    assert lines["Python"] == ".".join(map(str, sys.version_info[:3]))
    assert "kernels" in lines


def test_the_checks_of_the_debug_layers(answer):
    """The rules that only debug devices report, and no others."""
    checks = identifiers(shown(answer("show", "rules", "--debug")))
    assert len(checks) == len(set(checks)) >= 16
    assert {
        "D3D12-UAVBarrier-missing",
        "D3D12-Contents-undefined",
        "DML-RecordDispatch-initialized",
        "DML-GATHER-index-range",
    } <= set(checks)
    assert not {"DML-JOIN-axis", "DML-BufferBinding-size", "DML-RecordDispatch-descriptor-heap"} & set(checks)


def test_the_list_of_operators(answer):
    names = shown(answer("show", "operators")).split()
    assert {"JOIN", "SPLIT", "REDUCE", "GATHER", "ARGMIN", "ARGMAX", "ELEMENT_WISE_IDENTITY"} <= set(names)
    assert names == sorted(SCHEMAS)


@pytest.mark.parametrize("name", ["JOIN", "join", "DML_OPERATOR_JOIN", "dml_operator_join"])
def test_a_support_table(answer, name):
    """The rows of DML_JOIN_OPERATOR_DESC's page, newest level first."""
    code, table, errors = answer("show", name)
    assert (code, errors) == (0, "")
    assert table.splitlines()[0] == "DML_OPERATOR_JOIN (DML_JOIN_OPERATOR_DESC)"
    assert re.findall(r"(DML_FEATURE_LEVEL_\d_\d) and above", table) == [
        f"DML_FEATURE_LEVEL_{level}" for level in ("4_1", "3_0", "2_1", "1_0")
    ]
    newest = table.split("and above")[1]
    rows = re.findall(r"(\w+) +(\d) to (\d) +(.+)", newest)
    assert [row[:3] for row in rows] == [("InputTensors", "1", "8"), ("OutputTensor", "1", "8")]
    bits = {
        "FLOAT64",
        "FLOAT32",
        "FLOAT16",
        *(f"{sign}INT{n}" for sign in ("", "U") for n in (8, 16, 32, 64)),
    }
    assert set(rows[0][3].split(", ")) == bits
    oldest = table.split("and above")[-1]
    assert re.findall(r"(\w+) +4 +(.+)", oldest)[0][1].split(", ") == [
        "FLOAT32",
        "FLOAT16",
        "INT32",
        "INT16",
        "UINT32",
        "UINT16",
    ]


def test_pkg_config_has_the_version_of_the_api():
    text = (config_command.FOLDER / "directml.pc").read_text(encoding="utf-8")
    assert f"\nVersion: {API_VERSION}\n" in text


def test_tables_for_the_values_of_an_attribute(answer):
    """REDUCE has separate tables for ARGMIN and ARGMAX."""
    tables = shown(answer("show", "REDUCE"))
    assert re.search(r"^Function: .*DML_REDUCE_FUNCTION_ARGM(IN|AX)", tables, re.M)
    assert "DML_REDUCE_FUNCTION_SUM_SQUARE" in tables


def test_every_operator_has_an_answer(capsys):
    for entry in CATALOG.values():
        assert main(["show", entry.name]) == 0
        table = capsys.readouterr().out
        assert table.startswith(f"DML_OPERATOR_{entry.name} ")


def test_rules(answer):
    """Four lines per rule: identifier and severity, text, source, test."""
    blocks = shown(answer("show", "rules")).rstrip("\n").split("\n\n")
    names = [block.split()[0] for block in blocks]
    assert names == sorted(names)
    assert len(set(names)) == len(names)
    assert {"DML-JOIN-axis", "DML-JOIN-data-type", "DML-BindInputs-count", "D3D12-UAVBarrier-missing"} <= set(
        names
    )
    # A rule that follows from the catalog, and one that is declared beside what it checks.
    assert blocks[names.index("DML-JOIN-axis")].splitlines() == [
        "DML-JOIN-axis (error)",
        "  Axis is less than InputTensors[0].DimensionCount",
        "  source: ns-directml-dml_join_operator_desc",
        "  test: tests/operators/test_every_operator.py::test_a_broken_desc_is_refused_by_its_rule[DML-JOIN-axis]",
    ]
    assert blocks[names.index("DML-SLICE-bounds")].splitlines() == [
        "DML-SLICE-bounds (error)",
        "  Every element of the slice lies within InputTensor",
        "  source: ns-directml-dml_slice_operator_desc",
        "  test: tests/rules/test_rules.py::test_rule[DML-SLICE-bounds]",
    ]
    assert blocks[names.index("DML-GATHER-index-range")].startswith("DML-GATHER-index-range (warning)\n")
    assert all(len(block.splitlines()) == 4 for block in blocks)


def test_rules_in_markdown(answer):
    lines = shown(answer("show", "rules", "--markdown")).splitlines()
    assert lines[1] == "| --- | --- | --- | --- | --- |"
    assert all(
        re.fullmatch(r"\| `[\w-]+` \| .+ \| .+ \| (error|warning) \| `tests/.+` \|", line)
        for line in lines[2:]
    )
    assert (
        "| `DML-SLICE-bounds` | Every element of the slice lies within InputTensor "
        "| ns-directml-dml_slice_operator_desc | error | `tests/rules/test_rules.py::test_rule[DML-SLICE-bounds]` |"
    ) in lines
    plain = shown(answer("show", "rules")).rstrip("\n").split("\n\n")
    assert len(lines) - 2 == len(plain)


@pytest.mark.parametrize(
    "arguments", [[], ["--help"], ["-h"], *([name, "--help"] for name in COMMANDS)], ids=" ".join
)
def test_help(answer, arguments, monkeypatch):
    """It fits a terminal of 80 columns."""
    monkeypatch.setenv("COLUMNS", "80")
    code, usage, errors = answer(*arguments)
    assert (code, errors) == (0, "")
    assert usage.startswith("usage: python -m directml_py")
    assert max(map(len, usage.splitlines())) <= 80
    if not arguments or arguments[0].startswith("-"):
        assert all(re.search(rf"^    {name} ", usage, re.MULTILINE) for name in COMMANDS)
        assert 'eval "$(register-python-argcomplete directml-py)"' in usage


def test_version(run):
    assert succeeds(run("--version")).strip() == dml.__version__


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["nonsense"], "nonsense"),
        (["show", "NONSENSE"], "DML_OPERATOR_NONSENSE"),
        (["show", ""], "operator"),
        (["show", "INVALID"], "DML_OPERATOR_INVALID"),
        (["show", "operators", "SPLIT"], "operators takes no further names"),
        (["show"], "required: NAME\n"),
        (["show", "JOIN", "--debug"], "for rules"),
        (["show", "JOIN", "--json", "--markdown"], "--markdown"),
        (["info", "--nonsense"], "info: error: unrecognized arguments: --nonsense"),
        (["show", __file__], "test_command_line.py is not a model, whose name ends with .json"),
        (["compare", __file__], "test_command_line.py: neither a serialized graph nor a model"),
        (["run"], "required: SCRIPT\n"),
        (["exec"], "required: PROGRAM\n"),
        (["show", "rules", "JOI"], "JOI"),
        (["show", "rules", "--html"], "--html"),
    ],
)
def test_user_errors(answer, arguments, word):
    code, output, errors = answer(*arguments)
    assert (code, output) == (2, "")
    assert word in errors


def test_an_error_as_the_shell_sees_it(run):
    process = run("show", "NONSENSE")
    assert (process.returncode, process.stdout) == (2, "")
    assert process.stderr == "show: there is no operator DML_OPERATOR_NONSENSE\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["show", "operators"],
        *later(["info"], ["show", "REDUCE"], ["show", "rules"], ["--help"], ["--version"]),
    ],
)
@pytest.mark.parametrize("unbuffered", [[], ["-u"]])
def test_a_reader_that_has_seen_enough(python, arguments, unbuffered):
    """The other end of the pipe is closed before anything is written."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        process = python(*unbuffered, "-m", "directml_py", *arguments, stdout=writer)
    finally:
        os.close(writer)
    assert process.stderr == ""
    assert process.returncode == 0


@pytest.mark.skipif(os.name == "nt", reason="the shell's way to close a stream")
def test_a_stream_that_was_closed(tmp_path):
    """The parent wants no output: commands that write text, bytes and logs do the rest of their work."""
    model = tmp_path / "model.json"
    model.write_text('{"resources": {}, "dispatchables": {}, "commands": []}')
    for words in (["show", "operators"], ["graph", str(model), "--svg", "-"], ["dispatch", str(model)]):
        command = shlex.join([sys.executable, "-m", "directml_py", *words])
        process = subprocess.run(["sh", "-c", f"{command} >&-"], capture_output=True, text=True)
        assert (process.returncode, process.stderr) == (0, ""), words


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="the system has no /dev/full")
def test_a_full_disk(run):
    with open("/dev/full", "w") as full:
        process = run("show", "operators", stdout=full)
    assert process.returncode == 1
    assert "cannot write" in process.stderr
    assert "Traceback" not in process.stderr


def identifiers(text):
    return re.findall(r"^(\S+) \((?:error|warning)\)$", text, re.MULTILINE)


def test_rules_are_chosen_by_parts_of_their_identifiers(answer):
    code, text, errors = answer("show", "rules", "JOIN")
    found = identifiers(text)
    assert (code, errors) == (0, "")
    assert {"DML-JOIN-axis", "DML-JOIN-sizes"} <= set(found)
    assert all(one.startswith("DML-JOIN-") for one in found)
    assert identifiers(answer("show", "rules", "gather", "AXIS")[1]) == [
        "DML-GATHER-axis",
        "DML-GATHER-index-dimensions-before-axis",
    ]
    assert identifiers(answer("show", "rules", "UAVBarrier-miss")[1]) == ["D3D12-UAVBarrier-missing"]


def test_rules_operators_and_info_in_json(answer):
    (rule,) = json.loads(answer("show", "rules", "JOIN", "axis", "--json")[1])
    assert (rule["id"], rule["severity"]) == ("DML-JOIN-axis", "error")
    assert json.loads(answer("show", "JOIN", "--json")[1])["DML_OPERATOR_JOIN"]["struct"] == (
        "DML_JOIN_OPERATOR_DESC"
    )
    assert len(json.loads(answer("show", "operators", "--json")[1])) == len(CATALOG)
    assert json.loads(answer("show", "DML-JOIN-axis", "--json")[1]) == rule
    assert json.loads(answer("info", "--json")[1])["DirectML API"] == "1.15"


@pytest.mark.parametrize(
    ("line", "offers"),
    [
        ("directml-py sho", {"show"}),
        ("directml-py show TIL", {"TILE"}),
        ("directml-py info --j", {"--json"}),
    ],
)
def test_the_shell_is_told_what_comes_next(tmp_path, line, offers):
    """The request that argcomplete's shell function makes."""
    told = tmp_path / "told"
    asking = {"_ARGCOMPLETE": "1", "_ARGCOMPLETE_IFS": " ", "COMP_LINE": line, "COMP_POINT": str(len(line))}
    asking["COMP_TYPE"] = "9"
    code = f"""
import os, sys
os.environ.update({asking!r})
os.dup2(os.open({str(told)!r}, os.O_WRONLY | os.O_CREAT), 8)
sys.argv[0] = "directml-py"
from directml_py.cli import main
from directml_py.cli.catalog_document import API_VERSION
main()
"""
    run_in_child(code)
    assert set(told.read_text().split()) == offers


def test_a_bar_is_shown_for_what_takes_long(monkeypatch):
    """On a terminal; the items are passed through."""
    monkeypatch.setattr(terminal, "PATIENCE_SECONDS", -1.0)
    screen = io.StringIO()
    monkeypatch.setattr(screen, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stderr", screen)
    assert list(terminal.track([3, 1, 2], "numbers", 3)) == [3, 1, 2]
    assert "numbers" in screen.getvalue()


def test_no_bar_is_shown_where_nobody_looks(monkeypatch):
    monkeypatch.setattr(terminal, "PATIENCE_SECONDS", -1.0)
    file = io.StringIO()
    monkeypatch.setattr(sys, "stderr", file)
    assert list(terminal.track([3, 1, 2], "numbers", 3)) == [3, 1, 2]
    assert file.getvalue() == ""


@pytest.mark.parametrize("command", [["info"], *later(["run", "script.py"])])
@pytest.mark.parametrize(
    ("variable", "value", "problem"),
    [
        ("DIRECTML_PY_THREADS", "many", "must be a number above 0, not 'many'"),
        ("DIRECTML_PY_THREADS", "0", "must be a number above 0, not '0'"),
        ("DIRECTML_PY_KERNELS", "cu\x1bda", "must be numpy or native, not 'cu\\\\x1bda'"),
        ("DIRECTML_PY_PROFILE", "mean", "is 'mean'; the profiles are kind"),
        ("DIRECTML_PY_ADAPTERS", "17", "must be a number from 1 to 16 or a list of gpu and npu, not '17'"),
    ],
)
def test_variables_that_are_wrong(python, monkeypatch, tmp_path, command, variable, value, problem):
    (tmp_path / "script.py").write_text("print(1)")
    monkeypatch.setenv(variable, value)
    process = python("-m", "directml_py", *command, cwd=tmp_path)
    assert (process.returncode, process.stdout) == (2, "")
    (line,) = process.stderr.splitlines()
    assert line.startswith(f"{command[0]}: {variable} {problem}".replace("\\\\", "\\"))


def test_a_folder_that_cannot_be_run(python, tmp_path):
    process = python("-m", "directml_py", "run", str(tmp_path))
    assert (process.returncode, process.stdout) == (2, "")
    assert process.stderr == f"run: the folder {tmp_path} has no __main__.py\n"
    (tmp_path / "__main__.py").write_text("import pydirectml; print(__name__)")
    assert python("-m", "directml_py", "run", str(tmp_path)).stdout == "__main__\n"


def test_the_traceback_of_a_script(python, tmp_path):
    """As python prints it, for exceptions too that a command of this package would report in one line."""
    script = tmp_path / "script.py"
    script.write_text("import directml_py as dml\ndef work():\n    raise dml.DMLError(5, 'x')\nwork()\n")
    direct, run = python(str(script)), python("-m", "directml_py", "run", str(script))
    assert (run.returncode, run.stdout) == (direct.returncode, direct.stdout) == (1, "")
    assert run.stderr == direct.stderr
    script.write_text("open('nothing')\n")
    assert python("-m", "directml_py", "run", str(script)).stderr == python(str(script)).stderr
    script.write_bytes(b"\0")
    assert "Traceback" not in python("-m", "directml_py", "run", str(script)).stderr


class Raising:
    """A command that does not expect what goes wrong."""

    HELP = "raises"

    def __init__(self, error: BaseException) -> None:
        self.error = error

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        pass

    def run(self, arguments: argparse.Namespace) -> int:
        raise self.error


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (dml.DMLError(dml.E_INVALIDARG, "Sizes are wrong"), "Sizes are wrong"),
        (FileNotFoundError(2, "No such file or directory", "model.onnx"), "'model.onnx'"),
    ],
)
def test_errors_of_a_command_are_not_those_of_its_output(monkeypatch, capsys, error, message):
    monkeypatch.setattr(cli, "command", lambda name: Raising(error))
    assert main(["info"]) == 2
    assert message in capsys.readouterr().err


def test_ctrl_c(monkeypatch, capsys):
    """No traceback, and the exit code that a shell gives."""
    monkeypatch.setattr(cli, "command", lambda name: Raising(KeyboardInterrupt()))
    assert main(["info"]) == 130
    assert capsys.readouterr() == ("", "")
