"""``python -m directml_py dispatch``: the exact output, and the exit code."""

from __future__ import annotations

import platform
import re
import sys

import numpy as np
import pytest

import directml_py as dml
from directml_py.cli import main
from directml_py.d3d12.adapters import AdapterMemory

from ..front_ends.conftest import python as python
from .conftest import add_model, dispatch, resource

PRINT_OUT = "Resource 'Out': 6, 10, -2"


@pytest.fixture
def answer(capfdbinary, write):
    """``answer(model, *options)``: exit code, lines of output, lines of errors."""

    def run(content, *options):
        code = main(["dispatch", str(write(content)), *options])
        found = capfdbinary.readouterr()
        return code, found.out.decode("latin-1").split("\n")[:-1], found.err.decode().split("\n")[:-1]

    return run


def test_a_model(answer):
    code, lines, errors = answer(add_model())
    assert (code, errors) == (0, [])
    assert lines[0] == "Running on 'directml-py'"
    assert lines[1] == "Compile Op"
    times = r"\d+\.\d{4} ms median \(CPU\), \d+\.\d{6} ms median \(GPU\)"
    assert re.fullmatch(rf"Dispatch 'add': 1 iterations, {times}", lines[2])
    assert lines[3:] == [PRINT_OUT]


def test_a_process_of_its_own(python, write):
    found = python("-m", "directml_py", "dispatch", str(write(add_model())), "-i", "2")
    assert (found.returncode, found.stderr) == (0, "")
    assert found.stdout.splitlines()[-1] == PRINT_OUT
    found = python("-m", "directml_py", "dispatch", str(write("{")))
    assert found.returncode == 1
    assert found.stderr.startswith("Failed to parse the model: JSON parse error: line 1 column 2: ")


def test_timings(answer):
    """The first samples are cold, but never all of them."""
    number = r"\d+\.\d{4}"
    statistics = f"{number} ms average, {number} ms min, {number} ms median, {number} ms max"
    code, lines, _ = answer(add_model(), "-i", "5", "-w", "2", "-v", "2", "-r", "3")
    assert code == 0
    expected = [
        "Running on 'directml-py'",
        "Compile Op",
        f"Initialize 'add': {number} ms",
        "Dispatch 'add': 5 iterations",
        rf"CPU Timings \(Cold\) : 2 samples, {statistics}",
        rf"GPU Timings \(Cold\) : 2 samples, {statistics}",
        rf"CPU Timings \(Hot\)  : 3 samples, {statistics}",
        rf"GPU Timings \(Hot\)  : 3 samples, {statistics}",
        "The timings of each iteration: ",
        *(rf"iteration {index}: {number} ms \(CPU\), {number} ms \(GPU\)" for index in range(5)),
        PRINT_OUT,
    ]
    assert len(lines) == len(expected)
    for line, pattern in zip(lines, expected):
        assert re.fullmatch(pattern, line), line
    _, lines, _ = answer(add_model(), "-i", "2", "-w", "9", "-v", "1")
    assert "CPU Timings (Cold) : 1 samples" in "\n".join(lines)
    assert "CPU Timings (Hot)  : 1 samples" in "\n".join(lines)
    assert not any(line.startswith("iteration") for line in lines)


def test_the_gpu_takes_no_longer_than_the_program_waits(answer, monkeypatch):
    """With more iterations than a query heap holds."""
    monkeypatch.setattr("directml_py.dxdispatch.model_run.PAIRS", 3)
    _, lines, _ = answer(add_model(), "-i", "7", "-v", "2", "-r", "2")
    times = [re.fullmatch(r"iteration \d: (\S+) ms \(CPU\), (\S+) ms \(GPU\)", line) for line in lines]
    found = [(float(time[1]), float(time[2])) for time in times if time is not None]
    assert len(found) == 7
    assert all(0 < gpu <= cpu + 1e-4 for cpu, gpu in found)


def test_times_to_run(answer):
    """``-t`` overrides ``-i``, ``-I`` spaces iterations: at 0, 200, 400 and 600 ms, of which the last is too late."""
    _, lines, _ = answer(add_model(), "-t", "700", "-I", "200", "-i", "1")
    count = int(re.search(r"(\d+) iterations", "\n".join(lines))[1])
    assert 2 <= count <= 4
    _, lines, _ = answer(add_model(), "-i", "0")
    assert lines[2:] == ["Resource 'Out': 0, 0, 0"]


def test_printed_commands(answer):
    content = add_model(
        {"resource": "Out", "type": "print"}, {"type": "print", "resource": "Out", "x": [0.5, None]}
    )
    code, lines, _ = answer(content, "--print_commands", "-i", "0")
    assert code == 0
    bindings = '"bindings":{"ATensor":"A","BTensor":"B","OutputTensor":"Out"}'
    assert lines[2:] == [
        '[StartCmd][0000]\t: {"type":"dispatch","dispatchable":"add",' + bindings + "}",
        "[EndCmd][0000]\t: hr=0x00000000 ",
        "",
        '[StartCmd][0001]\t: {"resource":"Out","type":"print"}',
        "Resource 'Out': 0, 0, 0",
        "[EndCmd][0001]\t: hr=0x00000000 ",
        "",
        '[StartCmd][0002]\t: {"type":"print","resource":"Out","x":[0.5,null]}',
        "Resource 'Out': 0, 0, 0",
        "[EndCmd][0002]\t: hr=0x00000000 ",
        "",
    ]


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        # 1 is 3F800000; ten elements make the index two wide.
        (resource([1, -1.5]), ["[0] 1 (0x3F800000)", "[1] -1.5 (0xBFC00000)"]),
        (resource([3, 258], "UINT32"), ["[0] 3 (0x       3)", "[1] 258 (0x     102)"]),
        (resource([-2], "INT16"), ["[0] -2 (0xFFFE)"]),
        (resource([65, 200], "UINT8"), ["[0] A (0x41)", "[1] \xc8 (0xC8)"]),
        (resource([-56], "INT8"), ["[0] \xc8 (0xC8)"]),
        (resource([1], "UINT64"), ["[0] 1 (0x               1)"]),
        (
            resource({"valueCount": 10, "value": 1}, "FLOAT16"),
            [f"[{index:2}] 1 (0x3C00)" for index in range(10)],
        ),
    ],
)
def test_verbose_prints(value, expected, answer):
    content = add_model({"type": "print", "resource": "R", "verbose": True})
    content["resources"]["R"] = value
    _, lines, _ = answer(content)
    assert lines[3:] == ["Resource 'R':", *expected, ""]


def test_a_long_print_is_abridged(answer):
    """DxDispatch prints each value, as ``--print_all`` does."""
    content = add_model({"type": "print", "resource": "R"})
    content["resources"]["R"] = resource([*range(500)], "INT32")
    _, lines, _ = answer(content)
    first, last = (", ".join(map(str, numbers)) for numbers in (range(50), range(450, 500)))
    assert lines[3:] == [f"Resource 'R': {first}, ..., {last} (500 values; --print_all shows each)"]
    _, lines, _ = answer(content, "--print_all")
    assert lines[3:] == [f"Resource 'R': {', '.join(map(str, range(500)))}"]


def test_bytes_are_characters(answer):
    content = add_model({"type": "print", "resource": "ü"})
    content["resources"]["ü"] = resource([72, 0, 255], "UINT8")
    _, lines, _ = answer(content)
    assert lines[3:] == ["Resource '\xc3\xbc': H, \0, \xff"]


def test_hazards(answer, caplog):
    """Two dispatches into the same buffer without a barrier in between, which only the debug layers report."""
    options = ("-r", "2", "--post_dispatch_barriers", "none")
    assert answer(add_model(), *options)[0] == 0
    assert not caplog.messages
    code, _, errors = answer(add_model(), *options, "-d")
    assert code == 1
    assert any("D3D12-UAVBarrier-missing" in line for line in [*errors, *caplog.messages])
    # The switch is for one run.
    assert answer(add_model(), *options)[0] == 0
    assert answer(add_model(), "--debug", "-r", "2")[0] == 0


def test_feature_levels(answer):
    content = add_model()
    add = content["dispatchables"]["add"]
    add["type"] = "ELEMENT_WISE_ADD1"
    for tensor in add["desc"].values():
        tensor["Sizes"] = [1, 1, 1, 3]
    assert answer(content, "--dml_feature_level", "2.0")[0] == 0
    code, lines, errors = answer(content, "--dml_feature_level", "1.0")
    assert (code, lines) == (1, ["Running on 'directml-py'"])
    assert errors[0].startswith("Failed to execute the model: ERROR creating dispatchable 'add': ")
    assert "DML_FEATURE_LEVEL_2_0" in "\n".join(errors)
    code, lines, errors = answer(content, "--dml_feature_level", "9.9")
    assert (code, lines) == (1, [])
    assert errors == [
        "Failed to create a device: --dml_feature_level is '9.9', which is not a DML_FEATURE_LEVEL"
    ]


def test_paths(answer, tmp_path):
    (tmp_path / "in").mkdir()
    np.save(tmp_path / "in" / "a.npy", np.zeros(3, np.float32))
    content = add_model({"type": "writeFile", "resource": "Out", "targetPath": "o.dat"})
    content["resources"]["A"] = {"initialValues": {"sourcePath": "a.npy"}}
    paths = ("--input_path", str(tmp_path / "in"), "--output_path", str(tmp_path / "out"))
    code, lines, _ = answer(content, *paths)
    assert (code, lines[-1]) == (0, f"Resource 'Out' written to '{tmp_path}/out/o.dat'")
    assert np.fromfile(tmp_path / "out" / "o.dat", np.float32).tolist() == [5, 8, -5]


def test_paths_that_lead_out_of_the_output_folder(answer, tmp_path_factory):
    target = tmp_path_factory.mktemp("elsewhere") / "o.dat"
    content = add_model({"type": "writeFile", "resource": "Out", "targetPath": str(target)})
    code, lines, errors = answer(content)
    assert (code, lines) == (1, ["Running on 'directml-py'"])
    assert "leads out of the output folder" in errors[-1]
    assert not target.exists()
    code, lines, _ = answer(content, "--writes_outside")
    assert (code, lines[-1]) == (0, f"Resource 'Out' written to '{target}'")


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (1024, "1024 bytes"),
        (1536, "1.50 KB"),
        (5 << 19, "2.50 MB"),
        (3 << 29, "1.50 GB"),
        (1 << 40, "1024.00 GB"),
    ],
)
def test_sizes_of_memory(monkeypatch, capsys, size, text):
    monkeypatch.setattr("directml_py.d3d12.dxcore.memory", lambda: AdapterMemory(size, 0))
    assert main(["dispatch", "-s"]) == 0
    assert f"-Dedicated Adapter Memory: {text}" in capsys.readouterr().out.splitlines()


def test_adapters_and_help(capsys):
    assert main(["dispatch", "-s"]) == 0
    assert capsys.readouterr().out.splitlines()[:4] == [
        "directml-py",
        "-Version: 1.0.0.0",
        "-Hardware: true",
        "-Integrated: false",
    ]
    assert main(["dispatch", "model.txt"]) == 1
    assert capsys.readouterr().err == "Expected a .json or .onnx file\n"
    with pytest.raises(SystemExit) as end:
        main(["dispatch", "-h"])
    assert end.value.code == 0
    assert "--dispatch_iterations" in capsys.readouterr().out
    assert main(["dispatch"]) == 2
    assert "MODEL is missing" in capsys.readouterr().err


def test_dependencies(capsys):
    assert main(["dispatch", "-S"]) == 0
    lines = dict(re.split(r" +: ", line, maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert lines["directml-py"] == dml.__version__
    assert lines["DirectML"] == "1.15, emulated"
    assert lines["NumPy"] == np.__version__
    assert lines["Python"] == platform.python_version()


def test_captures(answer, tmp_path):
    folder = tmp_path / "captured"
    code, lines, errors = answer(add_model(), "-c", "gpu", "-o", str(folder), "-p")
    assert (code, lines[-1], errors) == (0, PRINT_OUT, [])
    assert main(["capture", "replay", str(folder)]) == 0
    code, _, errors = answer(add_model(), "-c", "gpu", "-o", str(folder))
    assert code == 1
    assert "Failed to write the capture" in errors[-1]
    assert str(folder) in errors[-1]


def test_no_capture_without_a_wish(answer, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert answer(add_model(), "-c", "manual")[0] == 0
    assert not (tmp_path / "dxdispatch").exists()


@pytest.mark.parametrize(
    "option", [("-i", "-1"), ("-v", "3"), ("-r", "x"), ("-i", "4294967296"), ("-c", "timing")]
)
def test_options_that_are_none(option, capsys):
    with pytest.raises(SystemExit) as end:
        main(["dispatch", "m.json", *option])
    assert end.value.code == 2
    assert option[0] in capsys.readouterr().err


BINDINGS = {"ATensor": "A", "BTensor": "B", "OutputTensor": "Out"}


@pytest.mark.parametrize(
    ("bindings", "words"),
    [
        ({"ATensor": ["A", "B"]}, "Bind point 'ATensor' requires 1 resources, but 2 were bound."),
        (
            {"ATensor": {"name": "A", "elementOffset": 4}},
            "Buffer size (12 bytes) is too small for offset 16 bytes",
        ),
        ({"ATensor": {"name": "A", "elementOffset": 2**63}}, "Overflow in size calculation"),
        ({"ATensor": "later"}, "Resource 'later' is deferred"),
        ({"ATensor": {"name": "A", "elementOffset": 1}}, "bindings[0].Offset is 4"),
    ],
)
def test_bindings_that_fail(bindings, words, answer):
    content = add_model(
        dispatch("add", **{**BINDINGS, **bindings}),
        resources=add_model()["resources"] | {"later": {"initialValues": "deferred"}},
    )
    code, lines, errors = answer(content)
    assert code == 1
    assert PRINT_OUT not in lines
    assert errors[0].startswith("ERROR while binding resources: ")
    assert words in errors[0] + errors[1]
    text = "\n".join(errors)
    place = text.index("Failed to execute dispatchable: ")
    assert place < text.index("Failed to execute the model: ", place)


def test_what_is_not_bound(answer):
    """A missing input, with the commands printed: the HRESULT is reported, and no later command runs."""
    content = add_model(dispatch("add", ATensor="A", OutputTensor="Out"), {"type": "print", "resource": "A"})
    code, lines, errors = answer(content, "--print_commands")
    assert code == 1
    assert any(line.startswith("[EndCmd][0001]\t: hr=0x887a0005 ") for line in lines)
    assert not any("Resource 'A'" in line for line in lines)
    assert "BTensor needs one of at least 12 bytes [DML-BindInputs-null]" in "\n".join(errors)


def test_initialization_that_fails(answer):
    content = add_model()
    content["dispatchables"]["add"]["desc"]["BTensor"]["Flags"] = "OWNED_BY_DML"
    code, _, errors = answer(content)
    assert code == 1
    assert errors[0].startswith("Failed to execute the model: ERROR while initializing 'add': ")
    assert "BTensor" in "\n".join(errors)


def test_files_that_cannot_be_written(answer, tmp_path):
    """It is reported, and later commands run."""
    (tmp_path / "file").write_text("")
    content = add_model(
        {"type": "writeFile", "resource": "Out", "targetPath": "file/x.dat"},
        {"type": "writeFile", "resource": "Out", "targetPath": "x.png"},
        {"type": "writeFile", "resource": "Out", "targetPath": "x.npy", "dimensions": [2, 2]},
        {"type": "print", "resource": "Out"},
    )
    code, lines, errors = answer(content, "--output_path", str(tmp_path))
    assert (code, lines[-1]) == (0, PRINT_OUT)
    starts = [
        f"Failed to write resource to file '{tmp_path}/{name}': " for name in ("file/x.dat", "x.png", "x.npy")
    ]
    assert [line.startswith(start) for line, start in zip(errors, starts)] == [True] * 3
    assert sorted(one.name for one in tmp_path.iterdir()) == ["file", "model.json"]


@pytest.mark.skipif(sys.platform == "win32", reason="pipes of POSIX")
def test_a_reader_that_has_seen_enough(python, write):
    import subprocess

    process = subprocess.Popen(
        [sys.executable, "-m", "directml_py", "dispatch", str(write(add_model())), "-i", "50", "-v", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    process.stdout.close()
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait() == 0
