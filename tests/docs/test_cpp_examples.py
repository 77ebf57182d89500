"""The C++ examples of all operators compile without a warning, and print what Python computes."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from documentation import cpp_source
from documentation.illustrations import examples_of
from toolchain import missing, need_d3d12_headers

import directml_py as dml
from directml_py.descs.data_types import data_type_of
from directml_py.descs.encode import encode
from directml_py.operators import SCHEMAS

from ..com.building import config, library

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[2]
HEADERS = [f"-I{ROOT / folder}" for folder in ("docs/_static", "directml_py/cpp")]


def source():
    """One program of all: it prints the name of each operator, and then what that operator's example prints."""
    parts, calls = ['#include "run_operator.h"'], []
    for name in SCHEMAS:
        program = cpp_source.program(examples_of(name)[0], f"Example_{name}")
        parts.append(program.removeprefix('#include "run_operator.h"\n'))
        calls.append(f'    std::puts("{name}");\n    Example_{name}();')
    return "\n".join([*parts, "int main()\n{", *calls, "}", ""])


@pytest.fixture(scope="module")
def printed(tmp_path_factory):
    """The lines that the example of each operator prints."""
    if shutil.which("g++") is None:
        missing("g++")
    need_d3d12_headers()
    library()
    folder = tmp_path_factory.mktemp("cpp")
    file, program = folder / "examples.cpp", folder / "examples"
    file.write_text(source(), encoding="utf-8")
    flags = ["-std=c++17", "-Wall", "-Wextra", "-Werror", *HEADERS, *config("--cflags")]
    build = subprocess.run(
        ["g++", *flags, str(file), *config("--libs"), "-o", str(program)], capture_output=True, text=True
    )
    assert build.returncode == 0, build.stderr
    run = subprocess.run([str(program)], capture_output=True, text=True, timeout=300)
    assert run.returncode == 0, run.stderr
    parts = re.split(r"^([A-Z][A-Z0-9_]+)$", run.stdout, flags=re.MULTILINE)
    return dict(zip(parts[1::2], (part.strip("\n").split("\n") for part in parts[2::2])))


def in_memory(tensor, values):
    """The elements as they lie in memory, of 4-bit types the bytes."""
    memory = np.zeros(tensor.total_size, np.uint8)
    tensor.store(memory, values)
    known = data_type_of(tensor.data_type)
    if known.bits < 8:
        return memory
    return memory[: memory.size // known.dtype.itemsize * known.dtype.itemsize].view(known.dtype)


@pytest.mark.parametrize("operator", [pytest.param(one, marks=pytest.mark.operator(one)) for one in SCHEMAS])
def test_prints_what_python_computes(operator, printed):
    example = examples_of(operator)[0]
    outputs = dml.evaluate(encode(example.desc), example.inputs)
    there = [
        in_memory(slot.tensor, values)
        for slot, values in zip(example.desc.outputs, outputs)
        if slot.tensor is not None
    ]
    assert len(printed[operator]) == len(there)
    for line, expected in zip(printed[operator], there):
        found = line.split()
        assert len(found) == expected.size
        if expected.dtype.kind == "f":
            np.testing.assert_allclose(np.array(found, np.float64), expected.astype(np.float64), rtol=1e-6)
        else:
            assert [int(one) for one in found] == expected.tolist()


def test_half_is_rounded_as_ieee_says(tmp_path):
    """Every float between two halves' neighbours, and what lies at the ends, against NumPy."""
    if shutil.which("g++") is None:
        missing("g++")
    need_d3d12_headers()
    library()
    halves = np.arange(0, 0x7C00, 37, dtype=np.uint16).view(np.float16).astype(np.float32)
    near = np.concatenate([halves, (halves[1:] + halves[:-1]) / 2, np.nextafter(halves, np.float32(np.inf))])
    given = np.concatenate([near, -near, np.array([65519, 65520, 1e9, 1e-8, 0, -0.0, np.inf], np.float32)])
    with np.errstate(over="ignore"):
        expected = given.astype(np.float16).view(np.uint16)
    given.tofile(tmp_path / "given")
    text = """#include "run_operator.h"
int main(int, char** arguments)
{
    float value;
    std::FILE* file = std::fopen(arguments[1], "rb");
    while (std::fread(&value, 4, 1, file)) std::printf("%u\\n", static_cast<unsigned>(Half(value).bits));
}
"""
    (tmp_path / "half.cpp").write_text(text, encoding="utf-8")
    flags = ["-std=c++17", *HEADERS, *config("--cflags")]
    program = tmp_path / "half"
    command = ["g++", *flags, str(tmp_path / "half.cpp"), *config("--libs"), "-o", str(program)]
    subprocess.run(command, check=True, timeout=300)
    run = subprocess.run([str(program), str(tmp_path / "given")], capture_output=True, text=True, check=True)
    assert [int(one) for one in run.stdout.split()] == expected.tolist(), sys.version
