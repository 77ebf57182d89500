"""Train the network of ``directml_py.samples.lstm_text`` and write its weights, with NumPy alone.

``python tools/train_text.py`` takes half a minute. The network is overfitted to ``lstm_text.txt`` by truncated
backpropagation through time: it reads the text cyclically in streams from random positions, and the state is carried
from one part of a stream to the next, as in the sample. The same seed gives the same weights up to the rounding of the
machine's BLAS.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
SAMPLES = Path(__file__).resolve().parents[1] / "directml_py" / "samples"
TEXT, TARGET = SAMPLES / "lstm_text.txt", SAMPLES / "lstm_text_weights"
HIDDEN = 96
# In each round every stream reads PARTS parts of LENGTH characters before it restarts at a random position.
ROUNDS, STREAMS, PARTS, LENGTH = 60, 16, 12, 40
RATE, DECAY, LONGEST = 8e-3, 2e-6, 1.0
# The dropout rate of the hidden state.
DROPPED = 0.1


def sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def forward(
    weights: dict[str, Array], characters: Array, state: tuple[Array, Array], kept: Array
) -> list[Any]:
    """The forward pass over {LENGTH, STREAMS} characters: per step, the state and what the backward pass needs."""
    steps, (hidden, cell) = [], state
    for one, keep in zip(characters, kept):
        sums = weights["weight"][one] + hidden @ weights["recurrence"] + weights["bias"]
        gates = sigmoid(sums[:, : 3 * HIDDEN])
        i, o, f = np.split(gates, 3, axis=1)
        c = np.tanh(sums[:, 3 * HIDDEN :])
        before, cell = (hidden, cell), f * cell + i * c
        bent = np.tanh(cell)
        hidden = o * bent
        steps.append((one, before, (i, o, f, c), bent, hidden * keep, (hidden, cell)))
    return steps


def backward(
    weights: dict[str, Array], steps: list[Any], wanted: Array, kept: Array
) -> tuple[float, dict[str, Array]]:
    """The mean loss of the predictions, and its gradients."""
    slopes = {name: np.zeros_like(value) for name, value in weights.items()}
    shown = np.stack([step[4] for step in steps])
    scores = shown @ weights["matrix"] + weights["matrix_bias"]
    wrong = np.exp(scores - scores.max(-1, keepdims=True))
    wrong /= wrong.sum(-1, keepdims=True)
    right = np.take_along_axis(wrong, wanted[..., None], -1)
    loss = -float(np.log(right).mean())
    np.put_along_axis(wrong, wanted[..., None], right - 1, -1)
    wrong /= wanted.size
    slopes["matrix"] = np.einsum("tbh,tbv->hv", shown, wrong, optimize=True)
    slopes["matrix_bias"] = wrong.sum((0, 1))
    of_shown = wrong @ weights["matrix"].T * kept
    of_hidden = of_cell = np.zeros_like(shown[0])
    for (one, (hidden, cell), (i, o, f, c), bent, _, _), own in zip(reversed(steps), of_shown[::-1]):
        of_hidden = of_hidden + own
        of_cell = of_cell + of_hidden * o * (1 - bent**2)
        of_sums = np.concatenate(
            [
                of_cell * c * i * (1 - i),
                of_hidden * bent * o * (1 - o),
                of_cell * cell * f * (1 - f),
                of_cell * i * (1 - c**2),
            ],
            axis=1,
        )
        np.add.at(slopes["weight"], one, of_sums)
        slopes["recurrence"] += hidden.T @ of_sums
        slopes["bias"] += of_sums.sum(0)
        of_hidden, of_cell = of_sums @ weights["recurrence"].T, of_cell * f
    return loss, slopes


def train(text: Array, classes: int) -> dict[str, Array]:
    """Train with Adam, a decaying rate and gradient clipping."""
    rng = np.random.default_rng(7)

    def drawn(*sizes: int) -> Array:
        return rng.normal(0, HIDDEN**-0.5, sizes).astype(np.float32)

    weights = {
        "weight": drawn(classes, 4 * HIDDEN),
        "recurrence": drawn(HIDDEN, 4 * HIDDEN),
        # The biases of the forget gates, the third of four, are initialized to 1.
        "bias": np.repeat(np.array([0, 0, 1, 0], np.float32), HIDDEN),
        "matrix": drawn(HIDDEN, classes),
        "matrix_bias": np.zeros(classes, np.float32),
    }
    mean = {name: np.zeros_like(value) for name, value in weights.items()}
    square = {name: np.zeros_like(value) for name, value in weights.items()}
    step = 0
    for number in range(ROUNDS):
        rate = RATE * 0.5 * (1 + np.cos(np.pi * number / ROUNDS))
        positions = rng.integers(0, len(text), STREAMS) + np.arange(LENGTH + 1)[:, None]
        state = (np.zeros((STREAMS, HIDDEN), np.float32),) * 2
        losses = []
        for _ in range(PARTS):
            step += 1
            characters = text[positions % len(text)]
            positions += LENGTH
            kept = (rng.random((LENGTH, STREAMS, HIDDEN)) >= DROPPED).astype(np.float32) / np.float32(
                1 - DROPPED
            )
            steps = forward(weights, characters[:-1], state, kept)
            state = steps[-1][5]
            loss, slopes = backward(weights, steps, characters[1:], kept)
            losses.append(loss)
            length = np.sqrt(sum(float(np.sum(slope**2)) for slope in slopes.values()))
            for name, slope in slopes.items():
                slope = slope * min(1, LONGEST / length) + DECAY * weights[name]
                mean[name] = 0.9 * mean[name] + 0.1 * slope
                square[name] = 0.999 * square[name] + 0.001 * slope**2
                change = mean[name] / (1 - 0.9**step) / (np.sqrt(square[name] / (1 - 0.999**step)) + 1e-8)
                weights[name] = (weights[name] - rate * change).astype(np.float32)
        if number % 10 == 9:
            print(f"round {number + 1} of {ROUNDS}: loss {np.mean(losses):.4f}")
    return weights


def main() -> None:
    characters = TEXT.read_text(encoding="ascii")
    alphabet = sorted(set(characters))
    weights = train(np.array([alphabet.index(character) for character in characters]), len(alphabet))
    # DirectML's layout: rows of W and R in the order of gates i, o, f and c; the second bias is that of R.
    arrays = {
        "weight": weights["weight"].T[None, None],
        "recurrence": weights["recurrence"].T[None, None],
        "bias": np.concatenate([weights["bias"], np.zeros(4 * HIDDEN)])[None, None, None],
        "matrix": weights["matrix"][None, None],
        "matrix_bias": weights["matrix_bias"][None, None, None],
    }
    TARGET.mkdir(exist_ok=True)
    for name, array in arrays.items():
        np.save(TARGET / f"{name}.npy", np.ascontiguousarray(array, np.float16))


if __name__ == "__main__":
    main()
