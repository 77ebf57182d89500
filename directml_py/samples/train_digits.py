"""Training of a small convolutional network on handwritten digits with DirectML's own operators.

A training step is one compiled graph: it gathers a batch, runs the forward and the backward pass, and updates every
weight with ADAM_OPTIMIZER. Weights stay on the device: each step reads what the previous one wrote. The steps of an
epoch are recorded together; NumPy shuffles the images before each epoch and reads the losses after it.

``python -m directml_py.samples.train_digits FOLDER`` also draws the losses and the predicted digits. The images come
with scikit-learn (extra ``samples``); as in ``digits``, those with odd indices are held out.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import directml_py as dml
from directml_py.graph import CompiledGraph, Expression, Graph
from directml_py.graph.pictures import svg
from directml_py.session import Bindable, Session

from .digits import SHOWN, picture

FLOAT32, UINT32 = dml.DML_TENSOR_DATA_TYPE_FLOAT32, dml.DML_TENSOR_DATA_TYPE_UINT32
SEED, BATCH = 7, 32
# The learning rate of each epoch.
RATES = [1e-2] * 8 + [1e-3] * 4
EPSILON = 1e-5
# The weight of the newest batch in the running mean and variance that inference uses.
NEWEST = 0.1
SIDE, CLASSES = 8, 10
WEIGHTS = {
    "filter1": [12, 1, 3, 3],
    "scale": [1, 12, 1, 1],
    "shift": [1, 12, 1, 1],
    "filter2": [24, 12, 3, 3],
    "bias": [1, 24, 1, 1],
    "matrix": [1, 1, 24 * 2 * 2, CLASSES],
    "matrix_bias": [1, 1, 1, CLASSES],
}
STATISTICS = ["mean", "variance"]

NONE, TRANSPOSE = dml.DML_MATRIX_TRANSFORM_NONE, dml.DML_MATRIX_TRANSFORM_TRANSPOSE
FORWARD, BACKWARD = dml.DML_CONVOLUTION_DIRECTION_FORWARD, dml.DML_CONVOLUTION_DIRECTION_BACKWARD
RELU = dml.DML_ACTIVATION_RELU_OPERATOR_DESC()
# Pooling over 2 x 2 pixels.
HALVED: dict[str, Any] = {
    "strides": [2, 2],
    "window_size": [2, 2],
    "start_padding": [0, 0],
    "end_padding": [0, 0],
}
# The alignment of tensors that share a buffer, in bytes.
ALIGNMENT = dml.DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT

# The progress bar's length, in characters, and the picture's dimensions, in its own units: the curve, then the digits.
BAR = 30
MARGIN, WIDTH, HEIGHT, PIXEL = 50.0, 600.0, 220.0, 5.0
CELL, COLUMNS, ROWS = 50.0, 12, 3

Array = npt.NDArray[Any]
Expressions = Mapping[str, Expression]


class Digits(NamedTuple):
    """Images {count,1,8,8} from 0 to 1, and their labels {count}."""

    images: Array
    labels: Array


def load() -> tuple[Digits, Digits]:
    """The training set and the held-out set. Raises ``ImportError`` without scikit-learn."""
    from sklearn.datasets import load_digits

    digits: Any = load_digits()
    images = (digits.images / 16).astype(np.float32).reshape(-1, 1, SIDE, SIDE)
    labels = digits.target.astype(np.uint32)
    return Digits(images[::2], labels[::2]), Digits(images[1::2], labels[1::2])


def convolution(
    images: Expression, filters: Expression, bias: Expression | None = None, **changes: Any
) -> Expression:
    """A 3 x 3 convolution with padding 1."""
    options = {"direction": FORWARD, "start_padding": [1, 1], "end_padding": [1, 1], **changes}
    result: Expression = images.graph.convolution(
        images,
        filters,
        bias,
        mode=dml.DML_CONVOLUTION_MODE_CROSS_CORRELATION,
        strides=[1, 1],
        dilations=[1, 1],
        output_padding=[0, 0],
        group_count=1,
        **options,
    )
    return result


def product(
    a: Expression, b: Expression, c: Expression | None = None, trans_a: int = NONE, trans_b: int = NONE
) -> Expression:
    result: Expression = a.graph.gemm(a, b, c, trans_a=trans_a, trans_b=trans_b, alpha=1, beta=1)
    return result


def total(values: Expression, axes: list[int]) -> Expression:
    result: Expression = values.graph.reduce(values, function=dml.DML_REDUCE_FUNCTION_SUM, axes=axes)
    return result


def exchanged(values: Expression) -> Expression:
    """The first two dimensions transposed, by strides alone."""
    sizes, strides = [list(values.desc.sizes), list(values.desc.effective_strides)]
    for numbers in (sizes, strides):
        numbers[:2] = numbers[1::-1]
    return values.graph.reinterpret(values, sizes=sizes, strides=strides)


def filter_gradient(images: Expression, gradient: Expression) -> Expression:
    """The gradient of a convolution with respect to its filters.

    It is a convolution of the images with the output's gradient as the filter, with batch and channels transposed.
    """
    return exchanged(convolution(exchanged(images), exchanged(gradient)))


def second_half(graph: Graph, weights: Expressions, pooled: Expression) -> tuple[Expression, ...]:
    """The layers after the max pooling: the outputs of the second convolution, the average pooling and the product."""
    hidden = convolution(pooled, weights["filter2"], weights["bias"], fused_activation=RELU)
    means = graph.average_pooling(hidden, **HALVED, include_padding=False)
    count, features = means.desc.sizes[0], means.desc.element_count // means.desc.sizes[0]
    rows = graph.reinterpret(means, sizes=[1, 1, count, features])
    # One row of biases for all images, broadcast by a stride of 0.
    bias = graph.reinterpret(weights["matrix_bias"], sizes=[1, 1, count, CLASSES], strides=[0, 0, 0, 1])
    return hidden, means, rows, product(rows, weights["matrix"], bias)


def scores(graph: Graph, weights: Expressions, images: Expression) -> Expression:
    """The scores {1,1,count,10} of the digits in inference, with the running statistics."""
    normal = graph.batch_normalization(
        convolution(images, weights["filter1"]),
        *(weights[name] for name in (*STATISTICS, "scale", "shift")),
        spatial=True,
        epsilon=EPSILON,
        fused_activation=RELU,
    )
    pooled = graph.max_pooling2(normal, **HALVED, dilations=[1, 1]).output
    return second_half(graph, weights, pooled)[-1]


def forward_and_back(
    graph: Graph, weights: Expressions, images: Expression, targets: Expression
) -> tuple[Expression, dict[str, Expression], dict[str, Expression]]:
    """The loss {1,1,1,1} of a batch, its gradients with respect to all weights, and the batch's statistics.

    ``targets`` {1,1,count,10} are the one-hot labels.
    """
    with graph.name_scope("forward"):
        features = convolution(images, weights["filter1"])
        normal = graph.batch_normalization_training(
            features, weights["scale"], weights["shift"], epsilon=EPSILON, fused_activation=RELU
        )
        pooled = graph.max_pooling2(normal.output, **HALVED, dilations=[1, 1]).output
        hidden, means, rows, results = second_half(graph, weights, pooled)
        logarithms = graph.activation_log_softmax1(results, axes=[3])
        share = 1 / images.desc.sizes[0]
        loss = total(targets * logarithms, [2, 3]) * -share

    # The loss's gradients with respect to the values of the forward pass, in reverse order.
    with graph.name_scope("backward"):
        of_results = (graph.exp(logarithms) - targets) * share
        of_rows = product(of_results, weights["matrix"], trans_b=TRANSPOSE)
        of_means = graph.reinterpret(of_rows, sizes=means.desc.sizes)
        spread = graph.average_pooling_grad(
            of_means, **HALVED, include_padding=False, output_sizes=hidden.desc.sizes
        )
        of_hidden = graph.activation_relu_grad(hidden, spread)
        of_pooled = convolution(of_hidden, weights["filter2"], direction=BACKWARD)
        of_normal = graph.activation_relu_grad(
            normal.output, graph.max_pooling_grad(normal.output, of_pooled, **HALVED, dilations=[1, 1])
        )
        of_features, of_scale, of_shift = graph.batch_normalization_training_grad(
            features, of_normal, normal.output_mean, normal.output_variance, weights["scale"], epsilon=EPSILON
        )
        gradients = {
            "filter1": filter_gradient(images, of_features),
            "scale": of_scale,
            "shift": of_shift,
            "filter2": filter_gradient(pooled, of_hidden),
            "bias": total(of_hidden, [0, 2, 3]),
            "matrix": product(rows, of_results, trans_a=TRANSPOSE),
            "matrix_bias": total(of_results, [2]),
        }
    return loss, gradients, dict(zip(STATISTICS, (normal.output_mean, normal.output_variance)))


def one_hot(graph: Graph, labels: Expression) -> Expression:
    """The one-hot rows of {1,1,count,1} labels."""
    values = graph.constant(np.array([0, 1], np.float32).reshape(1, 1, 1, 2), name="zero_and_one")
    result: Expression = graph.one_hot(labels, values, axis=3, output_length=CLASSES)
    return result


def training_step(count: int, rate: float, device: dml.IDMLDevice | None = None) -> CompiledGraph:
    """The graph of one step with ``BATCH`` of ``count`` images.

    "order" has their indices. All other inputs but "images" and "labels" are the state that the outputs of the same
    names update: weights, both of their moments, the running statistics and the step number, from 1.
    """
    graph = Graph(device)
    order = graph.input_tensor("order", UINT32, [1, 1, 1, BATCH])
    all_images = graph.input_tensor("images", FLOAT32, [count, 1, SIDE, SIDE])
    all_labels = graph.input_tensor("labels", UINT32, [1, 1, count, 1])
    state = {name: graph.input_tensor(name, kind, sizes) for name, (kind, sizes) in state_tensors().items()}

    with graph.name_scope("batch"):
        images = graph.gather(all_images, order, axis=0, index_dimensions=1)
        labels = graph.gather(all_labels, order, axis=2, index_dimensions=1)
        targets = one_hot(graph, labels)
    loss, gradients, statistics = forward_and_back(graph, state, images, targets)

    following: dict[str, Expression] = {}
    with graph.name_scope("update"):
        for name in WEIGHTS:
            names = [name, *adam_moments(name)]
            parameters, first_moment, second_moment = (state[key] for key in names)
            updated = graph.adam_optimizer(
                parameters,
                first_moment,
                second_moment,
                gradients[name],
                state["step"],
                learning_rate=rate,
                beta1=0.9,
                beta2=0.999,
                epsilon=1e-8,
            )
            following.update(zip(names, updated))
        for name, newest in statistics.items():
            following[name] = state[name] * (1 - NEWEST) + newest * NEWEST
        following["step"] = state["step"] + graph.constant(np.ones([1, 1, 1, 1], np.uint32), name="one")
    return graph.compile({"loss": loss, **following})


def adam_moments(weight: str) -> tuple[str, str]:
    return f"{weight}/first_moment", f"{weight}/second_moment"


def state_tensors() -> dict[str, tuple[int, list[int]]]:
    """The data types and sizes of the tensors passed from one step to the next, by name."""
    tensors = {
        key: (FLOAT32, sizes) for name, sizes in WEIGHTS.items() for key in (name, *adam_moments(name))
    }
    for name in STATISTICS:
        tensors[name] = (FLOAT32, WEIGHTS["scale"])
    return {**tensors, "step": (UINT32, [1, 1, 1, 1])}


def initial_state(rng: np.random.Generator) -> dict[str, Array]:
    """He initialization (arXiv 1502.01852) of the filters and the matrix; neutral values for all else."""
    state: dict[str, Array] = {
        name: np.zeros(sizes, np.float32) for name, (_, sizes) in state_tensors().items()
    }
    for name, inputs in ("filter1", 9), ("filter2", 12 * 9), ("matrix", 24 * 2 * 2):
        state[name] = rng.normal(0, (2 / inputs) ** 0.5, WEIGHTS[name]).astype(np.float32)
    state["scale"] += 1
    state["variance"] += 1
    state["step"] = np.ones([1, 1, 1, 1], np.uint32)
    return state


def classification(count: int, device: dml.IDMLDevice | None = None) -> CompiledGraph:
    """The inference graph: the label {1,1,count,1} of each of ``count`` images."""
    graph = Graph(device)
    images = graph.input_tensor("images", FLOAT32, [count, 1, SIDE, SIDE])
    names = [*WEIGHTS, *STATISTICS]
    weights = {name: graph.input_tensor(name, *state_tensors()[name]) for name in names}
    results = scores(graph, weights, images)
    return graph.compile(
        {"labels": graph.argmax(results, axes=[3], axis_direction=dml.DML_AXIS_DIRECTION_INCREASING)}
    )


class DigitsNetwork:
    """The network on a device: its state as buffers, by name. ``seed`` is that of initialization and shuffling."""

    def __init__(self, session: Session | None = None, seed: int = SEED) -> None:
        self.session = Session() if session is None else session
        self.rng = np.random.default_rng(seed)
        arrays = initial_state(self.rng)
        self.state = {name: self.session.upload(array) for name, array in arrays.items()}

    def train(self, digits: Digits, rates: Sequence[float] = RATES) -> Iterator[Array]:
        """Train; yields the losses of the steps of each epoch."""
        count, session = len(digits.images), self.session
        # The rate is an attribute of the optimizer: each rate needs a graph of its own.
        compiled = {rate: training_step(count, rate, session.dml) for rate in set(rates)}
        constants = {rate: session.initialize(step.operator) for rate, step in compiled.items()}
        data = {"images": session.upload(digits.images), "labels": session.upload(digits.labels)}
        # A step cannot write in place what it reads: the state is double-buffered.
        following = {name: session.buffer(buffer.width) for name, buffer in self.state.items()}
        # The incomplete last batch of each epoch is dropped.
        steps = count // BATCH
        losses = session.buffer(steps * ALIGNMENT)
        for rate in rates:
            order = session.upload(self.rng.permutation(count).astype(np.uint32))
            for index in range(steps):
                batch, loss = part(order, index, BATCH * 4), part(losses, index, ALIGNMENT)
                self.dispatch(
                    compiled[rate],
                    {"order": batch, **data, **self.state},
                    {"loss": loss, **following},
                    constants[rate],
                )
                session.barrier()
                self.state, following = following, self.state
            session.execute()
            yield session.read(losses, np.float32)[:: ALIGNMENT // 4]

    def classify(self, images: Array) -> Array:
        """The predicted labels {count} of images {count,1,8,8}."""
        session = self.session
        graph = classification(len(images), session.dml)
        labels = session.buffer(len(images) * 4)
        persistent = session.initialize(graph.operator)
        self.dispatch(graph, {"images": session.upload(images), **self.state}, {"labels": labels}, persistent)
        session.execute()
        return session.read(labels, np.uint32)

    def dispatch(
        self,
        graph: CompiledGraph,
        inputs: Mapping[str, Bindable],
        outputs: Mapping[str, Bindable],
        persistent: Bindable,
    ) -> None:
        """Record a dispatch of a graph with bindings for its inputs and outputs, by name."""
        self.session.dispatch(
            graph.operator,
            [inputs[name] for name in graph.inputs],
            [outputs[name] for name in graph.outputs],
            persistent,
        )


def part(buffer: dml.ID3D12Resource, index: int, size: int) -> dml.DML_BINDING_DESC:
    """A binding of the ``index``-th ``size`` bytes of a buffer."""
    return dml.DML_BINDING_DESC(
        dml.DML_BINDING_TYPE_BUFFER, dml.DML_BUFFER_BINDING(buffer, index * size, size)
    )


def progress(epoch: int, epochs: int, loss: float) -> None:
    """A progress bar on a terminal, a line for each epoch elsewhere."""
    if not sys.stdout.isatty():
        print(f"epoch {epoch:2} of {epochs}: loss {loss:.4f}")
        return
    bar = ("#" * (epoch * BAR // epochs)).ljust(BAR, ".")
    end = "\n" if epoch == epochs else ""
    print(f"\r[{bar}] epoch {epoch:2} of {epochs}: loss {loss:.4f}", end=end, flush=True)


def loss_curve(losses: Sequence[Array]) -> list[str]:
    """The loss of each step and the mean of each epoch, as SVG elements, on a logarithmic scale."""
    steps, means = np.concatenate(losses), np.array([epoch_losses.mean() for epoch_losses in losses])
    bottom, top = int(np.floor(np.log10(steps.min()))), int(np.ceil(np.log10(steps.max())))

    def across(epoch: Any) -> Any:
        return MARGIN + epoch / len(losses) * WIDTH

    def down(power: Any) -> Any:
        return MARGIN + (top - power) / max(top - bottom, 1) * HEIGHT

    def line(epochs: Array, values: Array, **style: Any) -> str:
        vertices = zip(across(epochs), down(np.log10(values)))
        points = " ".join(f"{svg.number(x)},{svg.number(y)}" for x, y in vertices)
        return svg.element("polyline", points=points, fill="none", **style)

    parts = [svg.text(MARGIN, MARGIN - 16, "loss of each step, and its mean over each epoch")]
    for power in range(bottom, top + 1):
        y = down(power)
        parts.append(svg.element("line", x1=MARGIN, x2=MARGIN + WIDTH, y1=y, y2=y, stroke="#dddddd"))
        parts.append(svg.text(MARGIN - 6, y + 4, f"{10.0**power:g}", text_anchor="end"))
    for epoch in range(0, len(losses) + 1, max(1, len(losses) // 5)):
        parts.append(svg.text(across(epoch), MARGIN + HEIGHT + 16, str(epoch), text_anchor="middle"))
    parts.append(line(np.linspace(0, len(losses), len(steps)), steps, stroke="#9ec5e6"))
    parts.append(line(np.arange(len(losses)) + 0.5, means, stroke="#1a4f7a", stroke_width=2))
    return parts


def gallery(digits: Digits, labels: Array) -> list[str]:
    """Digits with predicted labels, wrong ones in red, as SVG elements."""
    parts = []
    for index, (image, expected, label) in enumerate(zip(digits.images[:, 0], digits.labels, labels)):
        left = MARGIN + index % COLUMNS * CELL
        above = 2 * MARGIN + HEIGHT + index // COLUMNS * CELL * 1.4
        pixels = [
            svg.element(
                "rect",
                x=left + PIXEL * x,
                y=above + PIXEL * y,
                width=PIXEL,
                height=PIXEL,
                fill=f"rgb({grey},{grey},{grey})",
            )
            for (y, x), grey in np.ndenumerate(np.rint(255 * (1 - image)).astype(int))
        ]
        caption, ink = (
            (str(label), "#222222") if label == expected else (f"{label}, not {expected}", "#c02020")
        )
        below = svg.text(left + 4 * PIXEL, above + 8 * PIXEL + 12, caption, 9, text_anchor="middle", fill=ink)
        parts.append(svg.group([*pixels, below]))
    return parts


def main(folder: Path | None = None) -> int:
    """Run the sample; write ``train_digits.svg`` to ``folder``, the command line's argument."""
    try:
        digits, held_out = load()
    except ImportError:
        print("the images come with scikit-learn: pip install 'directml-py[samples]'", file=sys.stderr)
        return 1
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    model, losses = DigitsNetwork(), []
    for epoch, loss in enumerate(model.train(digits), 1):
        losses.append(loss)
        progress(epoch, len(RATES), loss.mean())
    labels = model.classify(held_out.images)

    # Misclassified digits first.
    order = np.argsort(labels == held_out.labels, kind="stable")[: COLUMNS * ROWS]
    shown = Digits(held_out.images[order], held_out.labels[order])
    if folder is not None:
        parts = [*loss_curve(losses), *gallery(shown, labels[order])]
        drawing = svg.document(2 * MARGIN + WIDTH, 2 * MARGIN + HEIGHT + ROWS * CELL * 1.4, parts)
        (folder / "train_digits.svg").write_text(drawing, encoding="utf-8")
    wrong = int(np.sum(labels != held_out.labels))
    print(f"\nnot recognized, of {len(labels)} that are held out: {wrong}; the first of them:\n")
    print(picture(shown.images[:SHOWN, 0][:wrong], labels[order][:SHOWN][:wrong]))
    print(f"\naccuracy: {1 - wrong / len(labels):.4f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(*map(Path, sys.argv[1:2])))
