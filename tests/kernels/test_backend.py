"""Which kernels are in use, how many threads, and what forks and missing builds do to them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from generators.expected_digest import digest_of

import directml_py as dml
from directml_py.kernels import backend

ROOT = Path(__file__).resolve().parents[2]
SHOW = "from directml_py.kernels import backend; print(backend.title)"
# As if the extension module had not been built.
HIDE = (
    "import sys\n"
    "class Hide:\n"
    "    def find_spec(self, name, path=None, target=None):\n"
    "        if name == 'directml_py.kernels._native': raise ImportError('hidden')\n"
    "sys.meta_path.insert(0, Hide())\n"
)
BIG = (
    "import numpy as np, directml_py as dml\n"
    "n = 1 << 21\n"
    "t = dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, [n])\n"
    "one = dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, [1])\n"
    "total = dml.DML_REDUCE_OPERATOR_DESC(dml.DML_REDUCE_FUNCTION_SUM, t, one, Axes=[0])\n"
    "copy = dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(t, t)\n"
    "x = np.arange(n, dtype=np.float32) % 7\n"
    "def check():\n"
    "    (found,) = dml.evaluate(total, [x])\n"
    "    assert found[0] == np.float32(x.astype(np.float64).sum()), found\n"
    "    assert (dml.evaluate(copy, [x])[0] == x).all()\n"
)


def run(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("DIRECTML_PY_")}
    command = [sys.executable, "-c", code]
    return subprocess.run(
        command, capture_output=True, text=True, cwd=ROOT, env={**environment, **variables}, timeout=120
    )


@pytest.fixture(autouse=True)
def _restored():
    before = dml.thread_count()
    yield
    dml.set_thread_count(before)


def test_numpy_is_chosen():
    assert run(SHOW, DIRECTML_PY_KERNELS="numpy").stdout.strip() == "numpy"


@pytest.mark.skipif(backend.native is None, reason="no native kernels")
def test_native_is_chosen_and_is_the_default():
    asked, default = run(SHOW, DIRECTML_PY_KERNELS="native", DIRECTML_PY_THREADS="3"), run(SHOW)
    assert asked.stdout.startswith("native (")
    assert "3 threads" in asked.stdout
    assert default.stdout.startswith("native (")


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("DIRECTML_PY_KERNELS", "cuda"),
        ("DIRECTML_PY_THREADS", "0"),
        ("DIRECTML_PY_THREADS", "-1"),
        ("DIRECTML_PY_THREADS", "two"),
    ],
)
def test_wrong_variables_are_named(variable, value):
    result = run(SHOW, **{variable: value})
    assert result.returncode
    assert f"ValueError: {variable} must be" in result.stderr


def test_without_the_module_numpy_computes():
    result = run(HIDE + SHOW + "\n" + BIG + "check()")
    assert result.returncode == 0, result.stderr
    assert result.stdout.strip() == "numpy"


# As if the extension module had been built from other sources.
OTHER = "import sys, directml_py.kernels\nsys.modules['directml_py.kernels.backend'].DECLARATIONS = '0'\n"


@pytest.mark.skipif(backend.native is None, reason="no native kernels")
def test_kernels_of_other_sources_are_left_alone():
    result = run(OTHER + SHOW)
    assert result.stdout.strip() == "numpy"
    assert result.stderr.count("RuntimeWarning: ") == 1
    assert "/_native." in result.stderr
    assert (
        "was built from sources other than the Python beside it; install the package again" in result.stderr
    )


@pytest.mark.skipif(backend.native is None, reason="no native kernels")
def test_kernels_of_other_sources_cannot_be_asked_for():
    result = run(OTHER + SHOW, DIRECTML_PY_KERNELS="native")
    assert result.returncode == 1
    assert "ImportError: DIRECTML_PY_KERNELS is native, but " in result.stderr
    assert "was built from sources other than" in result.stderr


def test_kernels_of_other_sources_are_no_matter_to_numpy():
    assert run(OTHER + SHOW, DIRECTML_PY_KERNELS="numpy").stderr == ""


DECLARED = """ \
#define DML_MOST 4
typedef struct { int64_t count; int32_t *sizes; } dml_thing;
void dml_run(const dml_thing *thing, int64_t from);
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("MOST 4", "MOST 5"),
        ("DML_MOST", "DML_LEAST"),
        ("int64_t count", "int32_t count"),
        ("int64_t count; int32_t *sizes;", "int32_t *sizes; int64_t count;"),
        ("int32_t *sizes", "int32_t *strides"),
        ("void dml_run", "int dml_run"),
        ("int64_t from", "int64_t from, int64_t to"),
        ("dml_run", "dml_walk"),
        ("*thing,", "thing,"),
    ],
)
def test_what_makes_sources_other_ones(old, new):
    assert old in DECLARED
    assert digest_of(DECLARED) != digest_of(DECLARED.replace(old, new))


def test_what_does_not():
    assert digest_of(DECLARED) == digest_of(DECLARED.replace("const ", "").replace("from", "begin"))


def test_without_the_module_native_cannot_be_had():
    result = run(HIDE + SHOW, DIRECTML_PY_KERNELS="native")
    assert (
        "ImportError: DIRECTML_PY_KERNELS is native, but the native kernels do not load: hidden"
        in result.stderr
    )


def test_thread_count():
    dml.set_thread_count(3)
    assert dml.thread_count() == 3
    if backend.native is not None:
        assert backend.native.lib.dml_get_threads() == 3
    for wrong in (0, -1):
        with pytest.raises(ValueError, match="at least 1"):
            dml.set_thread_count(wrong)
    with pytest.raises(TypeError):
        dml.set_thread_count(1.5)
    assert dml.thread_count() == 3


def test_threads_of_this_process_alone():
    """The default is what the process may use, not what the machine has."""
    code = (
        "import os; os.sched_setaffinity(0, {min(os.sched_getaffinity(0))}); "
        "import directml_py as dml; print(dml.thread_count())"
    )
    assert run(code).stdout.strip() == "1"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_after_a_fork():
    """In the child, while the parent goes on, with several threads in both."""
    code = BIG + (
        "import os, sys\n"
        "dml.set_thread_count(4)\n"
        "check()\n"
        "children = []\n"
        "for _ in range(3):\n"
        "    child = os.fork()\n"
        "    if not child:\n"
        "        check()\n"
        "        os._exit(0)\n"
        "    children.append(child)\n"
        "    check()\n"
        "sys.exit(any(os.waitpid(child, 0)[1] for child in children))\n"
    )
    result = run(code)
    assert result.returncode == 0, result.stderr


def test_from_many_threads_at_once():
    code = BIG + (
        "from concurrent.futures import ThreadPoolExecutor\n"
        "dml.set_thread_count(4)\n"
        "with ThreadPoolExecutor(8) as pool:\n"
        "    list(pool.map(lambda _: check(), range(24)))\n"
    )
    result = run(code)
    assert result.returncode == 0, result.stderr


@pytest.mark.parametrize("text", ["3000000000", "9" * 5000, "0065537"])
def test_more_threads_than_a_machine_has(text):
    show = "backend.native; print(backend.threads)"
    code = f"from directml_py.kernels import backend; {show}"
    result = run(code, DIRECTML_PY_THREADS=text)
    assert (result.stdout.strip(), result.stderr) == ("65536", "")


@pytest.mark.parametrize("text", ["0", "000", "-1", "1.5", "many"])
def test_no_number_of_threads(text):
    result = run("import directml_py as dml; dml.thread_count()", DIRECTML_PY_THREADS=text)
    assert f"DIRECTML_PY_THREADS must be a number above 0, not {text!r}" in result.stderr
