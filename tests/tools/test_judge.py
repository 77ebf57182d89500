"""The judge, with fake libraries."""

from __future__ import annotations

import re
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from directml_py.hardware.loading import LIBRARY_FOLDER
from directml_py.operators import every_rule
from tools.judging.disagreements import STRICTER

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(
    not (LIBRARY_FOLDER / "libdirectml.so").is_file(), reason="libdirectml.so was not built"
)

LIBRARY = """
#include <signal.h>
static int answer(void* self, ...) { return 0; }
static int create(void* self, const int* desc, const void* iid, void** found)
{
    static int calls;
    if (++calls % 50 == 0) raise(SIGSEGV);
    return 0x80070057;
}
static int levels(void* self, int feature, unsigned size, const void* query, unsigned count, unsigned* support)
{
    *support = 0x6200;
    return 0;
}
static void* table[] = { answer, answer, answer, answer, answer, answer, answer, levels, create };
static void** device = table;
int DMLCreateDevice1(void* d3d12, int flags, int level, const void* iid, void** found)
{
    *found = &device;
    return 0;
}
"""


def test_what_is_listed_exists():
    known = [rule.id for rule in every_rule() if not rule.page_only]
    for pattern in STRICTER:
        assert any(fnmatchcase(rule, pattern) for rule in known), pattern


def judge(library, operators):
    command = [sys.executable, "tools/judge.py", "--descs", "400", "--library", str(library)]
    return subprocess.run(
        [*command, "--operators", operators, "--workers", "2", "--examples", "1"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_library_that_agrees():
    """The emulator's own, about an operator that its newest level changed nothing of."""
    found = judge(LIBRARY_FOLDER / "libdirectml.so", "JOIN|ELEMENT_WISE_LOGICAL_.*")
    assert found.returncode == 0, found.stdout + found.stderr
    assert re.search(r"\d{3,} descs, 0 unlisted disagreements", found.stdout)


COUNTED = """
import sys
from pathlib import Path
from judging.workers import JudgingWorker, _cases_done
running = [JudgingWorker(Path(sys.argv[1]), "valid", index, 2, 21) for index in range(2)]
print(sum(1 for _ in _cases_done(running)), running)
"""


@pytest.mark.slow
def test_every_case_is_counted_while_it_runs():
    """For the bar on a terminal: 21 cases of two workers, and nobody is left."""
    found = subprocess.run(
        [sys.executable, "-c", COUNTED, str(LIBRARY_FOLDER / "libdirectml.so")],
        cwd=ROOT / "tools",
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert found.stdout == "21 []\n", found.stderr


@pytest.mark.slow
def test_a_library_that_refuses_and_crashes(tmp_path):
    """Every valid desc is a false green, except every fiftieth, at which a worker is restarted."""
    (tmp_path / "library.c").write_text(LIBRARY)
    built = tmp_path / "library.so"
    subprocess.run(["gcc", "-shared", "-fPIC", "-o", built, tmp_path / "library.c"], check=True)
    found = judge(built, "JOIN")
    assert found.returncode == 1, found.stderr
    counts = re.search(r"valid: 160 descs, 160 disagreements: (.*)", found.stdout)
    assert counts is not None, found.stdout
    assert "'false green': 158" in counts[1]
    assert "'unlisted crash': 2" in counts[1]
    assert "false green: JOIN: valid: 158" in found.stdout
