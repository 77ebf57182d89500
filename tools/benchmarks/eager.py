"""A network in PyTorch's eager mode."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from .architectures import EPSILON, Array, Network
from .peers import Call, torch

Attributes = Mapping[str, Any]
Function = Callable[..., Any]


def _functions() -> dict[str, Callable[[Attributes], Function]]:
    """For each kind of layer, a factory from attributes to a function of inputs and weights."""
    of = torch.nn.functional

    def spread(weights: Any) -> Any:
        return weights.view(1, -1, 1, 1) if weights.dim() == 1 else weights

    def convolution(get: Attributes) -> Function:
        options = {"stride": get["stride"], "padding": get["padding"], "groups": get["groups"]}
        if get["backward"]:
            return partial(of.conv_transpose2d, output_padding=1, **options)
        return partial(of.conv2d, **options)

    def normalization(get: Attributes) -> Function:
        return lambda x, mean, variance, scale, bias: of.batch_norm(
            x, mean, variance, scale, bias, False, 0.0, EPSILON
        )

    return {
        "CONVOLUTION": convolution,
        "BATCH_NORMALIZATION": normalization,
        "MEAN_VARIANCE_NORMALIZATION1": lambda get: (
            lambda x, scale, bias: of.instance_norm(x, None, None, scale, bias, True, 0.0, EPSILON)
        ),
        "MAX_POOLING": lambda get: lambda x: of.max_pool2d(x, get["window"], get["stride"], get["padding"]),
        "AVERAGE_POOLING": lambda get: (
            lambda x: of.avg_pool2d(x, get["window"], get["stride"], get["padding"])
        ),
        "ACTIVATION_SOFTMAX1": lambda get: lambda x: of.softmax(x, 1),
        "ACTIVATION_LINEAR": lambda get: lambda x: x * get["alpha"],
        "VALUE_SCALE_2D": lambda get: partial(torch.add, other=torch.tensor(get["bias"]).view(-1, 1, 1)),
        "JOIN": lambda get: lambda *parts: torch.cat(parts, 1),
        "ADD": lambda get: lambda x, y: x + spread(y),
        "CLIP": lambda get: partial(torch.clamp, min=get["low"], max=get["high"]),
        "MULTIPLY": lambda get: lambda x, y: x * spread(y),
        "SLICE": lambda get: (
            lambda x: x[..., get["border"] : -get["border"], get["border"] : -get["border"]].contiguous()
        ),
        "PADDING": lambda get: lambda x: of.pad(x, [get["padding"]] * 4, "reflect"),
        "DEPTH_TO_SPACE1": lambda get: lambda x: of.pixel_shuffle(x, get["block"]),
    }


def eager(network: Network, image: Array) -> Call | None:
    """A call that returns the result; None where PyTorch is missing."""
    if torch is None:
        return None
    functions = _functions()
    activations = {"": None, "RELU": torch.relu_, "TANH": torch.tanh_}
    calls: list[tuple[Function, Sequence[int], list[Any], Function | None]] = [
        (
            functions[layer.kind](layer.attributes),
            layer.inputs,
            [torch.from_numpy(weight) for weight in layer.weights],
            activations[layer.activation],
        )
        for layer in network.layers
    ]
    last = {index: position for position, entry in enumerate(calls) for index in entry[1]}
    first = torch.from_numpy(image)

    def run() -> Any:
        values: list[Any] = [first]
        for position, (function, inputs, weights, activation) in enumerate(calls):
            value = function(*(values[index] for index in inputs), *weights)
            values.append(value if activation is None else activation(value))
            for index in inputs:
                if last[index] == position:
                    values[index] = None
        return values[-1].numpy()

    call: Call = torch.inference_mode()(run)
    return call
