"""Networks as programs write them: one that trains, with its state on the device, and one that carries a state on."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

import directml_py as dml
from directml_py.graph import Graph
from directml_py.session import Session

FLOAT32, UINT32 = dml.DML_TENSOR_DATA_TYPE_FLOAT32, dml.DML_TENSOR_DATA_TYPE_UINT32
RELU = dml.DML_ACTIVATION_RELU_OPERATOR_DESC()
COUNT, RATE = 6, 1e-2
WEIGHTS = {"filter": (2, 1, 3, 3), "matrix": (1, 1, 32, 1)}
STATE = {
    **{f"{name}{part}": sizes for name, sizes in WEIGHTS.items() for part in ("", "/first", "/second")},
    "step": (1, 1, 1, 1),
}
DATA = {"images": (COUNT, 1, 4, 4), "wanted": (1, 1, COUNT, 1)}


def convolution(images, filters, fused_activation=None):
    return images.graph.convolution(
        images,
        filters,
        mode=dml.DML_CONVOLUTION_MODE_CROSS_CORRELATION,
        direction=dml.DML_CONVOLUTION_DIRECTION_FORWARD,
        strides=[1, 1],
        dilations=[1, 1],
        start_padding=[1, 1],
        end_padding=[1, 1],
        output_padding=[0, 0],
        group_count=1,
        fused_activation=fused_activation,
    )


def product(a, b, trans_a=False, trans_b=False):
    plain, turned = dml.DML_MATRIX_TRANSFORM_NONE, dml.DML_MATRIX_TRANSFORM_TRANSPOSE
    return a.graph.gemm(
        a, b, trans_a=turned if trans_a else plain, trans_b=turned if trans_b else plain, alpha=1, beta=0
    )


def exchanged(values):
    """The first two dimensions transposed, by strides alone."""
    sizes, strides = list(values.desc.sizes), list(values.desc.effective_strides)
    sizes[:2], strides[:2] = sizes[1::-1], strides[1::-1]
    return values.graph.reinterpret(values, sizes=sizes, strides=strides)


def training_step(device=None):
    """The loss, and all that a step reads from the one before, of a convolution and a product, by Adam."""
    graph = Graph(device)
    tensors = {
        name: graph.input_tensor(name, UINT32 if name == "step" else FLOAT32, sizes)
        for name, sizes in {**DATA, **STATE}.items()
    }
    hidden = convolution(tensors["images"], tensors["filter"], RELU)
    rows = graph.reinterpret(hidden, sizes=[1, 1, COUNT, 32])
    wrong = product(rows, tensors["matrix"]) - tensors["wanted"]
    loss = graph.reduce(wrong * wrong, function=dml.DML_REDUCE_FUNCTION_SUM, axes=[2, 3])
    of_rows = product(wrong * 2, tensors["matrix"], trans_b=True)
    of_hidden = graph.activation_relu_grad(hidden, graph.reinterpret(of_rows, sizes=hidden.desc.sizes))
    gradients = {
        # A convolution of the images with the gradient as the filter, with batch and channels exchanged.
        "filter": exchanged(convolution(exchanged(tensors["images"]), exchanged(of_hidden))),
        "matrix": product(rows, wrong * 2, trans_a=True),
    }
    following = {"step": tensors["step"] + graph.constant(np.ones((1, 1, 1, 1), np.uint32))}
    for name, gradient in gradients.items():
        names = [name, f"{name}/first", f"{name}/second"]
        made = graph.adam_optimizer(
            *(tensors[one] for one in names),
            gradient,
            tensors["step"],
            learning_rate=RATE,
            beta1=0.9,
            beta2=0.999,
            epsilon=1e-8,
        )
        following.update(zip(names, made))
    return graph.compile({"loss": loss, **{name: following[name] for name in STATE}})


def beginning():
    rng = np.random.default_rng(2)
    state = {name: np.zeros(sizes, np.float32) for name, sizes in STATE.items()}
    state.update((name, rng.normal(0, 0.3, sizes).astype(np.float32)) for name, sizes in WEIGHTS.items())
    state["step"] = np.ones((1, 1, 1, 1), np.uint32)
    return state, {name: rng.normal(0, 1, sizes).astype(np.float32) for name, sizes in DATA.items()}


def loss_of(state, data):
    """In FLOAT64, by einsum."""
    padded = np.pad(data["images"].astype(np.float64), ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = sliding_window_view(padded, (3, 3), (2, 3))
    hidden = np.maximum(np.einsum("nchwij,ocij->nohw", windows, state["filter"].astype(np.float64)), 0)
    return np.sum((hidden.reshape(COUNT, 32) @ state["matrix"][0, 0] - data["wanted"][0, 0]) ** 2)


def slopes(state, data, name):
    """The gradient, by central differences."""
    found = []
    for index in range(state[name].size):
        losses = []
        for move in (1e-6, -1e-6):
            moved = state[name].astype(np.float64)
            moved.flat[index] += move
            losses.append(loss_of({**state, name: moved}, data))
        found.append((losses[0] - losses[1]) / 2e-6)
    return np.reshape(found, state[name].shape)


def test_steps_are_those_of_adam():
    """Two steps, by the formulas at the end of section 2 of Kingma and Ba (arXiv 1412.6980), in FLOAT64."""
    state, data = beginning()
    compiled = training_step()
    first = {name: np.zeros(sizes) for name, sizes in WEIGHTS.items()}
    second = {name: np.zeros(sizes) for name, sizes in WEIGHTS.items()}
    for step in (1, 2):
        before, results = state, compiled.run({**data, **state})
        assert results.pop("loss").item() == pytest.approx(loss_of(before, data), rel=1e-5)
        state = results
        for name in WEIGHTS:
            gradient = slopes(before, data, name)
            first[name] = 0.9 * first[name] + 0.1 * gradient
            second[name] = 0.999 * second[name] + 0.001 * gradient**2
            change = RATE * (1 - 0.999**step) ** 0.5 / (1 - 0.9**step) * first[name]
            expected = before[name] - change / (np.sqrt(second[name]) + 1e-8)
            np.testing.assert_allclose(state[name], expected, rtol=1e-4, atol=1e-6)
            np.testing.assert_allclose(state[f"{name}/first"], first[name], rtol=1e-3, atol=1e-5)


def test_state_stays_on_the_device(dml_device):
    """Commands give the same bits as runs whose state NumPy carries on, the debug layer reports nothing, and the loss
    falls to a tenth."""
    arrays, data = beginning()
    session, steps = Session(dml_device), 60
    compiled = training_step(session.dml)
    persistent = session.initialize(compiled.operator)
    given = {name: session.upload(array) for name, array in data.items()}
    state = {name: session.upload(array) for name, array in arrays.items()}
    # A step cannot write in place what it reads.
    following = {name: session.buffer(buffer.width) for name, buffer in state.items()}
    alignment = dml.DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT
    losses = session.buffer(steps * alignment)
    for step in range(steps):
        loss = dml.DML_BUFFER_BINDING(losses, step * alignment, alignment)
        written = {"loss": dml.DML_BINDING_DESC(dml.DML_BINDING_TYPE_BUFFER, loss), **following}
        read = {**given, **state}
        session.dispatch(
            compiled.operator,
            [read[name] for name in compiled.inputs],
            [written[name] for name in compiled.outputs],
            persistent,
        )
        session.barrier()
        state, following = following, state
    session.execute()

    expected = []
    for _ in range(steps):
        arrays = compiled.run({**data, **arrays})
        expected.append(arrays.pop("loss").item())
    np.testing.assert_array_equal(session.read(losses, np.float32)[:: alignment // 4], expected)
    for name, array in arrays.items():
        np.testing.assert_array_equal(session.read(state[name], array.dtype), array.ravel(), name)
    assert expected[-1] < expected[0] / 10


def test_a_recurrent_state_goes_on_where_it_was_left():
    """A sequence in three parts, one of them a single step, gives the same results as at once."""
    rng = np.random.default_rng(4)
    width, hidden = 3, 4
    sizes = {"weight": (1, 1, 4 * hidden, width), "recurrence": (1, 1, 4 * hidden, hidden)}
    weights = {name: rng.normal(0, 1, one).astype(np.float32) for name, one in sizes.items()}
    sequence = rng.normal(0, 1, (1, 9, 1, width)).astype(np.float32)

    def run(part, state):
        graph = Graph()
        x = graph.input_tensor("x", FLOAT32, part.shape)
        before = [graph.input_tensor(name, FLOAT32, [1, 1, 1, hidden]) for name in ("hidden", "cell")]
        own = [graph.constant(array, name=name) for name, array in weights.items()]
        read = graph.lstm(
            x,
            *own,
            None,
            *before,
            activation_descs=[
                dml.DML_ACTIVATION_SIGMOID_OPERATOR_DESC(),
                dml.DML_ACTIVATION_TANH_OPERATOR_DESC(),
                dml.DML_ACTIVATION_TANH_OPERATOR_DESC(),
            ],
            direction=dml.DML_RECURRENT_NETWORK_DIRECTION_FORWARD,
            clip_threshold=0,
            use_clip_threshold=False,
            couple_input_forget=False,
            output_sequence=True,
            output_single=True,
            output_cell_single=True,
        )
        outputs = list(read)
        return graph.compile(outputs).run([part, *state])

    empty = [np.zeros((1, 1, 1, hidden), np.float32)] * 2
    whole, *last = run(sequence, empty)
    state, parts = empty, []
    for start, end in ((0, 5), (5, 6), (6, 9)):
        part, *state = run(sequence[:, start:end], state)
        parts.append(part)
    np.testing.assert_allclose(np.concatenate(parts), whole, rtol=1e-5, atol=1e-6)
    for one, other in zip(state, last, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)
