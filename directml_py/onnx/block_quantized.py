"""Operators of the domain com.microsoft on weights of 2, 4 or 8 bits, with a scale for each block of elements."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..api.enums import (
    DML_MATRIX_TRANSFORM_TRANSPOSE,
    DML_TENSOR_DATA_TYPE_INT4,
    DML_TENSOR_DATA_TYPE_UINT4,
    DML_TENSOR_DATA_TYPE_UINT8,
)
from ..descs.tensor_size import packed_strides
from ..graph import Expression
from .errors import Refusal
from .matrices import multiplied
from .movement import sliced
from .node import OnnxNode
from .quantized import blocks_dequantized, repeated_for_blocks
from .translators import MICROSOFT, Results, Rows, operator, outputs
from .values import Sizes, data_type

# What 4 bits stand for in the types of bitsandbytes, by quant_type: the sign is the first bit of an FP4.
_FP4 = (0, 1 / 192, 2 / 3, 1, 1 / 3, 1 / 2, 1 / 6, 1 / 4)
BNB4 = {
    0: (*_FP4, *(-value for value in _FP4)),
    1: (
        -1.0, -0.6961928009986877, -0.5250730514526367, -0.39491748809814453,
        -0.28444138169288635, -0.18477343022823334, -0.09105003625154495, 0.0,
        0.07958029955625534, 0.16093020141124725, 0.24611230194568634, 0.33791524171829224,
        0.44070982933044434, 0.5626170039176941, 0.7229568362236023, 1.0,
    ),
}  # fmt: skip

TABLE_TYPES = (DML_TENSOR_DATA_TYPE_UINT8, DML_TENSOR_DATA_TYPE_UINT4, DML_TENSOR_DATA_TYPE_INT4)


def bit_fields(node: OnnxNode, x: Expression, shifts: Sizes, mask: int) -> Expression:
    """Each byte of ``x`` shifted right by each of ``shifts`` and masked, in a further dimension."""
    sizes = (*x.desc.sizes, len(shifts))
    counts = node.spread(node.constant(shifts, np.uint8), (len(shifts),), sizes)
    moved = node.graph.bit_shift_right(node.spread(x, (*sizes[:-1], 1), sizes), counts)
    return node.graph.bit_and(moved, node.scalar(mask, moved))


def unpacked(
    node: OnnxNode, x: Expression, bits: int, sizes: Sizes, kind: int = DML_TENSOR_DATA_TYPE_UINT4
) -> Expression:
    """Bytes as integers of ``bits`` bits, the lowest bits first; those of 4 bits have the type ``kind``."""
    if bits == 2:
        # DirectML has no such integers, but dequantizes bytes that hold one each.
        x = bit_fields(node, x, (0, 2, 4, 6), 3)
    return node.graph.reinterpret(x, kind if bits == 4 else None, sizes=sizes)


def bits_of(node: OnnxNode) -> int:
    bits = int(node.get("bits", 4))
    if bits not in (2, 4, 8):
        raise Refusal(f"is {bits}; it must be 2, 4 or 8", "attribute bits")
    return bits


def midpoints(node: OnnxNode, bits: int, sizes: Sizes) -> Expression:
    """Zero points where none are given."""
    byte, per_byte = {2: (2, 1), 4: (0x88, 2), 8: (0x80, 1)}[bits]
    stored = node.constant(np.full(-(-math.prod(sizes) // per_byte), byte), np.uint8)
    return node.graph.reinterpret(stored, DML_TENSOR_DATA_TYPE_UINT4 if bits == 4 else None, sizes=sizes)


@outputs("MatMulNBits", domain=MICROSOFT)
def product_of_blocks(node: OnnxNode) -> Rows:
    return [(node.input().dtype, (*node.shape()[:-1], node.get("N")))]


@operator("MatMulNBits", domain=MICROSOFT)
def matmul_of_blocks(node: OnnxNode) -> Results:
    """B is dequantized block by block; each of its rows gives a column of the result."""
    bits, block = bits_of(node), node.get("block_size")
    rows, depth = node.get("N"), node.get("K")
    node.only("weight_prepacked", 0, "weights in an order of CUDA's are not translated")
    if node.has(4):
        # ONNX Runtime has deprecated it, and leaves the zero points out then.
        raise Refusal("columns in another order are not translated", "input g_idx")
    blocks = -(-depth // block)
    whole = (rows, blocks * block)
    values = unpacked(node, node.tensor(1), bits, whole)
    scale = node.tensor(2, (rows, blocks))
    zero = _zero_points(node, bits, (rows, blocks)) if node.has(3) or not node.as_provider else None
    matrix = blocks_dequantized(node, values, scale, zero, 1, block)
    if whole[1] != depth:
        matrix = sliced(node, matrix, 1, 0, depth)
    count = math.prod(node.shape(0)) // depth
    result = multiplied(node, node.tensor(0, (count, depth)), matrix, trans_b=DML_MATRIX_TRANSFORM_TRANSPOSE)
    shaped = node.graph.reinterpret(result, sizes=(*node.shape(0)[:-1], rows))
    return node.graph.add(shaped, node.broadcast(5, shaped.desc.sizes)) if node.has(5) else shaped


def _zero_points(node: OnnxNode, bits: int, sizes: Sizes) -> Expression:
    """Floats are one per block; the rows of packed integers begin at a byte each."""
    if not node.has(3):
        return midpoints(node, bits, sizes)
    if node.input(3).dtype.kind == "f":
        return node.tensor(3, sizes)
    rows, blocks = sizes
    width = -(-blocks * bits // 8) * 8 // bits
    stored = unpacked(node, node.tensor(3), bits, (rows, width))
    return node.graph.reinterpret(stored, sizes=sizes, strides=(width, 1))


@outputs("MatMulBnb4", domain=MICROSOFT)
def product_of_codes(node: OnnxNode) -> Rows:
    columns = node.get("N") if node.get("transB", 1) else node.get("K")
    return [(node.input().dtype, (*node.shape()[:-1], columns))]


@operator("MatMulBnb4", domain=MICROSOFT)
def matmul_of_codes(node: OnnxNode) -> Results:
    """Four bits of B, the upper ones of a byte first, are an index into a table, with a scale for each block of the
    flattened matrix."""
    rows, depth, block = node.get("N"), node.get("K"), node.get("block_size")
    kind = node.get("quant_type")
    if kind not in BNB4:
        raise Refusal(f"is {kind}; it must be 0 or 1", "attribute quant_type")
    codes = node.cast(bit_fields(node, node.tensor(1, (node.input(1).size,)), (4, 0), 15), np.uint32)
    count, graph = rows * depth, node.graph
    indices = graph.reinterpret(codes, sizes=(1, 2 * node.input(1).size))
    table = node.constant(np.array([BNB4[kind]]), node.input(2).dtype)
    values = graph.gather(table, indices, axis=1, index_dimensions=1)
    if values.desc.sizes[1] != count:
        values = sliced(node, values, 1, 0, count)
    blocks = -(-count // block)
    scale = repeated_for_blocks(node, node.tensor(2, (1, blocks)), 1, block, count)
    matrix = graph.reinterpret(graph.multiply(values, scale), sizes=(rows, depth))
    is_transposed = node.get("transB", 1)
    inner, columns = (depth, rows) if is_transposed else (rows, depth)
    a = node.tensor(0, (math.prod(node.shape(0)) // inner, inner))
    choices = {"trans_b": DML_MATRIX_TRANSFORM_TRANSPOSE} if is_transposed else {}
    return graph.reinterpret(multiplied(node, a, matrix, **choices), sizes=(*node.shape(0)[:-1], columns))


class QuantizedTable(NamedTuple):
    """The table of a GatherBlockQuantized, whose slices along ``axis`` are gathered, with parameters for blocks along
    another one, or the same."""

    node: OnnxNode
    axis: int
    along: int
    bits: int

    def sizes(self, index: int) -> Sizes:
        """The sizes of the table or of its zero points in elements: bytes hold several along the last dimension."""
        shape = self.node.shape(index)
        is_packed = self.node.input(index).dtype == np.uint8
        return (*shape[:-1], shape[-1] * 8 // self.bits) if is_packed else shape

    @property
    def is_late(self) -> bool:
        """Whether the slices are no whole numbers of bytes, or parts of blocks."""
        packed = [self.sizes(index) for index in (0, 3) if self.node.has(index)]
        return self.axis == self.along or any(
            math.prod(sizes[self.axis + 1 :]) * self.bits % 8 for sizes in packed
        )

    def slices(self, x: Expression) -> Expression:
        """The slices of ``x`` at the indices, of sizes (slices before, count of indices, elements)."""
        sizes = x.desc.sizes
        merged = math.prod(sizes[: self.axis]), sizes[self.axis], math.prod(sizes[self.axis + 1 :])
        indices = self.node.tensor(1, (1, 1, self.node.input(1).size))
        view = self.node.graph.reinterpret(x, sizes=merged)
        return self.node.graph.gather(view, indices, axis=1, index_dimensions=1)

    def quantized(self, index: int, is_sliced: bool) -> Expression:
        """The elements of the slices, or of the whole table."""
        node, sizes = self.node, self.sizes(index)
        kind = node.input(index).dtype
        x = node.tensor(index)
        if is_sliced:
            outer, inner = sizes[: self.axis + 1], math.prod(sizes[self.axis + 1 :]) * self.bits // 8
            x = self.slices(node.graph.reinterpret(x, np.uint8, sizes=(*outer, inner)))
            sizes = self.sliced(sizes)
        return unpacked(
            node, x, self.bits, sizes, DML_TENSOR_DATA_TYPE_UINT4 if kind == np.uint8 else data_type(kind)
        )

    def sliced(self, sizes: Sizes) -> Sizes:
        return (*sizes[: self.axis], self.node.input(1).size, *sizes[self.axis + 1 :])

    def floats(self, is_sliced: bool) -> Expression:
        """The dequantized slices, or the whole dequantized table."""
        node, scale = self.node, self.node.tensor(2)
        if is_sliced:
            scale = node.graph.reinterpret(self.slices(scale), sizes=self.sliced(scale.desc.sizes))
        sizes = scale.desc.sizes
        values = self.quantized(0, is_sliced)
        zero: Expression | None
        if node.has(3):
            stored = self.quantized(3, is_sliced)
            zero = node.graph.reinterpret(stored, sizes=sizes, strides=packed_strides(stored.desc.sizes))
        else:
            zero = midpoints(node, self.bits, sizes) if node.input().dtype == np.uint8 else None
        return blocks_dequantized(node, values, scale, zero, self.along, node.get("block_size", 128))


def _table(node: OnnxNode) -> QuantizedTable:
    rank, kind = len(node.shape()), node.input().dtype
    if data_type(kind) not in TABLE_TYPES:
        raise Refusal(f"has elements of {kind}; it must have 4 bits, or hold them in UINT8", "input data")
    axis, along = node.axis(rank, 0, "gather_axis"), node.axis(rank, 1, "quantize_axis")
    return QuantizedTable(node, axis, along, bits_of(node) if kind == np.uint8 else 4)


@outputs("GatherBlockQuantized", domain=MICROSOFT)
def gathered_blocks(node: OnnxNode) -> Rows:
    table = _table(node)
    shape = table.sizes(0)
    return [(node.input(2).dtype, (*shape[: table.axis], *node.shape(1), *shape[table.axis + 1 :]))]


@operator("GatherBlockQuantized", domain=MICROSOFT)
def gather_block_quantized(node: OnnxNode) -> Results:
    table = _table(node)
    return table.slices(table.floats(False)) if table.is_late else table.floats(True)
