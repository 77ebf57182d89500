"""ONNX models through ``directml_py.onnx``, in the sizes of known networks with random weights."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from directml_py.onnx import load

from . import exported_models
from .architectures import NETWORKS
from .benchmark_case import Measurable
from .interleaved_timing import interleaved
from .runs import OURS, Row
from .sessions import onnxruntime, session
from .translations import onnx_model
from .whole import compare

LAYERS, HIDDEN, HEADS = 12, 768, 12
WORDS, TOKENS, PAST = 50257, 128, 128
Inputs = Mapping[str, Any]


class ModelCase(NamedTuple):
    """Functions that make a model's bytes and its inputs."""

    model: Callable[[], bytes]
    inputs: Callable[[], Inputs]


def bytes_of(make: Callable[..., Any], *arguments: Any) -> Callable[[], bytes]:
    """A function that makes a model of ``exported_models``."""
    return lambda: bytes(make(*arguments).SerializeToString())


def network(name: str) -> ModelCase:
    """A network of ``architectures``."""
    return ModelCase(lambda: onnx_model(NETWORKS[name]()), lambda: {"image": NETWORKS[name]().image()})


def tokens(count: int) -> Any:
    return np.random.default_rng(2).integers(0, 100, (1, count))


def decoder_inputs() -> Inputs:
    random = np.random.default_rng(3)
    names = [f"{name}_{layer}" for layer in range(LAYERS) for name in ("key", "value")]
    past = {name: random.standard_normal((1, HEADS, PAST, HIDDEN // HEADS), np.float32) for name in names}
    return {"tokens": tokens(1), **past}


MODELS = {
    "SqueezeNet": network("SqueezeNet"),
    "MobileNet-v2": network("MobileNet-v2 exported"),
    "ResNet-50, 224 x 224": ModelCase(
        bytes_of(exported_models.resnet50, 224),
        lambda: {"image": np.random.default_rng(1).random((1, 3, 224, 224), np.float32)},
    ),
    f"BERT, {TOKENS} tokens": ModelCase(
        bytes_of(exported_models.bert, LAYERS, HIDDEN, HEADS),
        lambda: {"tokens": tokens(TOKENS), "mask": np.ones((1, TOKENS), np.int64)},
    ),
    f"a step of GPT-2 after {PAST}": ModelCase(
        bytes_of(exported_models.gpt2, LAYERS, HIDDEN, HEADS, WORDS), decoder_inputs
    ),
}


def cases() -> Iterator[Measurable]:
    if onnxruntime is not None:
        for name in MODELS:
            yield Running(name)
            yield FirstResult(name)


# One model at a time, since GPT-2 has half a gigabyte.
@lru_cache(maxsize=1)
def serialized(name: str) -> bytes:
    return MODELS[name].model()


@dataclass(frozen=True)
class Running:
    """A model run again, inputs and outputs being arrays of the caller."""

    model: str

    @property
    def title(self) -> str:
        return f"network {self.model}, ONNX"

    def measure(self, threads: int) -> Row:
        data, inputs = serialized(self.model), MODELS[self.model].inputs()
        ours = load(data, inputs={name: array.shape for name, array in inputs.items()})
        peer = session(data, threads)
        names = [item.name for item in peer.get_outputs()]
        for name, expected in zip(names, peer.run(names, inputs)):
            compare(f"{self.model}: {name}", ours.run(inputs)[name], expected)
        times = interleaved({OURS: lambda: ours.run(inputs), "ONNX Runtime": lambda: peer.run(None, inputs)})
        return Row(self.title, times)


@dataclass(frozen=True)
class FirstResult:
    """Everything from a model's bytes in memory to the first result, in a process that has run it before."""

    model: str

    @property
    def title(self) -> str:
        return f"compile {self.model}, ONNX, first result"

    def measure(self, threads: int) -> Row:
        data, inputs = serialized(self.model), MODELS[self.model].inputs()
        sizes = {name: array.shape for name, array in inputs.items()}
        times = interleaved(
            {
                OURS: lambda: load(data, inputs=sizes).run(inputs),
                "ONNX Runtime": lambda: session(data, threads).run(None, inputs),
            }
        )
        return Row(self.title, times)
