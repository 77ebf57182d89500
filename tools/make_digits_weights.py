"""Train the network of ``directml_py.samples.digits`` and write its weights, with NumPy alone.

``python tools/make_digits_weights.py`` needs scikit-learn for its handwritten digits (extra ``samples``). The network
is trained on the digits with even indices; those with odd indices are held out, and their accuracy is printed. The same
seed gives the same weights up to the rounding of the machine's BLAS.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.datasets import load_digits

Array = npt.NDArray[Any]
TARGET = Path(__file__).resolve().parents[1] / "directml_py" / "samples" / "digits_weights"
CHANNELS, CLASSES, SIDE = 12, 10, 8
EPOCHS, BATCH, RATE, DECAY = 80, 32, 3e-3, 3e-3
# Data augmentation: the share of images that are shifted in each epoch.
MOVED = 0.3


def columns(images: Array) -> Array:
    """The 3 x 3 windows around each pixel, as rows of nine."""
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(1, 2))
    return np.asarray(windows.reshape((len(images), SIDE * SIDE, 9)))


def shifted(images: Array, rng: np.random.Generator) -> Array:
    """The images, some of them shifted by up to one pixel."""
    moved = images.copy()
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    offsets = rng.integers(0, 3, (len(images), 2))
    for index in np.flatnonzero(rng.random(len(images)) < MOVED):
        y, x = offsets[index]
        moved[index] = padded[index, y : y + SIDE, x : x + SIDE]
    return np.asarray(moved)


def forward(weights: dict[str, Array], images: Array) -> tuple[Array, ...]:
    """Convolution, ReLU, 2 x 2 max pooling, matrix product: the scores, and what the backward pass needs."""
    rows = columns(images)
    hidden = np.maximum(rows @ weights["filter"] + weights["filter_bias"], 0)
    half = SIDE // 2
    blocks = hidden.reshape(-1, half, 2, half, 2, CHANNELS).transpose(0, 1, 3, 5, 2, 4)
    blocks = blocks.reshape(len(images), half * half * CHANNELS, 4)
    chosen = blocks.argmax(-1)
    pooled = np.take_along_axis(blocks, chosen[..., None], -1)[..., 0]
    return pooled @ weights["matrix"] + weights["matrix_bias"], pooled, chosen, hidden, rows


def gradients(weights: dict[str, Array], images: Array, labels: Array) -> dict[str, Array]:
    scores, pooled, chosen, hidden, rows = forward(weights, images)
    wrong = np.exp(scores - scores.max(1, keepdims=True))
    wrong /= wrong.sum(1, keepdims=True)
    wrong[np.arange(len(labels)), labels] -= 1
    wrong /= len(labels)
    back = np.zeros((*pooled.shape, 4))
    np.put_along_axis(back, chosen[..., None], (wrong @ weights["matrix"].T)[..., None], -1)
    half = SIDE // 2
    spread = back.reshape(-1, half, half, CHANNELS, 2, 2).transpose(0, 1, 4, 2, 5, 3)
    spread = spread.reshape(hidden.shape) * (hidden > 0)
    return {
        "matrix": pooled.T @ wrong + DECAY * weights["matrix"],
        "matrix_bias": wrong.sum(0),
        "filter": np.einsum("npk,npc->kc", rows, spread),
        "filter_bias": spread.sum((0, 1)),
    }


def train(images: Array, labels: Array) -> dict[str, Array]:
    """Train with Adam and a decaying rate."""
    rng = np.random.default_rng(7)
    inner = (SIDE // 2) ** 2 * CHANNELS
    weights: dict[str, Array] = {
        "filter": rng.normal(0, 0.4, (9, CHANNELS)),
        "filter_bias": np.zeros(CHANNELS),
        "matrix": rng.normal(0, 0.1, (inner, CLASSES)),
        "matrix_bias": np.zeros(CLASSES),
    }
    mean = {name: np.zeros_like(value) for name, value in weights.items()}
    square = {name: np.zeros_like(value) for name, value in weights.items()}
    step = 0
    for epoch in range(EPOCHS):
        rate = RATE * 0.5 * (1 + np.cos(np.pi * epoch / EPOCHS))
        for batch in np.array_split(rng.permutation(len(images)), len(images) // BATCH):
            step += 1
            slopes = gradients(weights, shifted(images[batch], rng), labels[batch])
            for name, slope in slopes.items():
                mean[name] = 0.9 * mean[name] + 0.1 * slope
                square[name] = 0.999 * square[name] + 0.001 * slope**2
                change = mean[name] / (1 - 0.9**step) / (np.sqrt(square[name] / (1 - 0.999**step)) + 1e-8)
                weights[name] = weights[name] - rate * change
    return weights


def main() -> None:
    digits = load_digits()
    images, labels = digits.images / 16, digits.target
    weights = train(images[::2], labels[::2])
    right = forward(weights, images[1::2])[0].argmax(1) == labels[1::2]
    print(f"accuracy on the held-out half: {right.mean():.4f}")
    half = SIDE // 2
    # DirectML's layouts: filters {C, 1, 3, 3}, and a matrix with rows in channels-first order.
    arrays = {
        "filter": weights["filter"].T.reshape(CHANNELS, 1, 3, 3),
        "filter_bias": weights["filter_bias"].reshape(1, CHANNELS, 1, 1),
        "matrix": weights["matrix"]
        .reshape(half * half, CHANNELS, CLASSES)
        .transpose(1, 0, 2)
        .reshape(-1, CLASSES),
        "matrix_bias": weights["matrix_bias"].reshape(1, CLASSES),
    }
    TARGET.mkdir(exist_ok=True)
    for name, array in arrays.items():
        np.save(TARGET / f"{name}.npy", np.ascontiguousarray(array, np.float32))


if __name__ == "__main__":
    main()
