"""Steps of recurrent networks in the native kernel against the reference, in all their forms."""

from __future__ import annotations

import numpy as np
import pytest
from sweeps import swept

from directml_py.kernels.elementwise import activations
from directml_py.kernels.elementwise.functions import plain
from directml_py.kernels.recurrent.layer import Cell, Layer, Phase, run_layer
from directml_py.kernels.recurrent.native import codes_of, run_natively, scratch_for


def single(sums):
    return activations.tanh(sums)


def gated(first, second, cell, weight):
    kept = activations.sigmoid(first + weight * cell).astype(cell.dtype)
    cell = plain(kept * cell + activations.tanh(second).astype(cell.dtype))
    return activations.tanh(cell), cell


def begun(first, hidden):
    kept = activations.sigmoid(first).astype(hidden.dtype)
    return kept, plain(kept * hidden)


def ended(second, kept, apart, hidden):
    return plain(kept * hidden + (1 - kept) * activations.tanh(second + apart).astype(hidden.dtype))


CELLS = {
    "one gate": Cell(1, 1, [Phase(range(1), (0,), (0,), ("hidden",), single)]),
    "a cell": Cell(2, 2, [Phase(range(2), (0, 1), (0, 1, "cell", "weight"), ("hidden", "cell"), gated)]),
    "two phases": Cell(
        3,
        4,
        [
            Phase(range(1), (0,), (0, "hidden"), ("kept", "reset"), begun),
            Phase(range(1, 3), (1, 3), (1, "kept", 3, "hidden"), ("hidden",), ended, by="reset"),
        ],
    ),
}
# Steps, batch, input, hidden: on both sides of a tile's columns and of what is multiplied at a time.
SIZES = [
    (1, 1, 1, 1),
    (5, 1, 7, 33),
    (70, 1, 3, 40),
    (3, 64, 5, 8),
    (4, 65, 9, 31),
    (9, 20, 33, 70),
    (2, 3, 300, 129),
]


def layer_of(cell, sizes, varied=True, weights=np.float32):
    steps, batch, width, hidden = sizes
    rng = np.random.default_rng(5)

    def values(*shape):
        return rng.standard_normal(shape, np.float32)

    lengths = rng.integers(0, steps, batch, endpoint=True) if varied else np.full(batch, steps)
    return Layer(
        values(steps, batch, width),
        lengths,
        (values(cell.gates * hidden, width) / 8).astype(weights),
        (values(cell.gates * hidden, hidden) / 8).astype(weights),
        values(2, cell.gates * hidden),
        (values(batch, hidden), values(batch, hidden))[: 1 + (cell is CELLS["a cell"])],
        {"weight": values(hidden)},
    )


def taken(cell, layer, outputs):
    assert codes_of(cell)
    _, batch, width = layer.x.shape
    # The contents of scratch memory are anything.
    scratch = np.full(scratch_for(cell, batch, width, layer.hidden), 255, np.uint8)
    return run_natively(cell, layer, outputs, scratch)


def widened(layer):
    return layer._replace(
        weights=layer.weights.astype(np.float32), recurrence=layer.recurrence.astype(np.float32)
    )


@swept("sizes", SIZES)
@pytest.mark.parametrize("cell", CELLS)
@swept("form", ["whole", "of any length", "backward", "halves", "no outputs"])
@pytest.mark.usefixtures("threads")
def test_steps(cell, sizes, form):
    cell = CELLS[cell]
    layer = layer_of(cell, sizes, form == "of any length", np.float16 if form == "halves" else np.float32)
    steps, batch, _, hidden = sizes
    wanted = np.full((steps, batch, hidden), 7, np.float32)
    room = np.full((steps, 2, batch, hidden + 3), 7, np.float32)
    found = room[:, 1, :, :hidden]
    if form == "backward":
        layer = layer._replace(x=layer.x[::-1])
        found = found[::-1]
    last = run_layer(cell, widened(layer), wanted)
    results = taken(cell, layer, None if form == "no outputs" else found)
    for one, other in zip(last, results, strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-4, atol=1e-4)
    if form != "no outputs":
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)
    assert (room[:, 0] == 7).all()
    assert (room[..., hidden:] == 7).all()


@pytest.mark.parametrize("cell", CELLS)
def test_results_do_not_depend_on_threads(cell, set_threads):
    cell = CELLS[cell]
    sizes = (20, 6, 50, 200)
    layer, found = layer_of(cell, sizes), []
    for count in (1, 2, 3):
        set_threads(count)
        outputs = np.empty((20, 6, 200), np.float32)
        found.append((outputs, *taken(cell, layer, outputs)))
    for others in found[1:]:
        for one, other in zip(found[0], others, strict=True):
            np.testing.assert_array_equal(one, other)


def test_inputs_stay_as_they_are(native):
    cell = CELLS["a cell"]
    layer = layer_of(cell, (4, 3, 5, 40))
    before = [array.copy() for array in (layer.x, *layer.states)]
    taken(cell, layer, None)
    for one, other in zip(before, (layer.x, *layer.states), strict=True):
        np.testing.assert_array_equal(one, other)


def test_without_any_element_there_is_no_state(native):
    cell = CELLS["a cell"]
    layer = layer_of(cell, (4, 3, 5, 40))._replace(lengths=np.zeros(3, np.intp))
    outputs = np.ones((4, 3, 40), np.float32)
    assert not any(state.any() for state in taken(cell, layer, outputs))
    assert not outputs.any()
