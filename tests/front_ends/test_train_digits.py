"""The training sample: its gradients, steps and commands, each compared with an independent implementation."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from directml_py.graph import Graph
from directml_py.samples import train_digits
from directml_py.session import Session

pytest.importorskip("sklearn")

COUNT = 70


@pytest.fixture(scope="module")
def digits():
    given, _ = train_digits.load()
    return train_digits.Digits(given.images[:COUNT], given.labels[:COUNT])


@pytest.fixture(scope="module")
def weights():
    """Weights that all have an effect; a negative scale turns a maximum into a minimum."""
    rng = np.random.default_rng(3)
    drawn = {name: rng.normal(0, 0.3, sizes) for name, sizes in train_digits.WEIGHTS.items()}
    drawn["scale"] += 1
    drawn["scale"][0, 0] *= -1
    return {name: array.astype(np.float32) for name, array in drawn.items()}


def windows(images):
    return sliding_window_view(np.pad(images, ((0, 0), (0, 0), (1, 1), (1, 1))), (3, 3), (2, 3))


def blocks(images):
    """{n,c,2h,2w} as {n,c,h,2,w,2}."""
    n, c, height, width = images.shape
    return images.reshape(n, c, height // 2, 2, width // 2, 2)


def forward(weights, digits, statistics=None):
    """The scores, the mean and the variance, in FLOAT64."""
    w = {name: array.astype(np.float64) for name, array in weights.items()}
    seen = np.einsum("nchwij,ocij->nohw", windows(digits.images), w["filter1"], optimize=True)
    mean, variance = statistics or (seen.mean((0, 2, 3)), seen.var((0, 2, 3)))
    mean, variance = mean.reshape(1, -1, 1, 1), variance.reshape(1, -1, 1, 1)
    normal = (seen - mean) / np.sqrt(variance + 1e-5) * w["scale"] + w["shift"]
    pooled = blocks(np.maximum(normal, 0)).max((3, 5))
    hidden = np.einsum("nchwij,ocij->nohw", windows(pooled), w["filter2"], optimize=True) + w["bias"]
    rows = blocks(np.maximum(hidden, 0)).mean((3, 5)).reshape(len(digits.images), -1)
    return rows @ w["matrix"][0, 0] + w["matrix_bias"][0, 0], mean, variance


def cross_entropy(weights, digits):
    scores = forward(weights, digits)[0]
    right = scores[np.arange(len(scores)), digits.labels]
    return np.mean(np.log(np.exp(scores).sum(1)) - right)


def on_the_device(weights, digits):
    """The loss, and the gradients by weight, of the graph's own operators."""
    graph = Graph()
    tensors = {
        name: graph.input_tensor(name, train_digits.FLOAT32, array.shape) for name, array in weights.items()
    }
    wanted = np.eye(train_digits.CLASSES, dtype=np.float32)[digits.labels][np.newaxis, np.newaxis]
    data = {"images": digits.images, "wanted": wanted}
    images, labels = (
        graph.input_tensor(name, train_digits.FLOAT32, array.shape) for name, array in data.items()
    )
    loss, gradients, _ = train_digits.forward_and_back(graph, tensors, images, labels)
    results = graph.compile({"loss": loss, **gradients}).run({**weights, **data})
    return results.pop("loss").item(), results


def first(digits, count):
    return train_digits.Digits(digits.images[:count], digits.labels[:count])


@pytest.mark.parametrize("name", train_digits.WEIGHTS)
def test_gradients_are_slopes(digits, weights, name):
    """Up to 100 elements of each weight, by central differences in FLOAT64."""
    few = first(digits, 6)
    loss, gradients = on_the_device(weights, few)
    assert loss == pytest.approx(cross_entropy(weights, few), rel=1e-6)
    gradient = gradients[name]
    assert gradient.shape == weights[name].shape
    rng = np.random.default_rng(1)
    places = rng.permutation(gradient.size)[:100]
    slopes = []
    for place in places:
        losses = []
        for move in (1e-6, -1e-6):
            moved = weights[name].astype(np.float64)
            moved.flat[place] += move
            losses.append(cross_entropy({**weights, name: moved}, few))
        slopes.append((losses[0] - losses[1]) / 2e-6)
    assert np.abs(slopes).max() > 1e-3
    np.testing.assert_allclose(gradient.flat[places], slopes, rtol=1e-4, atol=1e-6)


def test_steps_are_those_of_adam(digits, weights):
    """Two steps, by the formulas at the end of section 2 of Kingma and Ba (arXiv 1412.6980), in FLOAT64."""
    rate = 1e-2
    compiled = train_digits.training_step(COUNT, rate)
    rng = np.random.default_rng(5)
    state = {**train_digits.initial_state(rng), **weights}
    first_moments = {name: np.zeros(array.shape) for name, array in weights.items()}
    second_moments = {name: np.zeros(array.shape) for name, array in weights.items()}
    mean, variance = 0, 1
    data = {"images": digits.images, "labels": digits.labels.reshape(1, 1, COUNT, 1)}
    for step in (1, 2):
        assert state["step"].item() == step
        order = rng.permutation(COUNT)[: train_digits.BATCH].astype(np.uint32)
        batch = train_digits.Digits(digits.images[order], digits.labels[order])
        before = {name: state[name] for name in weights}
        _, gradients = on_the_device(before, batch)
        state = compiled.run({"order": order.reshape(1, 1, 1, -1), **data, **state})
        assert state.pop("loss").item() == pytest.approx(cross_entropy(before, batch), rel=1e-6)
        for name, gradient in gradients.items():
            g = gradient.astype(np.float64)
            first_moments[name] = 0.9 * first_moments[name] + 0.1 * g
            second_moments[name] = 0.999 * second_moments[name] + 0.001 * g**2
            change = rate * (1 - 0.999**step) ** 0.5 / (1 - 0.9**step) * first_moments[name]
            expected = before[name] - change / (np.sqrt(second_moments[name]) + 1e-8)
            np.testing.assert_allclose(state[name], expected, rtol=1e-4, atol=1e-6)
            one, two = train_digits.adam_moments(name)
            np.testing.assert_allclose(state[one], first_moments[name], rtol=1e-3, atol=1e-7)
            np.testing.assert_allclose(state[two], second_moments[name], rtol=1e-3, atol=1e-9)
        _, newest_mean, newest_variance = forward(before, batch)
        mean, variance = 0.9 * mean + 0.1 * newest_mean, 0.9 * variance + 0.1 * newest_variance
        np.testing.assert_allclose(state["mean"], mean, rtol=1e-5, atol=1e-6)
        np.testing.assert_allclose(state["variance"], variance, rtol=1e-5)


def test_state_stays_on_the_device(digits, dml_device):
    """Commands give the same bits as the graphs do when NumPy carries each state to the next step, with two rates; and
    the debug layer reports nothing."""
    rates = [1e-2, 1e-3]
    model = train_digits.DigitsNetwork(Session(dml_device))
    losses = np.concatenate(list(model.train(digits, rates)))
    rng = np.random.default_rng(train_digits.SEED)
    state = train_digits.initial_state(rng)
    data = {"images": digits.images, "labels": digits.labels.reshape(1, 1, COUNT, 1)}
    expected = []
    for rate in rates:
        compiled = train_digits.training_step(COUNT, rate)
        batches = rng.permutation(COUNT).astype(np.uint32)[: COUNT // train_digits.BATCH * train_digits.BATCH]
        for order in batches.reshape(-1, 1, 1, 1, train_digits.BATCH):
            state = compiled.run({"order": order, **data, **state})
            expected.append(state.pop("loss").item())
    np.testing.assert_array_equal(losses, expected)
    assert set(model.state) == set(state)
    for name, array in state.items():
        np.testing.assert_array_equal(model.session.read(model.state[name], array.dtype), array.ravel(), name)

    # Classification takes the statistics that training has gathered.
    scores = forward(
        {name: state[name] for name in train_digits.WEIGHTS}, digits, (state["mean"], state["variance"])
    )
    np.testing.assert_array_equal(model.classify(digits.images), scores[0].argmax(1))


def test_progress(monkeypatch, capsys):
    """On a terminal one line is overwritten, and terminated at the end; elsewhere there is a line per epoch."""
    train_digits.progress(1, 4, 0.5)
    assert capsys.readouterr().out == "epoch  1 of 4: loss 0.5000\n"
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    train_digits.progress(1, 4, 0.5)
    train_digits.progress(4, 4, 0.25)
    begun, done = capsys.readouterr().out.split("\r")[1:]
    assert begun == f"[{'#' * 7}{'.' * 23}] epoch  1 of 4: loss 0.5000"
    assert done == f"[{'#' * 30}] epoch  4 of 4: loss 0.2500\n"
    assert len(done) == len(begun) + 1


def test_a_gallery_marks_what_is_wrong():
    """Black is 1 and white is 0."""
    image = np.zeros((1, 1, 8, 8), np.float32)
    image[0, 0, 2, 5] = 1
    digits = train_digits.Digits(np.repeat(image, 2, 0), np.array([3, 4]))
    right, wrong = train_digits.gallery(digits, np.array([3, 9]))
    assert ">3<" in right
    assert ">9, not 4<" in wrong
    assert right.count("rgb(255,255,255)") == 63
    assert right.count("rgb(0,0,0)") == 1
    pixel = next(line for line in right.splitlines() if "rgb(0,0,0)" in line)
    assert f'x="{train_digits.MARGIN + 5 * train_digits.PIXEL:g}"' in pixel
