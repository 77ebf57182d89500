"""``tools/fuzz.py``: a run over random descs, and detection of failures."""

from __future__ import annotations

import ctypes
import subprocess
import sys
from pathlib import Path

import pytest
from fuzzing import fuzz_cases
from fuzzing.image import GuardedMemory, image_of
from toolchain import later

import directml_py as dml
from directml_py.descs import decode_operator_desc
from directml_py.testing.decision_source import RandomSource
from directml_py.testing.valid_descs import valid_desc

FUZZ = Path(__file__).resolve().parents[2] / "tools" / "fuzz.py"
linux_only = pytest.mark.skipif(
    not sys.platform.startswith("linux"), reason="memory is probed on Linux alone"
)


@linux_only
@pytest.mark.parametrize("descs", [1_000, *later(30_000)])
def test_random_descs(descs):
    fuzzer, case = fuzz_cases.Fuzzer(), 0
    while fuzzer.descs < descs:
        fuzzer.case(case)
        case += 1
    # A run in which all that was corrupted is refused, or nothing is, would show little.
    counts = fuzzer.counts
    assert counts["valid"] == counts["broken"] == case
    assert counts["corrupted"] == counts["accepted"] + counts["refused"] + counts["type_errors"]
    assert counts["accepted"] > descs / 200
    assert counts["refused"] > descs / 4
    assert counts["type_errors"] > descs / 200


@pytest.mark.parametrize("seed", range(50))
def test_flat_memory_is_what_a_c_program_would_write(seed):
    """The memory image and the decoded value, which share no code, are the same desc."""
    desc = valid_desc(RandomSource(seed))
    fuzzer = fuzz_cases.Fuzzer()
    image = image_of(desc)
    address = fuzzer.write_before_guard(image, bytes(image.data))
    assert decode_operator_desc(address) == (desc, ())


def test_dimension_count_0_with_strides():
    """A regression: the tensor was silently dropped, and the operator's own rules failed on it."""
    desc = dml.DML_ELEMENT_WISE_IDENTITY_OPERATOR_DESC(
        dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, [2], [1]),
        dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, [2]),
    )
    buffer = ctypes.cast(desc.InputTensor.contents.Desc, ctypes.POINTER(dml.DML_BUFFER_TENSOR_DESC)).contents
    buffer.DimensionCount = 0
    (found,) = dml.validate(desc)
    assert (found.rule, found.path) == ("DML-BufferTensor-dimension-count", "InputTensor.DimensionCount")


def test_the_region_ends_where_memory_ends():
    region = GuardedMemory()
    address = region.write(b"abcd")
    assert region.read(address) == b"abcd"
    assert address + 4 == region.end
    (found,) = dml.validate(region.end)
    assert found.rule == "DML-Desc-unreadable"


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        (lambda desc, feature_level: [], "alone at DML_FEATURE_LEVEL"),
        (lambda desc, feature_level: [dml.Diagnostic("error", "X", "", "x")], "a valid desc is rejected"),
    ],
)
def test_a_wrong_answer_is_seen(monkeypatch, wrong, text):
    monkeypatch.setattr(fuzz_cases, "validate", wrong)
    with pytest.raises(fuzz_cases.Wrong, match=text):
        fuzz_cases.Fuzzer().case(0)


@pytest.mark.slow
@linux_only
def test_the_script():
    command = [sys.executable, str(FUZZ), "--count", "600", "--seed", "5", "--workers", "2"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    # On a slow machine it shows how far it is before.
    last = result.stdout.splitlines()[-1]
    assert last.startswith("600 descs in")
    assert "100 valid, 100 with one broken rule, 400 corrupted" in last
    assert last.endswith("nothing wrong (seed 5)")


@linux_only
@pytest.mark.parametrize(
    ("patch", "text"),
    [
        ("ctypes.string_at(0)", "died of SIGSEGV in case 9 of seed 5"),
        ("raise KeyError('lost')", "ended with exit code 1 in case 9 of seed 5"),
    ],
)
def test_the_script_sees_a_worker_die(tmp_path, patch, text):
    """A package beside the script that crashes in one case."""
    folder = tmp_path / "fuzzing"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "fuzz_cases.py").write_text(
        "import collections, ctypes\n"
        "class Fuzzer:\n"
        "    counts, descs = collections.Counter(), 0\n"
        "    def case(self, seed):\n"
        "        if seed == (5 << 40) + 9:\n"
        f"            {patch}\n"
    )
    script = tmp_path / "fuzz.py"
    script.write_text(FUZZ.read_text(encoding="utf-8"), encoding="utf-8")
    command = [sys.executable, str(script), "--seed", "5", "--workers", "1"]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert result.returncode == 1
    assert text in result.stdout
    assert f"{script} --seed 5 --case 9" in result.stdout
