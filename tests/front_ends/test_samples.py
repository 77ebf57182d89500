"""Every sample, run as in the gallery."""

from __future__ import annotations

import pkgutil
import re

import pytest

from directml_py import samples
from directml_py.kernels import backend

NAMES = {entry.name for entry in pkgutil.iter_modules(samples.__path__)}


@pytest.fixture
def output(python):
    def run(name):
        process = python("-m", f"directml_py.samples.{name}")
        assert (process.returncode, process.stderr) == (0, "")
        return process.stdout.splitlines()

    return run


def test_all_samples_are_tested():
    tested = {
        "branches",
        "embedding_graph",
        "gather_embedding",
        "hello_directml",
        "hello_directmlx",
        "join_split",
        "photograph",
        "reduce_strided",
    }
    assert tested == NAMES


@pytest.mark.parametrize("name", ["hello_directml", "hello_directmlx"])
def test_hello_directml(output, name):
    """Four decimals of each input, as the original prints them; six of each output."""
    given, found = output(name)
    assert given.split() == ["input", "tensor:", *["1.6180"] * 24]
    assert found.split() == ["output", "tensor:", *["1.618000"] * 24]


def test_join_split(output):
    """Rows of 2, 1 and 4 numbers, each tensor counting from 0, side by side."""
    lines = output("join_split")
    assert lines[0].startswith("DML_JOIN_OPERATOR_DESC(InputTensors=[FLOAT32 {1,2,3,2}, ")
    assert lines[1].startswith("DML_SPLIT_OPERATOR_DESC(InputTensor=FLOAT32 {1,2,3,7}")
    numbers = [float(number) for line in lines[3:-1] for number in re.findall(r"\d+\.", line)]
    rows = [[2 * r, 2 * r + 1, r, 4 * r, 4 * r + 1, 4 * r + 2, 4 * r + 3] for r in range(6)]
    assert numbers == [number for row in rows for number in row]
    assert lines[-1] == "split again: the same three tensors"


def test_reduce_strided(output):
    """The mean of 0, 3, .. 21 for the first channel, and one more for each next one."""
    lines = output("reduce_strided")
    assert "strides {32,1,16,3}" in lines[0]
    assert lines[-1] == "average of each channel: 10.5 11.5 12.5"


def test_gather_embedding(output):
    """Six words; the first and the fifth are the same, and -1 is the last row."""
    lines = output("gather_embedding")[1:]
    words = [line.split()[0] for line in lines]
    assert words == ["the", "cat", "sat", "on", "the", "mat"]
    vectors = [re.findall(r"-?\d+\.\d*", line) for line in lines]
    assert [len(vector) for vector in vectors] == [4] * 6
    assert vectors[0] == vectors[4]
    assert len({tuple(vector) for vector in vectors}) == 5


# The sample prints how much temporary memory its graph needs.
@pytest.mark.kind_device
def test_branches(output):
    """Ten times the left numbers and one, and the largest right one; SPLIT and JOIN copy nothing.

    Native loops run the two identities together. NumPy's need memory between them, for six FLOAT32.
    """
    *steps, memory, first, second, third = output("branches")
    found = dict(re.split(" {2,}", line) for line in steps)
    identities = ["left/identity0", "left/identity1"]
    if backend.native is not None:
        identities = [" + ".join(identities)]
    assert found == {
        "split0": "folded away",
        **dict.fromkeys(identities, "runs"),
        "right/reduce0": "runs",
        "join0": "folded away",
    }
    assert memory == f"temporary memory: {24 * (len(identities) - 1)} bytes"
    numbers = [[float(number) for number in re.findall(r"\d+\.", line)] for line in (first, second, third)]
    assert numbers == [[1, 11, 5], [21, 31, 9], [41, 51, 8]]


def test_embedding_graph(output, python, tmp_path):
    """The words of the sentences are rows 1, 2, 3 and 4, 1, 5; the numbers in row n start at n and grow by 0.25."""
    expected = ["the cat sat  2.000 2.250 2.500 2.750", "on the mat   3.333 3.583 3.833 4.083"]
    assert output("embedding_graph") == expected
    process = python("-m", "directml_py.samples.embedding_graph", str(tmp_path))
    assert (process.returncode, process.stderr) == (0, "")
    assert {path.name for path in tmp_path.iterdir()} == {"embedding.bin", "embedding.svg"}
