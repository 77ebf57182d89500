"""A text that an LSTM knows by heart, read and continued character by character.

A reading is one compiled graph: ONE_HOT, LSTM, GEMM, ACTIVATION_SOFTMAX1 and TOP_K1. It takes characters and a state
and gives how likely each character is to follow, and the state behind them. A prompt is read at once; from then on the
likeliest character and the state are what the next reading begins with.

DirectML has no gradient of LSTM: ``tools/train_text.py`` trained the weights, on ``lstm_text.txt`` alone. So the
network is no writer: a sentence that is not in the text surprises it, and what it says is made of the text.

``python -m directml_py.samples.lstm_text FOLDER`` also draws how sure the network was of each character.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import directml_py as dml
from directml_py.graph import CompiledGraph, Expression, Graph
from directml_py.graph.pictures import svg

HERE = Path(__file__).resolve().parent
WEIGHTS = HERE / "lstm_text_weights"
TEXT = (HERE / "lstm_text.txt").read_text(encoding="ascii")
ALPHABET = sorted(set(TEXT))
UNSEEN = "This is a sentence that the network has never read before."
# The text has the first; no sentence in it begins like the others.
PROMPTS = ["A stride of", "The compiler", "A sequence"]
LONGEST = 200
# How many characters are compared, at each place.
CANDIDATES = 3

FLOAT32, UINT32 = dml.DML_TENSOR_DATA_TYPE_FLOAT32, dml.DML_TENSOR_DATA_TYPE_UINT32
# Those of the gates, of the cell's input and of its output.
ACTIVATIONS = [
    dml.DML_ACTIVATION_SIGMOID_OPERATOR_DESC(),
    dml.DML_ACTIVATION_TANH_OPERATOR_DESC(),
    dml.DML_ACTIVATION_TANH_OPERATOR_DESC(),
]
# Of the picture, in its own units.
SIZE, LINE, MARGIN = 12.0, 18.0, 20.0

Array = npt.NDArray[Any]


@cache
def weights() -> dict[str, Array]:
    """By name; in files they are FLOAT16."""
    return {path.stem: np.load(path).astype(np.float32) for path in WEIGHTS.glob("*.npy")}


@cache
def reading(length: int) -> CompiledGraph:
    """The graph that reads "characters" {1,length,1,1}, indices in ALPHABET, from the state "hidden" and "cell" on.

    "chances" {1,1,length,A} are those of each character to follow on each, "best" and "best_chances" {1,1,length,3}
    the likeliest of them. "hidden" and "cell" {1,1,1,H} are the state behind the last one.
    """
    graph = Graph()
    classes, width = len(ALPHABET), weights()["recurrence"].shape[-1]

    def weight(name: str) -> Expression:
        return graph.constant(weights()[name], name=name)

    characters = graph.input_tensor("characters", UINT32, [1, length, 1, 1])
    state = [graph.input_tensor(name, FLOAT32, [1, 1, 1, width]) for name in ("hidden", "cell")]
    off_and_on = graph.constant(np.array([0, 1], np.float32).reshape(1, 1, 1, 2), name="zero_and_one")
    read = graph.lstm(
        graph.one_hot(characters, off_and_on, axis=3, output_length=classes),
        weight("weight"),
        weight("recurrence"),
        weight("bias"),
        *state,
        activation_descs=ACTIVATIONS,
        direction=dml.DML_RECURRENT_NETWORK_DIRECTION_FORWARD,
        clip_threshold=0,
        use_clip_threshold=False,
        couple_input_forget=False,
        output_sequence=True,
        output_single=True,
        output_cell_single=True,
    )
    scores = graph.gemm(
        graph.reinterpret(read.output_sequence, sizes=[1, 1, length, width]),
        weight("matrix"),
        # One row of biases for all characters: a stride of 0 repeats it.
        graph.reinterpret(weight("matrix_bias"), sizes=[1, 1, length, classes], strides=[0, 0, 0, 1]),
        trans_a=dml.DML_MATRIX_TRANSFORM_NONE,
        trans_b=dml.DML_MATRIX_TRANSFORM_NONE,
        alpha=1,
        beta=1,
    )
    chances = graph.activation_softmax1(scores, axes=[3])
    best = graph.top_k1(chances, axis=3, k=CANDIDATES, axis_direction=dml.DML_AXIS_DIRECTION_DECREASING)
    return graph.compile(
        {
            "chances": chances,
            "best": best.output_index,
            "best_chances": best.output_value,
            "hidden": read.output_single,
            "cell": read.output_cell_single,
        }
    )


class State(NamedTuple):
    """What the network remembers, {1,1,1,H} each; nothing in the beginning."""

    hidden: Array
    cell: Array

    @classmethod
    def empty(cls) -> State:
        sizes = weights()["recurrence"].shape[-1]
        return cls(*np.zeros((2, 1, 1, 1, sizes), np.float32))


class Reading(NamedTuple):
    """What the network expected behind each character: {length,A} and {length,3}."""

    chances: Array
    best: Array
    best_chances: Array
    state: State


def read(text: str, state: State) -> Reading:
    """Raises ``ValueError`` for a character that is not in ALPHABET."""
    characters = np.array([ALPHABET.index(one) for one in text], np.uint32).reshape(1, -1, 1, 1)
    results = reading(len(text)).run({"characters": characters, **state._asdict()})
    chances, best, best_chances = (results[name][0, 0] for name in ("chances", "best", "best_chances"))
    return Reading(chances, best, best_chances, State(results["hidden"], results["cell"]))


def continuation(prompt: str, longest: int = LONGEST) -> str:
    """The likeliest characters, one after the other, up to the end of a sentence."""
    found, last = "", read(prompt, State.empty())
    while len(found) < longest and not found.endswith("."):
        found += ALPHABET[last.best[-1, 0]]
        last = read(found[-1], last.state)
    return found


class Score(NamedTuple):
    """How well a text was foreseen."""

    perplexity: float
    accuracy: float


def chances_of(text: str, seen: Reading) -> Array:
    """Those of the characters that did follow, all but the first."""
    following = [ALPHABET.index(one) for one in text[1:]]
    return np.asarray(seen.chances[np.arange(len(following)), following])


def score(text: str, seen: Reading) -> Score:
    """The perplexity is the number of characters among which choosing would be as uncertain."""
    likeliest = [ALPHABET[index] for index in seen.best[:-1, 0]]
    right = np.array(likeliest) == np.array(list(text[1:]))
    return Score(float(np.exp(-np.log(chances_of(text, seen)).mean())), float(right.mean()))


def drawing(text: str, seen: Reading) -> str:
    """The text as SVG, the redder behind a character the less it was expected. Pointed at, it says what was."""
    # Of the first one there is no chance: nothing is before it.
    chances = [1.0, *chances_of(text, seen)]
    parts, place = [], 0
    lines = text.splitlines()
    for row, line in enumerate(lines):
        y = MARGIN + row * LINE
        for column, chance in enumerate(chances[place : place + len(line)]):
            if chance > 0.99:
                continue
            candidates = zip(seen.best[place + column - 1], seen.best_chances[place + column - 1])
            words = ", ".join(f"{ALPHABET[index]!r} {value:.0%}" for index, value in candidates)
            box = svg.element(
                "rect",
                svg.title(words),
                x=MARGIN + svg.text_width(line[:column], SIZE),
                y=y,
                width=svg.text_width("x", SIZE),
                height=LINE,
                fill="#d03030",
                fill_opacity=f"{1 - chance:.2f}",
            )
            parts.append(box)
        # The length is said, so that the boxes fit whatever font there is.
        length = svg.text_width(line, SIZE)
        parts.append(svg.text(MARGIN, y + 0.75 * LINE, line, SIZE, textLength=length, pointer_events="none"))
        place += len(line) + 1
    width = max(svg.text_width(line, SIZE) for line in lines)
    return svg.document(2 * MARGIN + width, 2 * MARGIN + len(lines) * LINE, parts)


def main(folder: Path | None = None) -> int:
    """``folder``, the argument on the command line, gets ``lstm_text.svg``."""
    for name, text in ("the text", TEXT), ("another sentence", UNSEEN):
        seen = read(text, State.empty())
        perplexity, accuracy = score(text, seen)
        print(f"{name}: {len(text)} characters, perplexity {perplexity:.3f}, accuracy {accuracy:.4f}")
        if folder is not None and text is TEXT:
            (folder / "lstm_text.svg").write_text(drawing(text, seen), encoding="utf-8")
    for prompt in PROMPTS:
        print(f"\n[{prompt}]{continuation(prompt)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:2])))
