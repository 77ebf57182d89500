"""The runner of tensorflow-directml-plugin's tests, over a folder like that of the plugin."""

from __future__ import annotations

import json
import os
import sys

import pytest
from clients import tf_plugin

TESTS = """
import os, sys, time, unittest

class Cases(unittest.TestCase):
    def test_1_right(self):
        self.assertEqual(sys.argv[1:], ["--flag"])

    def test_2_ends(self):
        os.write(2, b"before\\n  Nodes[0] is wrong [DML-Graph-nodes] (E_INVALIDARG)\\n2024: F op.cc] HRESULT failed\\n")
        os.abort()

    def test_3_fails(self):
        self.assertEqual(1, 2)

    @unittest.skip("not here")
    def test_4_skipped(self):
        pass

    def test_5_hangs(self):
        time.sleep(60)

    def test_6_parts(self):
        for part in 1, 2:
            with self.subTest(part):
                self.assertEqual(part, 1)

    def test_7_right(self):
        if os.path.exists("flaky"):
            raise OSError("flaky")

class Setting(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        raise RuntimeError("no set-up")

    def test_8(self):
        pass

if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
"""

SESSION = """
import os, unittest

class Session(unittest.TestCase):
    def test_session(self):
        self.assertEqual(os.getsid(0), {})
        self.assertEqual(os.getpgrp(), os.getpid())

if __name__ == "__main__":
    unittest.main()
"""


@pytest.fixture
def root(tmp_path):
    groups = [
        {
            "is_python_test": True,
            "tests": [
                {"file": "ops/some_test.py", "args": ["--flag"]},
                {"file": "ops/other_test.py", "disabled": True},
                {"name": "elsewhere", "file": "ops/other_test.py", "disabled_platforms": ["posix"]},
                {"name": "broken", "file": "ops/broken_test.py"},
            ],
        },
        {"is_python_test": False, "tests": [{"file": "../build/c_api_tests"}]},
    ]
    (tmp_path / "tests.json").write_text(json.dumps({"groups": groups}))
    (tmp_path / "ops").mkdir()
    (tmp_path / "ops" / "some_test.py").write_text(TESTS)
    (tmp_path / "ops" / "broken_test.py").write_text("import no_such_module")
    return tmp_path


def run(root, monkeypatch, capsys, *options):
    monkeypatch.setattr(
        sys, "argv", ["tf_plugin.py", str(root), str(root / "results.jsonl"), "--seconds=2", *options]
    )
    assert tf_plugin.main() == 0
    return capsys.readouterr().out


def test_each_test_is_isolated(root, monkeypatch, capsys):
    out = run(root, monkeypatch, capsys)
    rows = tf_plugin.read(root / "results.jsonl")
    assert {test: row["verdict"] for (file, test), row in rows.items() if file == "some_test"} == {
        "Cases.test_1_right": "right",
        "Cases.test_2_ends": "ended",
        "Cases.test_3_fails": "failed",
        "Cases.test_4_skipped": "skipped",
        "Cases.test_5_hangs": "ended",
        "Cases.test_6_parts": "failed",
        "Cases.test_7_right": "right",
        "setUpClass (__main__.Setting)": "failed",
        "": "whole",
    }
    ended = rows["some_test", "Cases.test_2_ends"]
    assert ended["why"] == "SIGABRT:   Nodes[0] is wrong [DML-Graph-nodes] (E_INVALIDARG)"
    assert ended["rule"] == "DML-Graph-nodes"
    assert rows["some_test", "Cases.test_3_fails"]["why"] == "AssertionError: 1 != 2"
    assert rows["some_test", "Cases.test_5_hangs"]["why"].startswith("longer than 2 s")
    broken = rows["broken", ""]
    assert broken["verdict"] == "ended"
    assert "No module named 'no_such_module'" in broken["why"]
    assert {file for file, _ in rows} == {"some_test", "broken"}
    assert "2 files, 0 of them without a failure.\n2 right, 3 failed, 3 ended the process, 1 skipped." in out
    assert "did not pass, 1 name a rule.\n25.00% of the tests that were not skipped pass." in out


@pytest.mark.slow
def test_what_has_a_line_is_not_run_again(root, monkeypatch, capsys):
    run(root, monkeypatch, capsys, "--files=some")
    (root / "ops" / "flaky").touch()
    before = (root / "results.jsonl").read_text()
    assert "2 right" in run(root, monkeypatch, capsys, "--files=some")
    assert (root / "results.jsonl").read_text() == before
    text = (root / "ops" / "some_test.py").read_text()
    (root / "ops" / "some_test.py").write_text(text.replace("assertEqual(1, 2)", "assertEqual(2, 2)"))
    assert "3 right, 2 failed, 2 ended" in run(root, monkeypatch, capsys, "--files=some", "--again")
    lines = [row for row in before.splitlines() if '"whole"' not in row]
    (root / "results.jsonl").write_text("\n".join(lines[:-2]) + "\n")
    assert "1 right, 2 failed, 2 ended" in run(root, monkeypatch, capsys, "--table")
    assert "1 right, 4 failed, 2 ended" in run(root, monkeypatch, capsys, "--files=some")


def test_a_child_stays_in_the_session_of_its_caller(root):
    """`nice` would have no effect on it in another session, whose processes Linux weighs as one group."""
    (root / "ops" / "other_test.py").write_text(SESSION.format(os.getsid(0)))
    file = tf_plugin.TestFile("session", root / "ops" / "other_test.py", [])
    assert [row["verdict"] for row in tf_plugin.run_file(file, set(), 30)] == ["right", "whole"]
