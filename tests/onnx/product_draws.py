"""Random nodes of products, quantized and not, and of normalizations."""

from __future__ import annotations

from typing import Any

import numpy as np

from .drawn_nodes import FLOATS, MICROSOFT, Draw, DrawnNode, drawn, opset


def factors(draw: Draw, dtype: str = "float32", other: str = "") -> list[Any]:
    inner, batch = draw.size(), draw.shape(0, 3, 3)
    a, b = (*draw.beside(batch), draw.size(), inner), (*draw.beside(batch), inner, draw.size())
    if draw.maybe(0.15):
        a = (inner,)
    if draw.maybe(0.15):
        b = (inner,)
    return [draw.array(a, dtype), draw.array(b, other or dtype)]


def columns_of(b: Any) -> int:
    return int(b.shape[-1]) if b.ndim > 1 else 1


@drawn("MatMul")
def matmul(draw: Draw) -> DrawnNode:
    return draw.node(factors(draw, draw.choice((*FLOATS, "int32", "uint32", "int64", "uint64"))), opset=13)


@drawn("com.microsoft:FusedMatMul")
def fused_matmul(draw: Draw) -> DrawnNode:
    a, b = factors(draw)
    attributes = {"alpha": 0.5}
    # Beside a vector ONNX Runtime transposes nothing.
    is_stack = min(a.ndim, b.ndim) > 1
    if is_stack and draw.maybe():
        a, attributes["transA"] = np.swapaxes(a, -1, -2).copy(), 1
    if is_stack and draw.maybe():
        b, attributes["transB"] = np.swapaxes(b, -1, -2).copy(), 1
    return draw.node([a, b], attributes)


@drawn("Gemm")
def gemm(draw: Draw) -> DrawnNode:
    rows, inner, columns, dtype = draw.size(), draw.size(), draw.size(), draw.choice((*FLOATS, "int32"))
    flips = {name: int(draw.maybe()) for name in ("transA", "transB")}
    a, b = (rows, inner), (inner, columns)
    inputs = [
        draw.array(a[::-1] if flips["transA"] else a, dtype),
        draw.array(b[::-1] if flips["transB"] else b, dtype),
    ]
    if draw.maybe(0.7):
        inputs.append(draw.array(draw.beside((rows, columns)), dtype))
    return draw.node(
        inputs, {**flips, "alpha": draw.choice((1.0, 0.5)), "beta": draw.choice((1.0, 2.0, 0.0))}, 13
    )


@drawn("Einsum")
def einsum(draw: Draw) -> DrawnNode:
    text = draw.choice(("ij,jk->ik", "bij,bjk->bik", "i,i->", "ij->ji", "ij->", "ii->i", "ij,ij->", "bhid,bhjd->bhij",
                        "...ij,...jk->...ik", "ij,k->ijk", "ij,jk,kl->il", "i->", "ij", "abc,c->ab"))  # fmt: skip
    # ONNX Runtime ends the process for those without elements.
    draw.empty = 0
    size = {letter: draw.size() for letter in "abcdhijkl"}
    batch = draw.shape(0, 2)
    terms = text.split("->")[0].split(",")
    spread = 0.15 if len(terms) > 1 else 0
    shapes = [
        [
            *(batch if "." in term else ()),
            *(1 if draw.maybe(spread) else size[letter] for letter in term.strip(".")),
        ]
        for term in terms
    ]
    return draw.node([draw.array(shape, "float32") for shape in shapes], {"equation": text}, 12)


def parameter(draw: Draw, count: int, dtype: str, spread: Any = None) -> Any:
    """A scale or a zero point: a scalar, one number, or one for each of ``count``."""
    sizes = draw.choice(((), (1,), (count,)) if spread is None else spread)
    if dtype.startswith("float"):
        return np.asarray(draw.random.uniform(0.05, 0.2, sizes)).astype(dtype)
    return draw.array(sizes, dtype, -3 if dtype == "int8" else 100, 3 if dtype == "int8" else 140)


@drawn("MatMulInteger")
def matmul_integer(draw: Draw) -> DrawnNode:
    # ONNX Runtime leaves sums of nothing unset.
    draw.empty = 0
    kinds = draw.choice(("uint8", "int8")), draw.choice(("uint8", "int8"))
    inputs = factors(draw, *kinds)
    rows, columns = (
        inputs[0].shape[-2] if inputs[0].ndim > 1 else 1,
        inputs[1].shape[-1] if inputs[1].ndim > 1 else 1,
    )
    if draw.maybe(0.7):
        inputs.append(parameter(draw, rows, kinds[0], ((), (1,))))
    if draw.maybe(0.7) and len(inputs) == 3:
        inputs.append(parameter(draw, columns, kinds[1]))
    return draw.node(inputs, opset=10)


@drawn("QLinearMatMul")
def quantized_matmul(draw: Draw) -> DrawnNode:
    # ONNX Runtime leaves sums of nothing unset.
    draw.empty = 0
    kinds = draw.choice((("uint8", "uint8"), ("uint8", "int8"), ("int8", "int8")))
    a, b = factors(draw, *kinds)
    columns = columns_of(b)
    single = ((), (1,))
    inputs = [a, parameter(draw, 1, "float32", single), parameter(draw, 1, kinds[0], single),
              b, parameter(draw, columns, "float32"), parameter(draw, columns, kinds[1]),
              parameter(draw, 1, "float32", single) * np.float32(10),
              parameter(draw, 1, kinds[0], single)]  # fmt: skip
    return draw.node(inputs, opset=10)


@drawn("com.microsoft:MatMulIntegerToFloat")
def integer_to_float(draw: Draw) -> DrawnNode:
    # ONNX Runtime leaves sums of nothing unset.
    draw.empty = 0
    kinds = draw.choice((("uint8", "uint8"), ("uint8", "int8"), ("int8", "int8")))
    a, b = factors(draw, *kinds)
    columns, single = columns_of(b), ((), (1,))
    inputs = [a, b, parameter(draw, 1, "float32", single), parameter(draw, columns, "float32"),
              parameter(draw, 1, kinds[0], single) if draw.maybe() else None,
              parameter(draw, columns, kinds[1]) if draw.maybe() else None]  # fmt: skip
    # To products of stacks of matrices ONNX Runtime adds a bias that is scaled.
    return draw.node([*inputs, draw.array(columns)] if b.ndim == 2 and draw.maybe() else inputs)


@drawn("com.microsoft:DynamicQuantizeMatMul")
def dynamic_matmul(draw: Draw) -> DrawnNode:
    # ONNX Runtime ends the process for those without elements.
    draw.empty = 0
    kind = draw.choice(("uint8", "int8"))
    a, b = factors(draw, "float32", kind)
    if kind == "int8":
        # Products of 8 bits, of which ONNX Runtime adds pairs in 16 bits on processors without VNNI.
        b = b // np.int8(2)
    columns = columns_of(b)
    inputs = [
        a,
        b,
        parameter(draw, columns, "float32"),
        parameter(draw, columns, kind) if draw.maybe() else None,
    ]
    # To products of stacks of matrices ONNX Runtime adds a bias that is scaled.
    return draw.node([*inputs, draw.array(columns)] if b.ndim == 2 and draw.maybe() else inputs)


def window(draw: Draw, rank: int) -> tuple[list[int], dict[str, Any]]:
    kernel = [int(draw.random.integers(1, 4)) for _ in range(rank)]
    return kernel, {"strides": [int(draw.random.integers(1, 3)) for _ in range(rank)],
                    "pads": [int(draw.random.integers(0, 2)) if size > 1 else 0 for size in kernel] * 2}  # fmt: skip


def filtered(draw: Draw, dtype: str, other: str) -> tuple[list[Any], dict[str, Any]]:
    rank, group = draw.choice((1, 2, 2, 3)), draw.choice((1, 1, 2))
    kernel, attributes = window(draw, rank)
    channels = group * int(draw.random.integers(1, 4))
    count = group * int(draw.random.integers(1, 4))
    batch = draw.size(2)
    x = draw.array((batch, channels, *(int(draw.random.integers(3, 7)) for _ in range(rank))), dtype)
    return [x, draw.array((count, channels // group, *kernel), other)], {**attributes, "group": group}


@drawn("Conv")
def conv(draw: Draw) -> DrawnNode:
    dtype = draw.choice(FLOATS)
    inputs, attributes = filtered(draw, dtype, dtype)
    return draw.node([*inputs, draw.array(len(inputs[1]), dtype)] if draw.maybe() else inputs, attributes, 11)


@drawn("ConvInteger")
def conv_integer(draw: Draw) -> DrawnNode:
    kinds = draw.choice((("uint8", "uint8"), ("uint8", "int8"), ("int8", "int8")))
    inputs, attributes = filtered(draw, *kinds)
    if draw.maybe():
        inputs.append(parameter(draw, 1, kinds[0], ((), (1,))))
        if draw.maybe():
            inputs.append(parameter(draw, len(inputs[1]), kinds[1]))
    return draw.node(inputs, attributes, 10)


@drawn("QLinearConv")
def quantized_conv(draw: Draw) -> DrawnNode:
    kinds = draw.choice((("uint8", "uint8"), ("uint8", "int8"), ("int8", "int8")))
    (x, filters), attributes = filtered(draw, *kinds)
    count, single = len(filters), ((), (1,))
    inputs = [x, parameter(draw, 1, "float32", single), parameter(draw, 1, kinds[0], single),
              filters, parameter(draw, count, "float32"), parameter(draw, count, kinds[1]),
              parameter(draw, 1, "float32", single) * np.float32(10), parameter(draw, 1, kinds[0], single)]  # fmt: skip
    return draw.node([*inputs, draw.array(count, "int32")] if draw.maybe() else inputs, attributes, 10)


@drawn("GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool")
def global_pool(draw: Draw) -> DrawnNode:
    return draw.node([draw.array(draw.shape(3, 5), draw.choice(FLOATS))], opset=13)


@drawn("QuantizeLinear", "DequantizeLinear", "com.microsoft:QuantizeLinear", "com.microsoft:DequantizeLinear")
def linear(draw: Draw) -> DrawnNode:
    version = opset(draw, 10, 13, 19, 21)
    shape = draw.shape(0, 5)
    axis = draw.axis(len(shape))
    kind = (
        draw.choice(("uint8", "int8")) if version < 21 else draw.choice(("uint8", "int8", "uint16", "int16"))
    )
    attributes: dict[str, Any] = {}
    if version < 13 and not draw.kind.startswith(MICROSOFT):
        sizes: Any = draw.choice(((), (1,)))
    elif shape and draw.maybe():
        sizes, attributes = (shape[axis],), {"axis": axis}
        if version >= 21 and draw.maybe() and draw.kind[0] != "c" and shape[axis]:
            block = int(draw.random.integers(1, 4))
            sizes = tuple(
                -(-size // block) if index == axis % len(shape) else size for index, size in enumerate(shape)
            )
            attributes["block_size"] = block
    else:
        sizes = draw.choice(((), (1,)))
    scale = parameter(draw, 0, "float32", (sizes,))
    zero = draw.array(sizes, kind, -3 if kind[0] == "i" else 100, 3 if kind[0] == "i" else 140)
    x = draw.array(shape, kind if "Dequantize" in draw.kind else "float32")
    return draw.node([x, scale, zero] if draw.maybe(0.8) else [x, scale], attributes, version)


@drawn("DynamicQuantizeLinear")
def dynamic(draw: Draw) -> DrawnNode:
    return draw.node([draw.array(draw.shape())], opset=11, outputs=3)


@drawn("BatchNormalization")
def batch_norm(draw: Draw) -> DrawnNode:
    shape, dtype = draw.shape(1, 5), draw.choice(FLOATS)
    version = opset(draw, 9, 14, 15)
    channels = shape[1] if len(shape) > 1 else 1
    training = version >= 14 and draw.maybe(0.3)
    numbers = [draw.array(channels, dtype, 0.5, 2) for _ in range(4)]
    attributes = {"epsilon": draw.choice((1e-5, 1e-2)), **({"training_mode": 1} if training else {})}
    return draw.node([draw.array(shape, dtype), *numbers], attributes, version, 3 if training else 1)


@drawn("InstanceNormalization")
def instance_norm(draw: Draw) -> DrawnNode:
    shape, dtype = draw.shape(2, 5), draw.choice(FLOATS)
    return draw.node(
        [draw.array(shape, dtype), *(draw.array(shape[1], dtype) for _ in range(2))], opset=6 + 7
    )


@drawn("GroupNormalization")
def group_norm(draw: Draw) -> DrawnNode:
    groups = draw.choice((1, 2))
    shape = (draw.size(2), groups * draw.size(3), *draw.shape(0, 3))
    numbers = [draw.array(shape[1]) for _ in range(2)]
    return draw.node([draw.array(shape), *numbers], {"num_groups": groups}, 21)


@drawn("LayerNormalization", "RMSNormalization")
def layer_norm(draw: Draw) -> DrawnNode:
    shape = draw.shape(1, 8)
    axis = draw.axis(len(shape))
    count = 2 if draw.kind[0] == "L" and draw.maybe() else 1
    inputs = [draw.array(shape), *(draw.array(shape[axis:] if axis else shape) for _ in range(count))]
    return draw.node(
        inputs,
        {"axis": axis},
        17 if draw.kind[0] == "L" else 23,
        draw.choice((1, 3)) if draw.kind[0] == "L" else 1,
    )


@drawn("MeanVarianceNormalization")
def mean_variance(draw: Draw) -> DrawnNode:
    shape = draw.shape(2, 5)
    axes = draw.axes(len(shape)) or [0]
    # ONNX Runtime's variance of a single element may be below 0.
    shape = tuple(max(size, 2) if axis in axes else size for axis, size in enumerate(shape))
    return draw.node([draw.array(shape)], {"axes": axes}, 13)


@drawn("com.microsoft:BiasGelu", "com.microsoft:FastGelu")
def bias_gelu(draw: Draw) -> DrawnNode:
    shape = draw.shape(1, 5)
    return draw.node([draw.array(shape), draw.array(shape[-1:])])


@drawn("com.microsoft:SkipLayerNormalization", "com.microsoft:SkipSimplifiedLayerNormalization")
def skip_norm(draw: Draw) -> DrawnNode:
    shape = draw.shape(2, 3)
    return draw.node([draw.array(shape), draw.array(shape), draw.array(shape[-1:])])


@drawn("com.microsoft:QLinearAdd", "com.microsoft:QLinearMul")
def quantized_binary(draw: Draw) -> DrawnNode:
    kind, shape = draw.choice(("uint8", "int8")), draw.shape()
    numbers = [parameter(draw, 1, dtype, ((),)) for dtype in ("float32", kind) for _ in range(3)]
    a, b = draw.array(shape, kind), draw.array(draw.beside(shape), kind)
    return draw.node([a, numbers[0], numbers[3], b, numbers[1], numbers[4], numbers[2], numbers[5]])


@drawn("com.microsoft:MultiHeadAttention")
def attention(draw: Draw) -> DrawnNode:
    batch, heads, size, length, past = 2, 2, 4, draw.choice((1, 3)), draw.choice((0, 2))
    tensors = [draw.array((batch, length, heads * size)) for _ in range(3)]
    cached = [draw.array((batch, heads, past, size)) for _ in range(2)]
    return draw.node([*tensors, None, None, None, *cached], {"num_heads": heads}, outputs=3)
