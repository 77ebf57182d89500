"""Classification of handwritten digits by a small convolutional network, as one compiled graph.

The images come with scikit-learn (extra ``samples``); the weights were trained on those with even indices by
``tools/make_digits_weights.py``, so that those with odd indices are unseen.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import directml_py as dml
from directml_py.graph import CompiledGraph, Expression, Graph

WEIGHTS = Path(__file__).resolve().parent / "digits_weights"
FLOAT32 = dml.DML_TENSOR_DATA_TYPE_FLOAT32
SHADES = " .:-=+*#%@"
SHOWN = 8

Array = npt.NDArray[Any]


def network(count: int) -> CompiledGraph:
    """The graph for ``count`` images of 8 x 8 pixels: from {count,1,8,8} to scores {count,10}, one per digit."""
    graph = Graph()

    def weight(name: str) -> Expression:
        return graph.constant(np.load(WEIGHTS / f"{name}.npy"), name=name)

    images = graph.input_tensor("images", FLOAT32, [count, 1, 8, 8])
    hidden = graph.convolution(
        images,
        weight("filter"),
        weight("filter_bias"),
        mode=dml.DML_CONVOLUTION_MODE_CROSS_CORRELATION,
        direction=dml.DML_CONVOLUTION_DIRECTION_FORWARD,
        strides=[1, 1],
        dilations=[1, 1],
        start_padding=[1, 1],
        end_padding=[1, 1],
        output_padding=[0, 0],
        group_count=1,
        fused_activation=dml.DML_ACTIVATION_RELU_OPERATOR_DESC(),
    )
    pooled = graph.max_pooling2(
        hidden,
        strides=[2, 2],
        window_size=[2, 2],
        start_padding=[0, 0],
        end_padding=[0, 0],
        dilations=[1, 1],
    )
    features = pooled.output.desc.sizes[1] * 4 * 4
    rows = graph.reinterpret(pooled.output, sizes=[count, features])
    # One row of biases for all images, broadcast by a stride of 0.
    bias = graph.reinterpret(weight("matrix_bias"), sizes=[count, 10], strides=[0, 1])
    scores = graph.gemm(
        rows,
        weight("matrix"),
        bias,
        trans_a=dml.DML_MATRIX_TRANSFORM_NONE,
        trans_b=dml.DML_MATRIX_TRANSFORM_NONE,
        alpha=1,
        beta=1,
    )
    return graph.compile({"scores": scores})


def picture(images: Array, labels: Array) -> str:
    """Some digits side by side as ASCII art, with the predicted labels."""
    rows = [
        "  ".join("".join(SHADES[int(pixel * 9)] * 2 for pixel in image[y]) for image in images)
        for y in range(8)
    ]
    return "\n".join([*rows, "  ".join(f"{label}".center(16) for label in labels)])


def main() -> int:
    try:
        from sklearn.datasets import load_digits
    except ImportError:
        print("the images come with scikit-learn: pip install 'directml-py[samples]'", file=sys.stderr)
        return 1
    digits: Any = load_digits()
    images = (digits.images[1::2] / 16).astype(np.float32)
    expected = digits.target[1::2]

    results = network(len(images)).run({"images": images.reshape(-1, 1, 8, 8)})
    labels = results["scores"].argmax(axis=1)

    print(picture(images[:SHOWN], labels[:SHOWN]))
    wrong = np.flatnonzero(labels != expected)
    print(f"\nnot recognized, of {len(images)}: {len(wrong)}; the first of them:\n")
    print(picture(images[wrong[:SHOWN]], labels[wrong[:SHOWN]]))
    print(f"\naccuracy: {np.mean(labels == expected):.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
