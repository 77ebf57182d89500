"""A library opened as Microsoft's is: here ``libdirectml.so``, whose COM objects are the emulator's own."""

from __future__ import annotations

import gc
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import directml_py as dml
from directml_py import hardware
from directml_py.d3d12 import debug_output
from directml_py.descs import TensorDesc, decode_operator_desc
from directml_py.descs.build import build_operator_desc
from directml_py.dxdispatch import save_graph
from directml_py.graph import Graph
from directml_py.graph.to_desc import graph_desc, operator_node
from directml_py.hardware.com_calls import Object
from directml_py.hardware.loading import LIBRARY_FOLDER
from directml_py.operators import SCHEMAS
from directml_py.testing.decision_source import RandomSource
from directml_py.testing.valid_descs import valid_desc

from ..operators.helpers import arrays_for, tensor

DIRECTML, D3D12 = LIBRARY_FOLDER / "libdirectml.so", LIBRARY_FOLDER / "libd3d12.so"
pytestmark = pytest.mark.skipif(not DIRECTML.is_file(), reason="libdirectml.so was not built")
ROWS = np.arange(6, dtype=np.float32).reshape(2, 3)


def add(width=3):
    return dml.DML_ELEMENT_WISE_ADD_OPERATOR_DESC(
        tensor("FLOAT32", (2, 3)), tensor("FLOAT32", (2, 3)), tensor("FLOAT32", (2, width))
    )


@pytest.fixture(scope="module", autouse=True)
def python_tells_as_before():
    """The library writes what is raised, for programs in C; other tests of this process are Python's."""
    raising_tells = debug_output._raising_tells
    yield
    debug_output._raising_tells = raising_tells


@pytest.fixture(scope="module")
def library():
    with hardware.open(DIRECTML, D3D12) as opened:
        yield opened


def test_what_it_says_and_computes(library):
    assert library.feature_level == max(dml.DML_FEATURE_LEVEL)
    assert hardware.validate(add()) == (0, "CreateOperator")
    assert hardware.validate(add(4)) == (dml.E_INVALIDARG, "CreateOperator")
    (found,) = hardware.evaluate(add(), [ROWS, ROWS])
    assert (found == ROWS * 2).all()
    comparison = hardware.compare(add(), [ROWS, ROWS])
    assert comparison.same
    assert "OutputTensor is the same" in str(comparison)


def test_an_evaluation_releases_what_it_creates(library):
    hardware.evaluate(add(), [ROWS, ROWS])
    held = [item for item in gc.get_objects() if isinstance(item, Object) and item.address]
    assert {item.interface for item in held} == {"ID3D12Device", "IDMLDevice1"}


def test_what_only_compiling_refuses(library):
    """GRU with CELU, as Microsoft's library has it."""
    desc = next(
        case.desc
        for case in hardware.read_cases(CASES)
        if "stage 2" in case.refused and case.desc.name == "GRU"
    )
    verdict = library.validate(desc)
    assert (verdict.hresult, verdict.stage) == (dml.E_UNEXPECTED, "CompileOperator")
    with pytest.raises(dml.DMLError) as raised:
        library.evaluate(desc, arrays_for(desc, 0))
    assert raised.value.hresult == dml.E_UNEXPECTED


def test_graphs(library):
    """Of two operators in a row; the edge between them needs the same size on both sides."""

    def connect(operators):
        nodes = [operator_node(operator, b"") for operator in operators]
        edges = [
            dml.DML_INPUT_GRAPH_EDGE_DESC(0, 0, 0),
            dml.DML_INPUT_GRAPH_EDGE_DESC(0, 0, 1),
            dml.DML_INTERMEDIATE_GRAPH_EDGE_DESC(0, 0, 1, 0),
            dml.DML_INPUT_GRAPH_EDGE_DESC(1, 1, 1),
            dml.DML_OUTPUT_GRAPH_EDGE_DESC(1, 0, 0),
        ]
        return graph_desc(2, 1, nodes, edges)

    small = dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, [1, 1, 1, 1])
    single = dml.DML_ELEMENT_WISE_ADD_OPERATOR_DESC(small, small, small)
    assert library.validate_graph([add(), add()], connect) == (0, "CompileGraph")
    assert library.validate_graph([add(), single], connect) == (dml.E_INVALIDARG, "CompileGraph")
    assert library.validate_graph([add(), add(4)], connect) == (dml.E_INVALIDARG, "CreateOperator")


CASES = Path(__file__).parents[1] / "fidelity" / "directml_1_13_cases.jsonl.gz"


def test_persistent_temporary_and_owned_memory(library):
    """What the calls bind: weights that DirectML owns, strided outputs, absent tensors, several outputs."""
    owned = tensor("FLOAT32", (1, 1, 3, 4), flags=1)
    gemm = dml.DML_GEMM_OPERATOR_DESC(
        tensor("FLOAT32", (1, 1, 2, 3)),
        owned,
        None,
        tensor("FLOAT32", (1, 1, 2, 4), [16, 16, 8, 2]),
        Alpha=1.0,
    )
    weights = np.arange(12, dtype=np.float32).reshape(1, 1, 3, 4)
    (found,) = library.evaluate(gemm, [ROWS.reshape(1, 1, 2, 3), weights, None])
    assert (found == ROWS @ weights[0, 0]).all()


@pytest.mark.parametrize("name", sorted(SCHEMAS))
def test_every_operator(library, name):
    """Through COM and memory as in Python."""
    desc = valid_desc(RandomSource(3), name)
    comparison = library.compare(desc, arrays_for(desc, 3))
    if not comparison.failure:
        assert comparison.same, str(comparison)


def test_objects_are_released():
    before = dml.live_objects() if hasattr(dml, "live_objects") else None
    with hardware.open(DIRECTML, D3D12) as opened:
        opened.compare(add())
    opened.close()
    with pytest.raises(ValueError, match="released"):
        opened.validate(add())
    assert before is None or dml.live_objects() == before


def test_for_validation_alone():
    with hardware.open(DIRECTML) as opened:
        assert opened.validate(add()).accepted
        assert opened.compare(add()).outputs is None
        with pytest.raises(hardware.HardwareError, match="without d3d12"):
            opened.evaluate(add(), [ROWS, ROWS])


def test_nothing_is_open():
    hardware.close()
    with pytest.raises(hardware.HardwareError, match=r"hardware\.open"):
        hardware.validate(add())


@pytest.mark.parametrize(
    ("paths", "text"),
    [
        (["{tmp}/none.so"], "directml: .* is not a file"),
        (["{tmp}/text.so"], "directml: .* cannot be loaded"),
        (["{libc}"], "has no DMLCreateDevice1: it is not DirectML"),
        (["C:\\Windows\\System32\\DirectML.dll"], "is a Windows library, which linux cannot load"),
        (["{tmp}/DirectML.dll"], "is a Windows library"),
        (["{directml}", "{tmp}/none.so"], "d3d12: .* is not a file"),
        (["{directml}", "{libc}"], "has no D3D12CreateDevice: it is not Direct3D 12"),
        (["{directml}", "{d3d12}", "{tmp}/none.so"], "dxcore: .* is not a file"),
    ],
)
def test_what_cannot_be_opened(tmp_path, paths, text):
    (tmp_path / "text.so").write_text("no library")

    with open("/proc/self/maps", encoding="utf-8") as maps:
        libc = next(line.split()[-1] for line in maps if "libc.so" in line or "libc-" in line)
    names = {"tmp": tmp_path, "libc": libc, "directml": DIRECTML, "d3d12": D3D12}
    hardware.close()
    with pytest.raises(hardware.HardwareError, match=text) as raised:
        hardware.open(*(path.format(**names) for path in paths))
    assert "\n" not in str(raised.value)
    with pytest.raises(hardware.HardwareError, match="no library is open"):
        hardware.validate(add())


def test_a_library_that_ends_its_process(tmp_path):
    """The device is a table of functions that crash."""
    source, built = tmp_path / "crash.c", tmp_path / "crash.so"
    source.write_text(CRASHING_OPERATOR)
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", built, source], check=True)
    desc = decode_operator_desc(add()).desc
    with hardware.Isolated(built) as library:
        for _ in range(2):
            found = library.compare(desc)
            assert str(found) == "DML_OPERATOR_ELEMENT_WISE_ADD: ended by signal 11 (SIGSEGV)"


CRASHING_OPERATOR = """
#include <signal.h>
static int answer(void* self, ...) { return 0; }
static int crash(void* self, ...) { raise(SIGSEGV); return 0; }
static int levels(void* self, int feature, unsigned size, const void* query, unsigned count, unsigned* support)
{
    *support = 0x6200;
    return 0;
}
static void* table[] = {
    answer, answer, answer, answer, answer, answer, answer, levels, crash, crash, crash, crash, crash
};
static void** device = table;
int DMLCreateDevice1(void* d3d12, int flags, int level, const void* iid, void** found)
{
    *found = &device;
    return 0;
}
"""


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "directml_py", "compare", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


@pytest.fixture
def files(tmp_path):
    plain = {"DataType": "FLOAT32", "Sizes": [2, 3]}
    desc = {
        "operator": "ELEMENT_WISE_ADD",
        "desc": {"ATensor": plain, "BTensor": plain, "OutputTensor": plain},
    }
    (tmp_path / "desc.json").write_text(json.dumps(desc))
    return tmp_path


@pytest.mark.slow
def test_the_command(files):
    found = run(files / "desc.json", "--directml", DIRECTML, "--d3d12", D3D12)
    assert found.returncode == 0, found.stderr
    assert "there accepted; here accepted\n  OutputTensor is the same" in found.stdout


@pytest.mark.slow
def test_the_command_on_graphs_and_captures(files):
    graph = Graph()
    doubled = graph.add(*[graph.input_tensor(0, np.float32, (2, 3))] * 2)
    graph.outputs = {"y": graph.activation_relu(doubled)}
    save_graph(files / "graph.bin", graph)
    program = files / "program.py"
    program.write_text(PROGRAM)
    recording = [sys.executable, "-m", "directml_py", "capture", str(files / "capture"), "--", str(program)]
    subprocess.run(recording, check=True, env={**os.environ, "DIRECTML_PY_CAPTURE": ""})
    for file, count in (("graph.bin", 2), ("capture", 1)):
        found = run(files / file, "--directml", DIRECTML, "--d3d12", D3D12)
        assert found.returncode == 0, found.stderr
        assert found.stdout.count("OutputTensor is the same") == count, found.stdout


PROGRAM = """
import numpy as np
import directml_py as dml

sizes = [2, 3]
buffer = dml.DML_BUFFER_TENSOR_DESC(
    DataType=dml.DML_TENSOR_DATA_TYPE_FLOAT32, DimensionCount=2, Sizes=sizes, TotalTensorSizeInBytes=24
)
rows = dml.DML_TENSOR_DESC(dml.DML_TENSOR_TYPE_BUFFER, buffer)
dml.evaluate(dml.DML_ACTIVATION_RELU_OPERATOR_DESC(rows, rows), [np.ones((2, 3), np.float32)])
"""


@pytest.mark.slow
def test_the_command_asks_for_a_library(files):
    found = run(files / "desc.json")
    assert found.returncode == 2
    assert found.stderr == (
        "compare: give --directml, the library to compare with; only recorded cases (.jsonl) need none\n"
    )
    assert run(files / "none.json").returncode == 2
    assert run(files / "desc.json", "--directml", "C:\\DirectML.dll").returncode == 2


def test_disagreements_come_back_as_cases(files):
    """A library that refuses everything; what is saved is what the emulator is held against afterwards."""
    source, built = files / "refuse.c", files / "refuse.so"
    source.write_text(CRASHING_OPERATOR.replace("raise(SIGSEGV); return 0;", "return 0x80070057;"))
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", built, source], check=True)
    saved = files / "saved.jsonl"
    found = run(files / "desc.json", "--directml", built, "--save", saved)
    assert found.returncode == 1, found.stderr
    assert "there refused by CreateOperator: E_INVALIDARG, 0x80070057; here accepted" in found.stdout
    (case,) = hardware.read_cases(saved)
    assert case.refused == "0x80070057 at stage 1 CreateOperator"
    again = run(saved)
    assert again.returncode == 1
    assert "there 0x80070057 at stage 1 CreateOperator; here []" in again.stdout


def test_cases_are_read_as_they_were_written(tmp_path):
    cases = list(hardware.read_cases(CASES))
    hardware.write_cases(tmp_path / "again.jsonl", cases)
    for case, again in zip(cases, hardware.read_cases(tmp_path / "again.jsonl"), strict=True):
        assert (case.name, case.refused) == (again.name, again.refused)
        # repr distinguishes NaN, and shows all values of the desc.
        assert repr(case.desc) == repr(again.desc)
        arrays = [(case.inputs, again.inputs), (case.outputs or [], again.outputs or [])]
        for one, other in arrays:
            assert [None if x is None else (x.dtype, x.shape, x.tobytes()) for x in one] == [
                None if x is None else (x.dtype, x.shape, x.tobytes()) for x in other
            ]


def test_floats_of_all_kinds_are_kept(tmp_path):
    numbers = [float("nan"), float("inf"), -0.0, float(np.float32(1e-45)), 3.4028234663852886e38]
    one = TensorDesc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, (len(numbers),))
    descs = [
        build_operator_desc(
            SCHEMAS["ACTIVATION_ELU"], {"InputTensor": one, "OutputTensor": one, "Alpha": number}
        )
        for number in numbers
    ]
    cases = [hardware.Case(f"ACTIVATION_ELU-0-{i}", desc, [None], None, "x") for i, desc in enumerate(descs)]
    hardware.write_cases(tmp_path / "floats.jsonl.gz", cases)
    again = [case.desc.Alpha for case in hardware.read_cases(tmp_path / "floats.jsonl.gz")]
    assert np.array(again).tobytes() == np.array(numbers).tobytes()
