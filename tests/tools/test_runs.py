"""Benchmark runs: verdicts, files, the page, the table of README.md."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import bench
import pytest
from benchmarks.bars import BARS, LEFT_OUT, RowLimits, bar_of, matches, verdicts
from benchmarks.benchmark_case import BenchmarkCase, filled
from benchmarks.interleaved_timing import Row
from benchmarks.limits import sgemm
from benchmarks.networks import LAYERS
from benchmarks.reports import readme
from benchmarks.reports.html_page import page
from benchmarks.runs import BenchmarkRun, load, save

MACHINE = {"NumPy": "2.0", "processor": "a <fast> one & another"}


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
    assert done.returncode == 0, done.stderr
    assert f"measuring {own.parents[1] / 'directml_py'}\n" in done.stderr


def run_of(*rows):
    return BenchmarkRun("2030-01-02 03:04", MACHINE, rows)


def row(group, name, ours, theirs=None, limit=None, **others):
    return Row(group, name, ours, {"NumPy": 9e9, "PyTorch": theirs} if theirs else {}, limit, **others)


def chosen_rows():
    titles = [title.split(" ", 1) for title in readme.CHOSEN.values()]
    return [row(group, name, 1500.0, 3000.0, 1000.0) for group, name in titles]


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (row("ADD", "packed, float32, 64 MiB", 10.0, 10.0, 8.0), [("peer", True), ("limit", True)]),
        (row("ADD", "packed, float32, 64 MiB", 10.1, 10.0, 8.0), [("peer", False), ("limit", False)]),
        (row("chain of ten", "float32, 64 MiB", 10.0, 20.0, 7.0), [("peer", False), ("limit", True)]),
        (row("CONVOLUTION", "ResNet-50 first, float32", 10.9, 10.0), [("peer", True)]),
        (row("CONVOLUTION", "ResNet-50 first, float32", 11.1, 10.0), [("peer", False)]),
        (row("JOIN", "rows, int8, 256 KiB", 10.9, 10.0, 2.0), [("peer", True)]),
        (row("JOIN", "rows, int8, 1 KiB", 99.0, 10.0, 2.0), []),
        (row("GEMM", "2048, float32", 10.0, 10.0, 9.0), [("peer", True), ("limit", False)]),
        (row("compile", "SqueezeNet, compiled again", 10.0, 6.0), [("peer", True)]),
        (row("memory", "style transfer, peak resident", 13.0, 10.0), [("peer", False)]),
        (row("small", "evaluate a JOIN of three", 121.0, 1.0), [("amount", False)]),
        (row("small", "execute a recorded JOIN of three and signal", 4.9, 1.0), [("amount", True)]),
        (row("ADD", "packed, float32, 64 MiB", 10.0), []),
    ],
)
def test_bars(found, expected):
    assert [(one.what, one.met) for one in verdicts(found)] == expected


def test_bars_that_name_rows_have_them():
    """An entry of the table that no row matches says nothing; some are of modules that only tell when they measure."""
    together = ("capture", "scaling", "small", "graphs", "descs", "dispatch", "native", "geometric mean")
    titles = [title for _, title, _ in bench.chosen(bench.wanted([], True))]
    for words, bar in BARS:
        if not words.startswith(together):
            assert any(bar_of(Row("", title, 1.0)) is bar for title in titles), words
    assert bar_of(Row("CONVOLUTION", "1x1, 1 KiB", 1.0)) == RowLimits()


def test_each_entry_of_what_is_left_out_leaves_something_out():
    titles = [title for _, title, _ in bench.chosen(bench.wanted([], True))]
    assert not [words for words in LEFT_OUT if not any(matches(title, words) for title in titles)]


def test_a_convolution_s_mean_is_a_row_behind_them():
    rows = [
        row("CONVOLUTION", "a", 1.0, 2.0),
        row("CONVOLUTION_INTEGER", "b", 2.0, 1.0),
        row("CONVOLUTION", "c", 1.0),
    ]
    titles = [one.title for one in run_of(*rows, row("LSTM", "d", 1.0, 1.0)).with_means()]
    assert titles == [
        "CONVOLUTION a",
        "CONVOLUTION_INTEGER b",
        "CONVOLUTION geometric mean of 2",
        "CONVOLUTION c",
        "LSTM d",
    ]
    mean = run_of(*rows).with_means()[2]
    assert mean.ratio == pytest.approx(1.0)
    assert [(one.bar, one.met) for one in verdicts(mean)] == [(0.9, False)]


def test_runs_are_kept_and_later_ones_count(tmp_path):
    first = run_of(row("ADD", "a", 1.0, 2.0, 3.0, family="sums"), row("ADD", "b", 4.0, unit="ms"))
    second = BenchmarkRun("2031-01-01 00:00", {}, [row("ADD", "b", 5.0), row("ADD", "c", 6.0)])
    paths = [tmp_path / "first.json", tmp_path / "second.json"]
    for run, path in zip((first, second), paths):
        save(run, path)
    assert load(paths[:1]) == BenchmarkRun(first.date, MACHINE, list(first.rows))
    both = load(paths)
    assert [(one.name, one.ours) for one in both.rows] == [("a", 1.0), ("b", 5.0), ("c", 6.0)]
    assert both.date == second.date


def test_the_table_is_written_between_the_marks_and_nowhere_else():
    run = run_of(*chosen_rows(), row("ADD", "unasked", 1.0))
    text = f"before\n{readme.BEGIN}old\n{readme.END}after\n"
    other = BenchmarkRun(
        "2031-01-01 00:00",
        {"processor": "Another, 4 logical"},
        [Row(one.group, one.name, 900.0, {"NumPy": 300.0}) for one in chosen_rows()[:-1]],
    )
    once = readme.rewrite(text, [run, other])
    assert readme.rewrite(once, [run, other]) == once
    assert once.startswith(
        f"before\n{readme.BEGIN}\n| | {readme.processor_name(run)} | ours / fastest other | Another |"
    )
    assert once.endswith(f"{readme.END}after\n")
    assert "old" not in once
    assert "| 1.50 ms | 0.50 PyTorch | 900.00 µs | 3.00 NumPy |" in once
    assert f"| {list(readme.CHOSEN)[-1]} | 1.50 ms | 0.50 PyTorch |  |  |" in once
    assert "Measured 2030-01-02 03:04: " in once
    assert "Measured 2031-01-01 00:00: processor Another, 4 logical." in once


def test_the_last_run_of_each_processor_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(readme, "PROCESSORS", tmp_path)
    readme.remember(run_of(*chosen_rows(), row("ADD", "unasked", 1.0)))
    other = BenchmarkRun("2031-01-01 00:00", {"processor": "Another (R) 9, 4 logical"}, chosen_rows())
    readme.remember(other)
    readme.remember(BenchmarkRun("2032-01-01 00:00", other.machine, chosen_rows()))
    assert "another-r-9.json" in {path.name for path in tmp_path.iterdir()}
    assert sorted(run.date for run in readme.remembered()) == ["2030-01-02 03:04", "2032-01-01 00:00"]


def test_processors_of_one_name_are_told_apart_by_their_loops(tmp_path, monkeypatch):
    monkeypatch.setattr(readme, "PROCESSORS", tmp_path)
    for loops in ("avx2", "avx512"):
        machine = {"directml-py": f"1.0.0, native ({loops}, 2 threads)", "processor": "Another, 2 logical"}
        readme.remember(BenchmarkRun("2032-01-01 00:00", machine, chosen_rows()))
    assert [readme.processor_name(run) for run in readme.remembered()] == [
        "Another (avx2)",
        "Another (avx512)",
    ]


def test_the_table_s_rows_alone_are_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(readme, "PROCESSORS", tmp_path)
    readme.remember(run_of(*chosen_rows(), row("ADD", "unasked", 1.0)))
    assert {len(run.rows) for run in readme.remembered()} == {len(readme.CHOSEN)}


def test_what_a_run_lacks_is_named():
    with pytest.raises(ValueError, match=re.escape("no row 'ADD packed, float32, 64 MiB'")):
        readme.remember(run_of(*chosen_rows()[1:]))
    with pytest.raises(ValueError, match="must have the lines"):
        readme.rewrite("no marks", [run_of(*chosen_rows())])


def test_readme_s_table_is_one_that_the_tool_writes():
    text = readme.README.read_text(encoding="utf-8")
    written = text.partition(readme.BEGIN)[2].partition(readme.END)[0]
    assert written == f"\n{readme.table(readme.remembered())}\n"


def test_the_rows_of_readme_s_table_exist():
    assert set(readme.CHOSEN.values()) <= {title for _, title, _ in bench.chosen(bench.wanted([], False))}


class Outline(HTMLParser):
    """Classes of rows, texts, and that every element that is opened is closed."""

    def __init__(self):
        super().__init__()
        self.open, self.classes, self.bars, self.texts, self.styles = [], [], [], [], []

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        assert not {"src", "href", "onclick"} & set(values), "it needs nothing else"
        if tag not in ("meta", "input", "col"):
            self.open.append(tag)
        if tag == "tr" and "class" in values:
            self.classes.append(values["class"])
        if "track" in values.get("class", ""):
            self.bars.append(values["class"])
        if "style" in values:
            self.styles.append(values["style"])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def test_the_page():
    outline = Outline()
    outline.feed(
        page(
            run_of(
                row("ADD", "packed, 64 MiB", 5.0, 10.0, 4.0, family="sums & <more>"),
                row("ADD", "padded, 64 MiB", 50.0, 10.0, family="sums & <more>"),
                row("small", "validate", 7.0, family="others"),
            )
        )
    )
    assert outline.open == []
    assert outline.classes == ["missed"]
    assert outline.bars == ["track met", "track missed"]
    # The bar of a ratio of 0.5 fills a quarter, that of 5 all; both must end where 1 is.
    assert outline.styles == ["width:25.0%", "left:50.0%", "width:100.0%", "left:50.0%"]
    assert {"a <fast> one & another", "sums & <more> ", "2030-01-02 03:04"} <= set(outline.texts)
    assert "3 rows: 2 of 3 bars met." in outline.texts


def test_a_row_that_cannot_be_measured_is_named_and_left_out(monkeypatch, capsys):
    def fails(threads):
        raise MemoryError("no room")

    def works(threads):
        raise AssertionError("not wanted")

    module = type(bench)("benchmarks.odd", "Odd things.\n\nMore.")
    module.cases = lambda: [BenchmarkCase("BAD", "one", fails), BenchmarkCase("GOOD", "two", works)]
    monkeypatch.setattr(bench, "modules", lambda: [module])
    run = bench.measured(bench.wanted(["BAD"], False), 1)
    assert run.rows == []
    assert "BAD one cannot be measured: MemoryError: no room" in capsys.readouterr().err


def test_what_is_listed(capsys):
    assert bench.main(["--list", "--only", "GEMM 2048"]) == 0
    assert "GEMM 2048, float32" in capsys.readouterr().out.splitlines()
    short, every = ({title for _, title, _ in bench.chosen(bench.wanted([], all_))} for all_ in (False, True))
    assert short < every
    assert "REDUCE SUM trailing, packed, float32, 64 MiB" in short
    assert "REDUCE MIN all, packed, float32, 1 KiB" in every - short


def test_a_case_is_measured_beside_its_limit():
    """A limit has several candidates; only the fastest is measured again."""
    import benchmarks.benchmark_case as cases
    from benchmarks.moving import cases as moving

    case = next(one for one in moving() if one.name == "rows, int8, 1 KiB")
    cases.FASTEST.clear()
    first, again = case.measure(1), case.measure(1)
    assert first.peers["NumPy"] > 0
    assert (first.limit is None) == (again.limit is None) == (not cases.FASTEST)


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
