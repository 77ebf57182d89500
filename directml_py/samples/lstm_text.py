"""Character-level LSTM language model, overfitted to one text: scores text and continues prompts.

One compiled graph reads characters: ONE_HOT, LSTM, GEMM, ACTIVATION_SOFTMAX1 and TOP_K1. From characters and a state it
computes the probabilities of each next character and the new state. A prompt is read at once; generation then feeds
back the most probable character and the state.

DirectML has no gradient of LSTM: ``tools/train_text.py`` trained the weights, on ``lstm_text.txt`` alone. The network
therefore does not generalize: other sentences have a high perplexity, and its continuations are pieces of the text.

``python -m directml_py.samples.lstm_text FOLDER`` also draws the probability of each character.
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
# The text has a sentence with the first beginning, but none with the others.
PROMPTS = ["A stride of", "The compiler", "A sequence"]
LONGEST = 200
# The number of most probable characters at each position.
CANDIDATES = 3

FLOAT32, UINT32 = dml.DML_TENSOR_DATA_TYPE_FLOAT32, dml.DML_TENSOR_DATA_TYPE_UINT32
# The activations of the gates, of the cell's input and of its output.
ACTIVATIONS = [
    dml.DML_ACTIVATION_SIGMOID_OPERATOR_DESC(),
    dml.DML_ACTIVATION_TANH_OPERATOR_DESC(),
    dml.DML_ACTIVATION_TANH_OPERATOR_DESC(),
]
# Dimensions of the picture, in its own units.
SIZE, LINE, MARGIN = 12.0, 18.0, 20.0

Array = npt.NDArray[Any]


@cache
def weights() -> dict[str, Array]:
    """The weights by name; in files they are FLOAT16."""
    return {path.stem: np.load(path).astype(np.float32) for path in WEIGHTS.glob("*.npy")}


@cache
def reading(length: int) -> CompiledGraph:
    """The graph that reads "characters" {1,length,1,1}, indices in ALPHABET, starting from the state "hidden", "cell".

    "chances" {1,1,length,A} are the probabilities of the next character at each position, "best" and "best_chances"
    {1,1,length,3} the top three. "hidden" and "cell" {1,1,1,H} are the state after the last character.
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
        # One row of biases for all characters, broadcast by a stride of 0.
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
    """The recurrent state, {1,1,1,H} each; initially zero."""

    hidden: Array
    cell: Array

    @classmethod
    def empty(cls) -> State:
        sizes = weights()["recurrence"].shape[-1]
        return cls(*np.zeros((2, 1, 1, 1, sizes), np.float32))


class Reading(NamedTuple):
    """The predictions after each character: probabilities {length,A} and the top three {length,3}."""

    chances: Array
    best: Array
    best_chances: Array
    state: State


def read(text: str, state: State) -> Reading:
    """Read characters from a state. Raises ``ValueError`` for one that is not in ALPHABET."""
    characters = np.array([ALPHABET.index(character) for character in text], np.uint32).reshape(1, -1, 1, 1)
    results = reading(len(text)).run({"characters": characters, **state._asdict()})
    chances, best, best_chances = (results[name][0, 0] for name in ("chances", "best", "best_chances"))
    return Reading(chances, best, best_chances, State(results["hidden"], results["cell"]))


def continuation(prompt: str, longest: int = LONGEST) -> str:
    """Greedy generation: the most probable characters, up to the end of a sentence."""
    generated, last_reading = "", read(prompt, State.empty())
    while len(generated) < longest and not generated.endswith("."):
        generated += ALPHABET[last_reading.best[-1, 0]]
        last_reading = read(generated[-1], last_reading.state)
    return generated


class Score(NamedTuple):
    """How well a text was predicted."""

    perplexity: float
    accuracy: float


def chances_of(text: str, predictions: Reading) -> Array:
    """The probabilities of the actual characters, except the first."""
    following = [ALPHABET.index(character) for character in text[1:]]
    return np.asarray(predictions.chances[np.arange(len(following)), following])


def score(text: str, predictions: Reading) -> Score:
    """Perplexity and accuracy: a perplexity of n is the uncertainty of n equally probable characters."""
    likeliest = [ALPHABET[index] for index in predictions.best[:-1, 0]]
    right = np.array(likeliest) == np.array(list(text[1:]))
    return Score(float(np.exp(-np.log(chances_of(text, predictions)).mean())), float(right.mean()))


def drawing(text: str, predictions: Reading) -> str:
    """The text as SVG: the less probable a character, the redder its background. Tooltips show the predictions."""
    # The first character has no prediction.
    chances = [1.0, *chances_of(text, predictions)]
    parts, position = [], 0
    lines = text.splitlines()
    for row, line in enumerate(lines):
        y = MARGIN + row * LINE
        for column, chance in enumerate(chances[position : position + len(line)]):
            if chance > 0.99:
                continue
            candidates = zip(
                predictions.best[position + column - 1], predictions.best_chances[position + column - 1]
            )
            tooltip = ", ".join(f"{ALPHABET[index]!r} {value:.0%}" for index, value in candidates)
            box = svg.element(
                "rect",
                svg.title(tooltip),
                x=MARGIN + svg.text_width(line[:column], SIZE),
                y=y,
                width=svg.text_width("x", SIZE),
                height=LINE,
                fill="#d03030",
                fill_opacity=f"{1 - chance:.2f}",
            )
            parts.append(box)
        # The text length is explicit, so that the boxes fit in any font.
        length = svg.text_width(line, SIZE)
        parts.append(svg.text(MARGIN, y + 0.75 * LINE, line, SIZE, textLength=length, pointer_events="none"))
        position += len(line) + 1
    width = max(svg.text_width(line, SIZE) for line in lines)
    return svg.document(2 * MARGIN + width, 2 * MARGIN + len(lines) * LINE, parts)


def main(folder: Path | None = None) -> int:
    """Run the sample; write ``lstm_text.svg`` to ``folder``, the command line's argument."""
    for name, text in ("the text", TEXT), ("another sentence", UNSEEN):
        predictions = read(text, State.empty())
        perplexity, accuracy = score(text, predictions)
        print(f"{name}: {len(text)} characters, perplexity {perplexity:.3f}, accuracy {accuracy:.4f}")
        if folder is not None and text is TEXT:
            (folder / "lstm_text.svg").write_text(drawing(text, predictions), encoding="utf-8")
    for prompt in PROMPTS:
        print(f"\n[{prompt}]{continuation(prompt)}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:2])))
