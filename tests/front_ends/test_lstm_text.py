"""The LSTM language model sample: compared with ONNX Runtime, and as a program."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from directml_py.samples import lstm_text
from directml_py.samples.lstm_text import ALPHABET, PROMPTS, TEXT, State, chances_of, read

SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def seen():
    return read(TEXT, State.empty())


@pytest.fixture(scope="module")
def another_runtime():
    """The same network in ONNX Runtime, from a text to the probabilities {length,A} and the final state."""
    from onnx import TensorProto, helper, numpy_helper
    from onnxruntime import InferenceSession

    arrays = {path.stem: np.load(path).astype(np.float32) for path in lstm_text.WEIGHTS.glob("*.npy")}
    for name in ("weight", "recurrence", "matrix"):
        arrays[name] = arrays[name].reshape(arrays[name].shape[-2:])
    for name in ("weight", "recurrence"):
        arrays[name] = arrays[name][np.newaxis]
    arrays["bias"] = arrays["bias"].reshape(1, -1)
    arrays["matrix_bias"] = arrays["matrix_bias"].reshape(-1)
    hidden = arrays["recurrence"].shape[-1]
    nodes = [
        helper.make_node(
            "LSTM", ["x", "weight", "recurrence", "bias"], ["y", "hidden", "cell"], hidden_size=hidden
        ),
        helper.make_node("Squeeze", ["y", "axes"], ["rows"]),
        helper.make_node("MatMul", ["rows", "matrix"], ["products"]),
        helper.make_node("Add", ["products", "matrix_bias"], ["scores"]),
        helper.make_node("Softmax", ["scores"], ["chances"], axis=-1),
    ]
    arrays["axes"] = np.array([1, 2])
    sizes = ["length", 1, len(ALPHABET)]
    graph = helper.make_graph(
        nodes,
        "text",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, sizes)],
        [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, None)
            for name in ("chances", "hidden", "cell")
        ],
        [numpy_helper.from_array(array, name) for name, array in arrays.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    session = InferenceSession(model.SerializeToString())

    def run(text):
        ones = np.array(list(text))[:, np.newaxis] == np.array(ALPHABET)
        return session.run(None, {"x": ones[:, np.newaxis].astype(np.float32)})

    return run


def test_the_text_is_read_as_another_runtime_does(seen, another_runtime):
    chances, hidden, cell = another_runtime(TEXT)
    np.testing.assert_allclose(seen.chances, chances, rtol=2e-3, atol=1e-5)
    np.testing.assert_allclose(seen.state.hidden[0], hidden, atol=1e-4)
    np.testing.assert_allclose(seen.state.cell[0], cell, rtol=1e-4, atol=1e-4)
    np.testing.assert_array_equal(seen.best[:, 0], chances.argmax(-1))
    np.testing.assert_allclose(seen.best_chances, -np.sort(-chances, -1)[:, :3], rtol=2e-3, atol=1e-5)


def test_a_state_goes_on_where_it_was_left(seen):
    """A text in three parts, one of them a single character, gives the same results as at once."""
    state, parts = State.empty(), []
    for text in TEXT[:700], TEXT[700:701], TEXT[701:]:
        part = read(text, state)
        state = part.state
        parts.append(part.chances)
    np.testing.assert_allclose(np.concatenate(parts), seen.chances, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(state.cell, seen.state.cell, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("prompt", PROMPTS)
def test_continuations_are_those_of_another_runtime(another_runtime, prompt):
    """It rereads the text from the beginning for each character, so that no state is carried over."""
    text = prompt
    while len(text) < len(prompt) + lstm_text.LONGEST and not text.endswith("."):
        text += ALPHABET[another_runtime(text)[0][-1].argmax()]
    assert lstm_text.continuation(prompt) == text[len(prompt) :]


def test_a_continuation_has_an_end():
    assert lstm_text.continuation("A stride of", 5) == " zero"


def test_lstm_text(python, tmp_path, seen):
    """The network predicts its own text, but not another sentence; it writes a picture."""
    process = python("-m", "directml_py.samples.lstm_text", str(tmp_path))
    assert (process.returncode, process.stderr) == (0, "")
    known, unknown = (
        [float(number) for number in re.findall(r"(?:perplexity|accuracy) ([\d.]+\d)", line)]
        for line in process.stdout.splitlines()[:2]
    )
    assert known[0] < 1.2
    assert known[1] > 0.99
    assert unknown[0] > 5
    assert unknown[1] < 0.6
    right = [ALPHABET[one] for one in seen.chances[:-1].argmax(-1)]
    assert known[1] == pytest.approx(np.mean([a == b for a, b in zip(right, TEXT[1:])]), abs=1e-4)

    # The first prompt is continued as it is in the text.
    start = TEXT.index(PROMPTS[0])
    sentence = TEXT[start : TEXT.index(".", start) + 1]
    assert f"\n[{PROMPTS[0]}]{sentence[len(PROMPTS[0]) :]}\n" in process.stdout

    (path,) = tmp_path.iterdir()
    assert path.name == "lstm_text.svg"
    root = ElementTree.parse(path).getroot()
    assert [one.text or "" for one in root.iter(f"{SVG}text")] == TEXT.splitlines()
    # A box for each character that was not certain, line ends aside: the less expected, the redder.
    boxes = [box for box in root.iter(f"{SVG}rect") if box.find(f"{SVG}title") is not None]
    chances = chances_of(TEXT, seen)
    unsure = [index for index, one in enumerate(TEXT[1:]) if one != "\n" and chances[index] <= 0.99]
    redness = [float(box.get("fill-opacity")) for box in boxes]
    np.testing.assert_allclose(redness, 1 - chances[unsure], atol=0.006)
    titles = [box.find(f"{SVG}title").text for box in boxes]
    for words, index in zip(titles, unsure):
        assert words.startswith(f"{right[index]!r} ")
        assert len(words.split("%")) == 4
