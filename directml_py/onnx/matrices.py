"""Matrix products."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..api.enums import (
    DML_MATRIX_TRANSFORM_NONE,
    DML_MATRIX_TRANSFORM_TRANSPOSE,
    DML_REDUCE_FUNCTION_SUM,
)
from ..descs.data_types import data_type_of
from ..graph import Expression
from .errors import Refusal
from .node import OnnxNode
from .translators import MICROSOFT, Results, Rows, operator, outputs
from .values import Sizes

LEVEL_4_0 = 0x4000
# The maximum number of dimensions of a product's tensors.
MOST = 4
# The most products of integers, which are one tensor before they are added.
MOST_PRODUCTS = 1 << 26


class ProductSizes(NamedTuple):
    """The sizes of both operands, their batches, and the product, as in NumPy's ``matmul``."""

    a: Sizes
    b: Sizes
    result: Sizes
    is_flat: bool


def product(a: Sizes, b: Sizes) -> ProductSizes:
    """Matrices of two to four dimensions; an operand that is the same for all batches lets the other one become a
    single matrix."""
    a = (1, *a) if len(a) == 1 else a
    b = (*b, 1) if len(b) == 1 else b
    if not a or not b or a[-1] != b[-2]:
        raise Refusal(f"matrices {list(a)} and {list(b)} have no product")
    try:
        batch = np.broadcast_shapes(a[:-2], b[:-2])
    except ValueError:
        raise Refusal(f"batches {list(a[:-2])} and {list(b[:-2])} do not broadcast to each other") from None
    (rows, inner), columns = a[-2:], b[-1]
    if math.prod(b[:-2]) == 1:
        count = math.prod(a[:-2]) * rows
        return ProductSizes((count, inner), (inner, columns), (count, columns), True)
    return ProductSizes((*batch, rows, inner), (*batch, inner, columns), (*batch, rows, columns), False)


def product_shape(a: Sizes, b: Sizes) -> Sizes:
    """The sizes of NumPy's ``matmul``. Raises ``Refusal`` if there is no product."""
    product(a, b)
    rows, columns = a[-2:-1] if len(a) > 1 else (), b[-1:] if len(b) > 1 else ()
    return (*np.broadcast_shapes(a[:-2], b[:-2]), *rows, *columns)


def factors(node: OnnxNode, a: int, b: int) -> tuple[Expression, Expression]:
    """The inputs at these positions as operands of one product, with batches in at most two dimensions."""
    shapes = node.shape(a), node.shape(b)
    plan = product(*shapes)
    if plan.is_flat:
        return node.tensor(a, ranked(node, plan.a)), node.tensor(b, ranked(node, plan.b))
    padded = (
        (1, *shapes[0]) if len(shapes[0]) == 1 else shapes[0],
        (*shapes[1], 1) if len(shapes[1]) == 1 else shapes[1],
    )
    views = [
        node.spread(node.expression(node.input(index)), shape, wanted)
        for index, shape, wanted in zip((a, b), padded, (plan.a, plan.b))
    ]
    return collapsed(node, views[0]), collapsed(node, views[1])


def collapsed(node: OnnxNode, view: Expression) -> Expression:
    """``view`` with at most four dimensions; broadcast batches beyond two are copied."""
    sizes = view.desc.sizes
    if len(sizes) <= MOST:
        padded = ranked(node, sizes)
        if padded == sizes:
            return view
        strides = view.desc.strides
        extended = None if strides is None else (0,) * (len(padded) - len(sizes)) + tuple(strides)
        return node.graph.reinterpret(view, sizes=padded, strides=extended)
    if view.desc.strides is not None and not view.desc.is_packed:
        view = node.packed(view)
    return node.graph.reinterpret(view, sizes=ranked(node, (math.prod(sizes[:-2]), *sizes[-2:])))


def ranked(node: OnnxNode, sizes: Sequence[int]) -> Sizes:
    """``sizes`` with leading ones up to four dimensions, which older feature levels require."""
    least = MOST if node.level < LEVEL_4_0 else len(sizes)
    return (1,) * (least - len(sizes)) + tuple(sizes)


def multiplied(
    node: OnnxNode, a: Expression, b: Expression, alpha: float = 1.0, **choices: Any
) -> Expression:
    """GEMM, for floats; integers are sums of products."""
    if data_type_of(a.desc.data_type).kind != "F":
        return _integers_multiplied(node, a, b)
    activation, node.activation = node.activation, None
    settings = {"trans_a": DML_MATRIX_TRANSFORM_NONE, "trans_b": DML_MATRIX_TRANSFORM_NONE, **choices}
    return node.graph.gemm(a, b, alpha=alpha, beta=1.0, fused_activation=activation, **settings)


def _integers_multiplied(node: OnnxNode, a: Expression, b: Expression) -> Expression:
    (*batch, rows, inner), columns = a.desc.sizes, b.desc.sizes[-1]
    sizes = (*batch, rows, inner, columns)
    if math.prod(sizes) > MOST_PRODUCTS:
        raise Refusal(
            f"makes {math.prod(sizes)} products of integers, which is too much without GEMM", "input A"
        )
    whole = node.spread(node.packed(a), (*batch, rows, inner, 1), sizes)
    products = node.graph.multiply(whole, node.spread(node.packed(b), (*batch, 1, inner, columns), sizes))
    total = node.graph.reduce(
        products,
        function=DML_REDUCE_FUNCTION_SUM,
        axes=[len(sizes) - 2],
        output_data_type=products.desc.data_type,
    )
    return node.graph.reinterpret(total, sizes=(*batch, rows, columns))


@operator("MatMul")
def matmul(node: OnnxNode) -> Results:
    return multiplied(node, *factors(node, 0, 1))


@operator("Gemm")
def gemm(node: OnnxNode) -> Results:
    activation, node.activation = node.activation, None
    transforms = [
        DML_MATRIX_TRANSFORM_TRANSPOSE if node.get(name, 0) else DML_MATRIX_TRANSFORM_NONE
        for name in ("transA", "transB")
    ]
    rows = node.shape(0)[1 if node.get("transA", 0) else 0]
    columns = node.shape(1)[0 if node.get("transB", 0) else 1]
    beta = node.get("beta", 1.0)
    return node.graph.gemm(
        node.tensor(0, ranked(node, node.shape(0))),
        node.tensor(1, ranked(node, node.shape(1))),
        node.broadcast(2, ranked(node, (rows, columns))) if node.has(2) and beta else None,
        trans_a=transforms[0],
        trans_b=transforms[1],
        alpha=node.get("alpha", 1.0),
        beta=beta,
        fused_activation=activation,
    )


class TransposedFactor(NamedTuple):
    """A factor of FusedMatMul: the order of its axes as a stack of matrices, the sizes in that order, and whether its
    matrices are transposed."""

    order: tuple[int, ...]
    stack: Sizes
    is_transposed: bool

    @property
    def sizes(self) -> Sizes:
        """The sizes that the product sees."""
        return self.stack[:-2] + self.stack[:-3:-1] if self.is_transposed else self.stack


def _transposed_factor(node: OnnxNode, index: int) -> TransposedFactor:
    """transBatch moves the first dimension behind the others but the last, before trans swaps the last two."""
    shape, name = node.shape(index), "AB"[index]
    order = tuple(range(len(shape)))
    if node.get(f"transBatch{name}", 0) and len(shape) > 2:
        order = (*order[1:-1], 0, order[-1])
    stack = tuple(shape[axis] for axis in order)
    return TransposedFactor(order, stack, bool(node.get(f"trans{name}", 0)) and len(shape) > 1)


@outputs("FusedMatMul", "TransposeMatMul", "FusedMatMulActivation", domain=MICROSOFT)
def fused_product(node: OnnxNode) -> Rows:
    a, b = (_transposed_factor(node, index).sizes for index in (0, 1))
    return [(node.input().dtype, product_shape(a, b))]


@operator("FusedMatMul", "TransposeMatMul", domain=MICROSOFT)
def fused_matmul(node: OnnxNode) -> Results:
    parts = [_transposed_factor(node, index) for index in (0, 1)]
    batch = np.broadcast_shapes(*(part.stack[:-2] for part in parts))
    views = []
    for index, part in enumerate(parts):
        x, stack = node.tensor(index), part.stack
        if part.order != tuple(sorted(part.order)):
            x = node.transposed(x, node.shape(index), part.order)
        if len(stack) == 1:
            stack = (1, *stack) if index == 0 else (*stack, 1)
        views.append(collapsed(node, node.spread(x, stack, (*batch, *stack[-2:]))))
    transforms = [
        DML_MATRIX_TRANSFORM_TRANSPOSE if part.is_transposed else DML_MATRIX_TRANSFORM_NONE for part in parts
    ]
    return multiplied(
        node, views[0], views[1], node.get("alpha", 1.0), trans_a=transforms[0], trans_b=transforms[1]
    )


@operator("MatMulInteger")
def matmul_integer(node: OnnxNode) -> Results:
    a, b = factors(node, 0, 1)
    return node.graph.matrix_multiply_integer(
        a, b, *(parameter(node, index, like, side) for index, like, side in ((2, a, 0), (3, b, 1)))
    )


@operator("QLinearMatMul")
def quantized_matmul(node: OnnxNode) -> Results:
    a, b = factors(node, 0, 3)
    operands = ((1, 2, a, 0), (4, 5, b, 1), (6, 7, a, 0))
    (a_scale, a_zero), (b_scale, b_zero), (scale, zero) = (parameters(node, *one) for one in operands)
    return node.graph.quantized_linear_matrix_multiply(
        a,
        node.cast(a_scale, np.float32),
        b,
        node.cast(b_scale, np.float32),
        node.cast(scale, np.float32),
        a_zero,
        b_zero,
        zero,
        output_data_type=node.input(7).dtype,
    )


def parameters(node: OnnxNode, scale: int, zero: int, like: Expression, side: int) -> tuple[Any, Any]:
    """A scale and a zero point as ``parameter`` has them, with the same sizes: either may be one number beside a
    vector."""
    pair = [parameter(node, index, like, side) for index in (scale, zero)]
    if pair[1] is None:
        return pair[0], None
    sizes = np.broadcast_shapes(*(one.desc.sizes for one in pair))
    return (node.repeated(pair[0], sizes), node.repeated(pair[1], sizes))


def parameter(node: OnnxNode, index: int, like: Expression, side: int) -> Any:
    """A scale or zero point of an operand: one number, or one per row of A or per column of B."""
    if not node.has(index):
        return None
    shape, rank = node.shape(index), len(like.desc.sizes)
    count = math.prod(shape)
    if count == 1:
        return node.tensor(index, (1,) * rank)
    if len(shape) == 1:
        sizes = [1] * rank
        sizes[rank - 2 if side == 0 else rank - 1] = count
        return node.tensor(index, sizes)
    if math.prod(shape[:-2]) != math.prod(like.desc.sizes[:-2]):
        raise Refusal(
            f"has sizes {list(shape)}, which do not fit the factor's {list(like.desc.sizes)}",
            f"input {index}",
        )
    return node.tensor(index, (*like.desc.sizes[:-2], *shape[-2:]))
