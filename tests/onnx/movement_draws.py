"""Random nodes of operators that move elements: by indices, along axes, to other sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
from onnx import helper

from .drawn_nodes import ANYTHING, FLOATS, NUMBERS, Draw, DrawnNode, drawn, opset


def places(draw: Draw, shape: Any, size: int) -> Any:
    """Indices of an axis of ``size`` elements, some from the end."""
    dtype = draw.choice((np.int32, np.int64))
    if not size:
        return np.zeros([0 if index == 0 else item for index, item in enumerate(shape)] or (0,), dtype)
    return np.asarray(draw.random.integers(-size, size, shape)).astype(dtype)


@drawn("Gather")
def gather(draw: Draw) -> DrawnNode:
    shape = draw.shape(1, 5)
    axis = draw.axis(len(shape))
    return draw.node([draw.array(shape, draw.choice(ANYTHING)), places(draw, draw.shape(0, 3), shape[axis])],
                     {"axis": axis}, 13)  # fmt: skip


@drawn("GatherElements")
def gather_elements(draw: Draw) -> DrawnNode:
    shape = draw.shape(1, 8)
    axis = draw.axis(len(shape))
    wanted = [int(draw.random.integers(0 if draw.empty else min(1, size), size + 1)) for size in shape]
    wanted[axis] = draw.size(5) if shape[axis] else 0
    return draw.node([draw.array(shape, draw.choice(ANYTHING)), places(draw, wanted, shape[axis])],
                     {"axis": axis}, opset(draw, 11, 13))  # fmt: skip


@drawn("GatherND")
def gather_nd(draw: Draw) -> DrawnNode:
    shape = draw.shape(1, 5)
    batch = int(draw.random.integers(0, len(shape))) if draw.maybe(0.4) else 0
    depth = int(draw.random.integers(1, len(shape) - batch + 1))
    sizes = (*shape[:batch], *draw.shape(0, 2), depth)
    return draw.node([draw.array(shape, draw.choice(ANYTHING)), deep_places(draw, sizes, shape[batch : batch + depth])],
                     {"batch_dims": batch} if batch else {}, opset(draw, 12, 13))  # fmt: skip


def deep_places(draw: Draw, sizes: Any, within: Any) -> Any:
    if 0 in within:
        return np.zeros((*sizes[:-2], 0, sizes[-1]) if len(sizes) > 1 else (0, sizes[-1]), np.int64)
    columns = [draw.random.integers(-size, size, sizes[:-1]) for size in within]
    return np.stack(columns, -1).astype(np.int64).reshape(sizes)


REDUCTIONS = {
    11: ("none",),
    13: ("none",),
    16: ("none", "add", "mul"),
    18: ("none", "add", "mul", "max", "min"),
}


@drawn("ScatterElements")
def scatter_elements(draw: Draw) -> DrawnNode:
    shape = draw.shape(1, 8)
    version, axis = opset(draw, *REDUCTIONS), draw.axis(len(shape))
    word, dtype = draw.choice(REDUCTIONS[version]), draw.choice(ANYTHING)
    wanted = [int(draw.random.integers(0 if draw.empty else min(1, size), size + 1)) for size in shape]
    if word == "none":
        # Which of two updates of an element counts is open.
        order = draw.random.permutation(shape[axis])[: wanted[axis]]
        sizes = [-1 if index == axis % len(shape) else 1 for index in range(len(shape))]
        indices = np.broadcast_to(order.reshape(sizes), wanted).astype(np.int64)
    else:
        indices = places(draw, wanted, shape[axis])
    attributes = {"axis": axis, **({"reduction": word} if version >= 16 else {})}
    return draw.node(
        [draw.array(shape, dtype), indices, draw.array(indices.shape, dtype)], attributes, version
    )


@drawn("Scatter")
def scatter(draw: Draw) -> DrawnNode:
    made = scatter_elements(draw)
    if made.attributes.pop("reduction", "none") != "none":
        return scatter(draw)
    return made._replace(opset=opset(draw, 9, 10))


@drawn("ScatterND")
def scatter_nd(draw: Draw) -> DrawnNode:
    shape = draw.shape(1, 5)
    version = opset(draw, *REDUCTIONS)
    word, dtype = draw.choice(REDUCTIONS[version]), draw.choice(ANYTHING)
    depth = int(draw.random.integers(1, len(shape) + 1))
    sizes = (*draw.shape(0, 2, 3), depth)
    indices = deep_places(draw, sizes, shape[:depth])
    if word == "none":
        every = np.argwhere(np.ones(shape[:depth]))
        count = min(len(every), int(np.prod(sizes[:-1])))
        indices = draw.random.permutation(every)[:count].astype(np.int64).reshape(count, depth)
    updates = draw.array((*indices.shape[:-1], *shape[depth:]), dtype)
    attributes = {"reduction": word} if version >= 16 else {}
    return draw.node([draw.array(shape, dtype), indices, updates], attributes, version)


@drawn("OneHot")
def one_hot(draw: Draw) -> DrawnNode:
    shape = draw.shape(0, 4)
    depth = int(draw.random.integers(1, 5))
    dtype = draw.choice(("float32", "int64", "int32"))
    indices = places(draw, shape, depth).astype(draw.choice((np.int64, np.int32, np.float32)))
    inputs = [indices, np.array(depth, np.int64), draw.array(2, dtype)]
    return draw.node(inputs, {"axis": draw.axis(len(shape) + 1)}, 11)


@drawn("Compress")
def compress(draw: Draw) -> DrawnNode:
    shape = draw.shape(1, 5)
    axis = draw.axis(len(shape))
    whole = draw.maybe(0.3)
    size = int(np.prod(shape)) if whole else shape[axis]
    return draw.node([draw.array(shape, draw.choice(ANYTHING)), draw.array(size, "bool")],
                     {} if whole else {"axis": axis}, 11)  # fmt: skip


@drawn("Transpose")
def transpose(draw: Draw) -> DrawnNode:
    shape = draw.shape(0, 8)
    attributes = (
        {"perm": [int(axis) for axis in draw.random.permutation(len(shape))]}
        if shape and draw.maybe(0.8)
        else {}
    )
    return draw.node([draw.array(shape, draw.choice(ANYTHING))], attributes, 13)


@drawn("Concat")
def concat(draw: Draw) -> DrawnNode:
    shape, dtype = list(draw.shape(1, 8)), draw.choice(ANYTHING)
    axis = draw.axis(len(shape))
    parts = []
    for _ in range(draw.choice((1, 2, 3, 4))):
        shape[axis] = draw.size()
        parts.append(draw.array(shape, dtype))
    return draw.node(parts, {"axis": axis}, 13)


@drawn("Split")
def split(draw: Draw) -> DrawnNode:
    shape = list(draw.shape(1, 8))
    axis, count = draw.axis(len(shape)), draw.choice((1, 2, 3))
    sizes = [draw.size(3) for _ in range(count)]
    shape[axis] = sum(sizes)
    return draw.node(
        [draw.array(shape, draw.choice(ANYTHING)), np.array(sizes, np.int64)], {"axis": axis}, 13, count
    )


@drawn("Slice")
def slice_(draw: Draw) -> DrawnNode:
    shape = draw.shape(1, 8)
    axes = draw.axes(len(shape)) or [0]
    numbers = [
        [int(draw.random.integers(-size - 2, size + 3)) for size in (shape[axis] for axis in axes)]
        for _ in "se"
    ]
    steps = [draw.choice((1, 1, 2, -1, -2)) for _ in axes]
    return draw.node(
        [
            draw.array(shape, draw.choice(ANYTHING)),
            *(np.array(item, np.int64) for item in (*numbers, axes, steps)),
        ],
        opset=13,
    )


@drawn("Pad")
def pad(draw: Draw) -> DrawnNode:
    shape, dtype = draw.shape(1, 8), draw.choice(NUMBERS)
    mode = draw.choice(("constant", "constant", "edge", "reflect", "wrap"))
    most = [max(0, size - 1) if mode != "constant" else 2 for size in shape]
    amounts = [int(draw.random.integers(0, min(top, 2) + 1)) for top in most * 2]
    inputs = [draw.array(shape, dtype), np.array(amounts, np.int64)]
    if mode == "constant" and draw.maybe():
        inputs.append(draw.array((), dtype))
    return draw.node(inputs, {"mode": mode}, 19 if mode == "wrap" else opset(draw, 13, 18))


@drawn("Tile")
def tile(draw: Draw) -> DrawnNode:
    shape = draw.shape(0, 5, 3)
    return draw.node(
        [draw.array(shape, draw.choice(ANYTHING)), np.array([draw.size(3) for _ in shape], np.int64)],
        opset=13,
    )


@drawn("Expand")
def expand(draw: Draw) -> DrawnNode:
    shape = draw.shape()
    return draw.node(
        [draw.array(draw.beside(shape), draw.choice(ANYTHING)), np.array(shape, np.int64)], opset=13
    )


@drawn("Reshape", "Flatten")
def reshape(draw: Draw) -> DrawnNode:
    shape = draw.shape(0 if draw.kind == "Reshape" else 1, 6)
    x = draw.array(shape, draw.choice(ANYTHING))
    if draw.kind == "Flatten":
        return draw.node([x], {"axis": draw.choice(range(len(shape) + 1))}, 13)
    return draw.node([x, np.array(draw.random.permutation(shape) if x.size == 0 else [-1, 1], np.int64)],
                     {"allowzero": int(x.size == 0)}, 14)  # fmt: skip


@drawn("Squeeze", "Unsqueeze")
def squeeze(draw: Draw) -> DrawnNode:
    shape = list(draw.shape(0, 5))
    axes = draw.axes(len(shape))
    dtype = draw.choice(ANYTHING)
    if draw.kind == "Squeeze":
        for axis in axes:
            shape[axis] = 1
        given = [np.array(axes, np.int64)] if axes else []
        return draw.node([draw.array(shape, dtype), *given], opset=13)
    return draw.node([draw.array(shape, dtype), np.array(axes or [0], np.int64)], opset=13)


@drawn("ReverseSequence")
def reverse(draw: Draw) -> DrawnNode:
    shape = draw.shape(2, 5)
    lengths = draw.random.integers(min(1, shape[0]), shape[0] + 1, shape[1])
    return draw.node(
        [draw.array(shape, draw.choice(ANYTHING)), lengths.astype(np.int64)],
        {"time_axis": 0, "batch_axis": 1},
        10,
    )


@drawn("Trilu")
def triangle(draw: Draw) -> DrawnNode:
    inputs = [draw.array(draw.shape(2, 5), draw.choice(ANYTHING))]
    if draw.maybe():
        inputs.append(np.array(draw.random.integers(-3, 4), np.int64))
    return draw.node(inputs, {"upper": int(draw.maybe())}, 14)


@drawn("Cast")
def cast(draw: Draw) -> DrawnNode:
    have, want = draw.choice(ANYTHING), draw.choice(ANYTHING)
    return draw.node(
        [draw.array(draw.shape(), have, 0)], {"to": helper.np_dtype_to_tensor_dtype(np.dtype(want))}, 13
    )


@drawn("Dropout")
def dropout(draw: Draw) -> DrawnNode:
    return draw.node([draw.array(draw.shape(), draw.choice(FLOATS))], opset=13, outputs=draw.choice((1, 2)))
