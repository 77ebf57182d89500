"""Scripts that import ``pydirectml`` or ``directml``, run as users do, compared with ONNX Runtime."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from operators.records.onnx_node import run as onnx

SCRIPTS = Path(__file__).parent / "scripts"
ROOT = Path(__file__).resolve().parents[2]


def directml_py(*arguments, **options):
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.run(
        [sys.executable, "-m", "directml_py", *map(str, arguments)],
        capture_output=True,
        text=True,
        env=environment,
        **options,
    )


def saved(folder, sizes):
    """Arrays of these sizes, also saved to files."""
    generator = np.random.default_rng(5)
    arrays = {name: generator.uniform(-1, 1, one).astype(np.float32) for name, one in sizes.items()}
    for name in ("variance",):
        if name in arrays:
            arrays[name] = np.abs(arrays[name]) + 0.5
    for name, array in arrays.items():
        np.save(folder / f"{name}.npy", array)
    return arrays


def node(name, *inputs, **attributes):
    return onnx(name, list(inputs), output_types=["float32"], **attributes)[0]


def test_a_network_in_the_manner_of_microsofts_samples(tmp_path):
    channels = (1, 8, 1, 1)
    w = saved(
        tmp_path,
        {
            "x": (1, 3, 16, 16),
            "filter1": (8, 3, 3, 3),
            "bias1": channels,
            "filter2": (8, 1, 3, 3),
            "mean": channels,
            "variance": channels,
            "scale": channels,
            "shift": channels,
            "spread": (16,),
            "weights": (10, 16),
        },
    )
    found = directml_py("run", SCRIPTS / "classify.py", tmp_path)
    assert (found.returncode, found.stderr) == (0, "")
    pads = (1, 1, 1, 1)
    first = node("Relu", node("Conv", w["x"], w["filter1"], w["bias1"].ravel(), strides=(2, 2), pads=pads))
    second = node("Conv", first, w["filter2"], pads=pads, group=8)
    statistics = [w[name].ravel() for name in ("scale", "shift", "mean", "variance")]
    normal = node("Relu", node("BatchNormalization", second, *statistics, epsilon=1e-5))
    both = np.concatenate([normal + first, first], 1) + w["spread"].reshape(1, 16, 1, 1)
    pooled = node("MaxPool", both, kernel_shape=(2, 2), strides=(2, 2))
    scores = pooled.mean((2, 3)) @ w["weights"].T
    wanted = node("Softmax", scores, axis=1)
    np.testing.assert_allclose(np.load(tmp_path / "y.npy").reshape(1, 10), wanted, rtol=1e-4)
    assert found.stdout == f"Number is: {wanted.argmax()}\n"


def test_a_picture_by_the_fork(tmp_path):
    sizes = {"x": (1, 3, 12, 12), "filter1": (4, 3, 5, 5), "scale": (1, 4, 1, 1), "shift": (1, 4, 1, 1)}
    w = saved(tmp_path, {**sizes, "filter2": (4, 3, 3, 3)})
    found = directml_py("run", SCRIPTS / "style.py", tmp_path)
    assert (found.returncode, found.stdout, found.stderr) == (0, "", "")
    scaled = w["x"] / 2 + np.array([0.1, 0.2, 0.3], np.float32).reshape(1, 3, 1, 1)
    padded = np.pad(scaled, ((0, 0), (0, 0), (2, 2), (2, 2)), "reflect")
    seen = node("Conv", padded, w["filter1"], strides=(2, 2))
    normal = node("InstanceNormalization", seen, w["scale"].ravel(), w["shift"].ravel(), epsilon=1e-5)
    # The last row and column of 14 are beyond what any input reaches.
    large = node("ConvTranspose", np.maximum(normal, 0), w["filter2"], strides=(2, 2))
    wanted = np.tanh(large[:, :, 1:13, 1:13]) * 127.5 + 127.5
    np.testing.assert_allclose(np.load(tmp_path / "y.npy"), wanted, rtol=1e-4, atol=1e-3)


def test_a_script_sees_what_python_shows_it(tmp_path):
    """Its arguments, its name, and the modules beside it; its exit code is passed through."""
    (tmp_path / "beside.py").write_text("value = 42\n")
    (tmp_path / "script.py").write_text(
        "import sys, beside\nprint(__name__, sys.argv, beside.value)\n"
        "import pydirectml, directml\nprint(pydirectml.__name__, directml.__name__)\nsys.exit(7)\n"
    )
    found = directml_py("run", "script.py", "-x", "--only", "y", cwd=tmp_path)
    assert found.stdout.splitlines() == [
        "__main__ ['script.py', '-x', '--only', 'y'] 42",
        "directml_py.pydirectml directml_py.pydirectml.fork",
    ]
    assert found.returncode == 7


def test_modules_beside_a_script_come_before_those_of_the_working_folder(tmp_path):
    (tmp_path / "scripts").mkdir()
    (tmp_path / "beside.py").write_text("value = 'of the working folder'\n")
    (tmp_path / "scripts" / "beside.py").write_text("value = 'beside'\n")
    (tmp_path / "scripts" / "script.py").write_text("import beside\nprint(beside.value)\n")
    found = directml_py("run", "scripts/script.py", cwd=tmp_path)
    assert found.stdout == "beside\n"


def test_no_script(tmp_path):
    found = directml_py("run", tmp_path / "no.py")
    assert (found.returncode, found.stdout) == (2, "")
    assert found.stderr == f"run: there is no file {tmp_path / 'no.py'}\n"


@pytest.mark.parametrize("name", ["pydirectml", "directml"])
def test_install(name):
    code = (
        f"from directml_py import pydirectml; pydirectml.install(); import {name} as dml; "
        "print(dml.TensorDesc(dml.TensorDataType.FLOAT32, [1, 2]))"
    )
    found = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
    )
    assert found.stdout == "dml.TensorDesc of type 1 and shape [1,2] with flags 0\n"
