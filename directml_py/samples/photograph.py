"""Image processing: a photograph is downscaled, normalized and edge-filtered by one compiled graph.

Its bytes are uploaded as they are, in interleaved (NHWC) layout. Strides describe the channels, so that the operators
see {1,3,H,W} and nothing is transposed; pictures are read back the same way.

RESAMPLE3 with antialiasing, MEAN_VARIANCE_NORMALIZATION1 per channel, PADDING by reflection, and two depthwise
CONVOLUTIONs: a Gaussian blur and both Sobel filters.

``python -m directml_py.samples.photograph FOLDER`` also writes the pictures. The photograph comes with scikit-learn
and is read by Pillow (extra ``samples``).
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import directml_py as dml
from directml_py.graph import (
    CompiledGraph,
    Expression,
    Graph,
    TensorProperties,
    interleaved_channel,
    packed,
)
from directml_py.session import Session

FLOAT32, UINT8 = dml.DML_TENSOR_DATA_TYPE_FLOAT32, dml.DML_TENSOR_DATA_TYPE_UINT8
# More than two pixels become one, from where RESAMPLE3 applies antialiasing.
SCALE = 0.375
GAUSS = np.outer([1, 4, 6, 4, 1], [1, 4, 6, 4, 1]) / 256
# The horizontal gradient.
SOBEL = np.outer([1, 2, 1], [-1, 0, 1]) / 8
# The padding that both filters together need.
AROUND = 2 + 1
# Conversion of a normalized channel to bytes: its mean becomes medium grey.
MEDIUM, CONTRAST = 128.0, 50.0
COLOURS = "red", "green", "blue"

Array = npt.NDArray[Any]


def pictures_interleaved(data_type: int, flags: int, sizes: Sequence[int]) -> TensorProperties:
    """Tensor policy: interleaved channels for bytes, which are pictures; packed otherwise."""
    policy = interleaved_channel if data_type == UINT8 else packed
    return policy(data_type, flags, sizes)


def filtered(image: Expression, filters: Array) -> Expression:
    """Depthwise convolution of {1,C,H,W} with {n,h,w}: {1,C*n,H-h+1,W-w+1}, the results of a channel adjacent."""
    channels, (height, width) = image.desc.sizes[1], filters.shape[1:]
    weights = np.tile(filters.astype(np.float32), [channels, 1, 1]).reshape(-1, 1, height, width)
    result: Expression = image.graph.convolution(
        image,
        image.graph.constant(weights),
        mode=dml.DML_CONVOLUTION_MODE_CROSS_CORRELATION,
        direction=dml.DML_CONVOLUTION_DIRECTION_FORWARD,
        strides=[1, 1],
        dilations=[1, 1],
        start_padding=[0, 0],
        end_padding=[0, 0],
        output_padding=[0, 0],
        group_count=channels,
    )
    return result


def edges_of(image: Expression) -> Expression:
    """The gradient magnitude of {1,3,H,W} at each pixel, the maximum over channels: {1,1,H,W}."""
    graph, (_, channels, height, width) = image.graph, image.desc.sizes
    around = [0, 0, AROUND, AROUND]
    padded = graph.padding(
        image,
        padding_mode=dml.DML_PADDING_MODE_REFLECTION,
        padding_value=0,
        start_padding=around,
        end_padding=around,
    )
    slopes = filtered(filtered(padded, GAUSS[np.newaxis]), np.stack([SOBEL, SOBEL.T]))
    # Horizontal and vertical gradients as a dimension of their own.
    pairs = graph.reinterpret(slopes, sizes=[1, channels, 2, height * width])
    lengths = graph.reduce(pairs, function=dml.DML_REDUCE_FUNCTION_L2, axes=[2])
    steepest = graph.reduce(lengths, function=dml.DML_REDUCE_FUNCTION_MAX, axes=[1])
    return graph.reinterpret(steepest, sizes=[1, 1, height, width])


def picture(image: Expression, scale: float = 1, bias: float = 0) -> Expression:
    """``image * scale + bias``, rounded to bytes."""
    graph = image.graph
    limited = graph.clip(image, scale_bias=dml.DML_SCALE_BIAS(scale, bias), min=0, max=255)
    rounded = graph.round(limited, rounding_mode=dml.DML_ROUNDING_MODE_HALVES_TO_NEAREST_EVEN)
    result: Expression = graph.cast(rounded, output_data_type=UINT8)
    return result


def photograph_graph(height: int, width: int) -> CompiledGraph:
    """The graph from "photograph" {1,3,height,width} to three pictures and the normalized channels "values"."""
    graph = Graph(tensor_policy=pictures_interleaved)
    sizes = [1, 3, height, width]
    strides = interleaved_channel(UINT8, 0, sizes).strides
    photograph = graph.input_tensor("photograph", UINT8, sizes, strides)
    small = graph.resample3(
        graph.cast(photograph, output_data_type=FLOAT32),
        interpolation_mode=dml.DML_INTERPOLATION_MODE_LINEAR,
        rounding_direction=dml.DML_AXIS_DIRECTION_DECREASING,
        scales=[1, 1, SCALE, SCALE],
        input_pixel_offsets=[0.5] * 4,
        output_pixel_offsets=[-0.5] * 4,
        antialiased=True,
        output_sizes=[1, 3, int(height * SCALE), int(width * SCALE)],
    )
    values = graph.mean_variance_normalization1(small, axes=[2, 3], normalize_variance=True, epsilon=1e-5)
    edges = edges_of(values)
    steepest = graph.reduce(edges, function=dml.DML_REDUCE_FUNCTION_MAX, axes=[2, 3])
    # One number for all pixels, broadcast by strides of 0.
    everywhere = graph.reinterpret(steepest, sizes=edges.desc.sizes, strides=[0] * 4)
    return graph.compile(
        {
            "small": picture(small),
            "normalized": picture(values, CONTRAST, MEDIUM),
            "edges": picture(edges / everywhere, -255, 255),
            "values": values,
        }
    )


def process(photograph: Array) -> dict[str, Array]:
    """Pictures {H,W,3} or {H,W,1} of the photograph {H,W,3}, and "values" {1,3,H,W}."""
    graph = photograph_graph(*photograph.shape[:2])
    session = Session(graph.graph.device)
    buffers = {name: session.buffer(tensor.total_size) for name, tensor in graph.outputs.items()}
    persistent = session.initialize(graph.operator)
    session.dispatch(graph.operator, [session.upload(photograph)], list(buffers.values()), persistent)
    session.execute()
    results = {}
    for name, tensor in graph.outputs.items():
        _, channels, height, width = tensor.sizes
        # Pictures have interleaved channels in memory.
        results[name] = (
            session.read(buffers[name])[: tensor.total_size].reshape(height, width, channels)
            if tensor.data_type == UINT8
            else session.load(buffers[name], tensor)
        )
    return results


def load() -> Array:
    """The photograph, {427,640,3} bytes. Raises ``ImportError`` without scikit-learn or Pillow."""
    from sklearn.datasets import load_sample_image

    return np.asarray(load_sample_image("china.jpg"))


def save(pictures: dict[str, Array], folder: Path) -> None:
    """Write each picture as PNG."""
    from PIL import Image

    for name, pixels in pictures.items():
        Image.fromarray(pixels.squeeze()).save(folder / f"{name}.png")


def describe(name: str, channels: Array) -> str:
    """A line with the size of {3,H,W} and the mean and variance of each channel."""
    height, width = channels.shape[1:]
    # Adding 0 turns -0 into 0.
    means, variances = (
        np.round(of_each, 3) + 0
        for of_each in (channels.mean((1, 2), float), channels.var((1, 2), dtype=float))
    )
    numbers = [
        f"{colour} {mean:8.3f} {variance:9.3f}" for colour, mean, variance in zip(COLOURS, means, variances)
    ]
    return f"{name:11} {width:3} x {height:3}   " + "   ".join(numbers)


def main(folder: Path | None = None) -> int:
    """Run the sample; write the photograph and the results as PNG to ``folder``, the command line's argument."""
    try:
        photograph = load()
    except ImportError:
        print(
            "the photograph comes with scikit-learn and needs Pillow: pip install 'directml-py[samples]'",
            file=sys.stderr,
        )
        return 1
    results = process(photograph)
    values = results.pop("values")
    print("the mean and the variance of each channel:")
    print(describe("photograph", np.moveaxis(photograph, -1, 0)))
    print(describe("small", np.moveaxis(results["small"], -1, 0)))
    print(describe("normalized", values[0]))
    print(f"pixels less than half as steep as the steepest: {np.mean(results['edges'] > 127.5):.2%}")
    if folder is not None:
        save({"photograph": photograph, **results}, folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:2])))
