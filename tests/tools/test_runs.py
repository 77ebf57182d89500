"""Benchmark runs: what is measured, what pyperf keeps of it, the table of README.md."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
from pathlib import Path

import bench
import pyperf
import pytest
from benchmarks import readme_table
from benchmarks.benchmark_case import BenchmarkCase, filled
from benchmarks.limits import sgemm
from benchmarks.networks import LAYERS
from benchmarks.runs import LIMIT, OURS, Row, RowComparison, comparisons, metadata, suite
from toolchain import need_package

from directml_py.kernels.backend import backend


@pytest.mark.slow
def test_the_package_beside_the_benchmark_is_measured(tmp_path):
    """Whatever the working directory and the path."""
    (tmp_path / "directml_py.py").write_text("raise SystemExit('another package')")
    own = Path(bench.__file__).resolve()
    done = subprocess.run(
        [sys.executable, str(own), "--only", "no such row"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
    )
    assert done.returncode == 1, done.stderr
    assert f"measuring {own.parents[1] / 'directml_py'}\n" in done.stderr


def about(processor="Another (R) 9", loops="native (avx2, 2 threads)"):
    return {
        "date": "2030-01-02 03:04:05",
        "cpu_model_name": processor,
        "cpu_count": 4,
        "platform": "Linux",
        "threads": 2,
        f"{OURS}_version": f"1.0.0, {loops}",
        "NumPy_version": "2.0",
    }


def chosen_rows(ours=0.0015, **peers):
    sides = {OURS: [ours], **{name: [seconds] for name, seconds in peers.items()}}
    return [Row(title, sides) for title in readme_table.CHOSEN.values()]


def test_sides_are_compared_by_their_medians(tmp_path):
    """Through the file: the slow round of 9 s, which is no median, changes nothing."""
    rows = [
        Row("ADD packed", {OURS: [2.0, 9.0, 1.0], "NumPy": [4.0, 4.0], "PyTorch": [5.0], LIMIT: [1.0, 1.0]}),
        Row("small validate", {OURS: [7e-6]}),
        Row("memory peak", {OURS: [3 * 2**20], "ONNX Runtime": [2**21]}, "byte"),
    ]
    path = tmp_path / "run.json"
    suite(rows, about()).dump(str(path))
    assert list(comparisons(pyperf.BenchmarkSuite.load(str(path)))) == [
        RowComparison("ADD packed", "2.00 sec", "NumPy", "4.00 sec", "0.50", "2.00"),
        RowComparison("small validate", "7.00 us"),
        RowComparison("memory peak", "3072.0 KiB", "ONNX Runtime", "2048.0 KiB", "1.50"),
    ]


def test_a_peer_that_is_not_limited_is_compared_by_itself():
    rows = [
        Row("ADD", {OURS: [2.0], "NumPy": [4.0], "ONNX Runtime": [1.0]}),
        Row("SUM", {OURS: [2.0], "NumPy": [1.0]}),
    ]
    run = suite(rows, about())
    assert [(one.best, one.ratio, one.apart) for one in comparisons(run, ["ONNX Runtime"])] == [
        ("NumPy", "0.50", ("2.00",)),
        ("NumPy", "2.00", ("",)),
    ]
    table = bench.comparison_table(run, ["ONNX Runtime"])
    assert [(column.header, column.footer) for column in table.columns][4:] == [
        ("ours / its", "1.00"),
        ("ours / limit", ""),
        ("ours / ONNX Runtime, not limited", "2.00"),
    ]


@pytest.mark.slow
@pytest.mark.skipif(
    backend.native is None or backend.isa == "baseline",
    reason="this processor has no AVX2, or there are no loops",
)
def test_loops_and_libraries_are_limited(tmp_path):
    """What each library says of itself, in the process that measures."""
    output = tmp_path / "run.json"
    command = [sys.executable, bench.__file__, "--isa", "avx2", "--only", "GEMM 64,", "--output", str(output)]
    subprocess.run(command, capture_output=True, text=True, check=True)
    found = pyperf.BenchmarkSuite.load(str(output)).get_metadata()
    assert "native (avx2, " in found[f"{OURS}_version"]
    script = tmp_path / "script.py"
    script.write_text(
        "import sys\n"
        "from benchmarks import instruction_sets\n"
        "instruction_sets.limit_libraries('avx2', sys.argv)\n"
        "import numpy as np\n"
        "print(np.show_config('dicts')['SIMD Extensions']['found'])\n"
    )
    done = subprocess.run(
        [sys.executable, str(script)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(bench.__file__).parent)},
    )
    assert "AVX2" in done.stdout or "X86_V3" in done.stdout
    assert "AVX512" not in done.stdout
    assert "X86_V4" not in done.stdout


def test_a_run_says_on_what_it_was_measured_and_names_no_folder_and_no_host():
    run = suite([Row("ADD", {OURS: [1.0]})], metadata(2))
    found = run.get_metadata()
    assert {"cpu_count", "python_version", f"{OURS}_version", "NumPy_version", "threads"} <= set(found)
    assert not {"hostname", "python_executable"} & set(found)
    assert platform.release() not in "".join(map(str, found.values()))


def test_the_table_is_written_between_the_marks_and_nowhere_else():
    run = suite(chosen_rows(NumPy=9.0, PyTorch=0.003), about())
    text = f"before\n{readme_table.BEGIN}old\n{readme_table.END}after\n"
    other = suite(chosen_rows(0.0009, NumPy=0.0003)[:-1], about("Another", "NumPy"))
    once = readme_table.rewrite(text, [run, other])
    assert readme_table.rewrite(once, [run, other]) == once
    heading = "| | Another (R) 9 (avx2) | ours / fastest other | Another |"
    assert once.startswith(f"before\n{readme_table.BEGIN}\n{heading}")
    assert once.endswith(f"{readme_table.END}after\n")
    assert "old" not in once
    assert "| 1.50 ms | 0.50 PyTorch | 900 us | 3.00 NumPy |" in once
    assert f"| {list(readme_table.CHOSEN)[-1]} | 1.50 ms | 0.50 PyTorch |  |  |" in once
    assert "Measured 2030-01-02 03:04 with 2 threads on 4 processors: NumPy 2.0, directml-py 1.0.0, " in once


def test_the_last_run_of_each_processor_is_kept(tmp_path, monkeypatch):
    """Of one name, some processors have AVX-512 and some do not."""
    monkeypatch.setattr(readme_table, "PROCESSORS", tmp_path)
    for ours in (1.0, 2.0):
        readme_table.remember(suite(chosen_rows(ours), about()))
    readme_table.remember(suite(chosen_rows(3.0), about(loops="native (avx512, 2 threads)")))
    assert [path.name for path in sorted(tmp_path.iterdir())] == [
        "another-r-9-avx2.json",
        "another-r-9-avx512.json",
    ]
    assert [next(comparisons(run)).ours for run in readme_table.remembered()] == ["2.00 sec", "3.00 sec"]


def test_what_a_run_lacks_is_named():
    with pytest.raises(ValueError, match=re.escape("no row 'ADD packed, float32, 64 MiB'")):
        readme_table.remember(suite(chosen_rows()[1:], about()))
    with pytest.raises(ValueError, match="must have the lines"):
        readme_table.rewrite("no marks", [suite(chosen_rows(), about())])


def test_readme_s_table_is_one_that_the_tool_writes():
    text = readme_table.README.read_text(encoding="utf-8")
    written = text.partition(readme_table.BEGIN)[2].partition(readme_table.END)[0]
    assert written == f"\n{readme_table.table(readme_table.remembered())}\n"


def test_a_row_that_cannot_be_measured_is_named_and_left_out(monkeypatch, capsys):
    def fails(threads):
        raise MemoryError("no room")

    def works(threads):
        raise AssertionError("not wanted")

    module = type(bench)("benchmarks.odd")
    module.cases = lambda: [BenchmarkCase("BAD", "one", fails), BenchmarkCase("GOOD", "two", works)]
    monkeypatch.setattr(bench, "modules", lambda: [module])
    assert bench.measured(bench.wanted(["BAD"], False), 1) == []
    assert "BAD one cannot be measured: MemoryError: no room" in capsys.readouterr().err


def test_what_is_listed(capsys):
    need_package("onnxruntime")
    assert bench.main(["--list", "--only", "GEMM 2048"]) == 0
    assert "GEMM 2048, float32" in capsys.readouterr().out.splitlines()
    usual, every = ({title for title, _ in bench.chosen(bench.wanted([], all_))} for all_ in (False, True))
    assert usual == set(readme_table.CHOSEN.values())
    assert "REDUCE MIN all, packed, float32, 1 KiB" in every - usual


@pytest.mark.slow
def test_a_case_is_measured_beside_its_limit():
    """A limit has several candidates; only the fastest is measured again."""
    import benchmarks.benchmark_case as cases
    from benchmarks.moving import cases as moving

    case = next(one for one in moving() if one.name == "rows, int8, 1 KiB")
    cases.FASTEST.clear()
    first, again = case.measure(1), case.measure(1)
    assert first.sides.keys() == again.sides.keys() >= {OURS, "NumPy"}
    assert (LIMIT in first.sides) == bool(cases.FASTEST)


@pytest.mark.parametrize("operations", [1, 1000, 2 * 64**4, 231_211_008])
def test_the_product_of_a_limit_takes_as_many_operations(operations):
    left, right, _ = sgemm(operations).args
    found = 2 * left.shape[0] * left.shape[1] * right.shape[1]
    assert left.shape[0] == left.shape[1] == right.shape[0]
    assert found == pytest.approx(operations, rel=0.01, abs=2)


def test_numbers_do_not_repeat_soon():
    x = filled("float32", (1 << 21,))
    assert x[0] == x[1_000_003] != x[1 << 20]


def test_the_limit_of_a_convolution_is_its_product():
    """7 x 7 windows over 3 channels, for each of 64 x 112 x 112 outputs."""
    assert LAYERS[0].limit == ("sgemm", 2 * 64 * 112 * 112 * 3 * 7 * 7)
    assert {one.name for one in LAYERS if one.limit is None} == {one.name for one in LAYERS if one.groups > 1}
