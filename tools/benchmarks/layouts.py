"""Tensors of other layouts than packed: channels last, padded rows, transposed operands.

The peer is our own dispatch of the same operator over packed tensors.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

import directml_py as dml
from directml_py.descs import OperatorDesc, TensorDesc, encode
from directml_py.descs.tensor_size import packed_strides
from directml_py.graph import Graph
from directml_py.graph.nodes import OperatorNode

from .benchmark_case import filled
from .interleaved_timing import interleaved
from .replay_cost import ELEMENT, Recorded, recorded
from .runs import OURS, Row

# The elements between the end of a row and the beginning of the next.
PADDING = 16
Strides = Sequence[int]
Layout = Callable[[Strides], Strides]


def channels_last(sizes: Strides) -> Strides:
    batch, *spatial, channel = packed_strides((sizes[0], *sizes[2:], sizes[1]))
    return batch, channel, *spatial


def padded_rows(sizes: Strides) -> Strides:
    *outer, _ = packed_strides((*sizes[:-1], sizes[-1] + PADDING))
    return *outer, 1


def columns_first(sizes: Strides) -> Strides:
    *outer, row, _ = packed_strides((*sizes[:-2], sizes[-1], sizes[-2]))
    return *outer, 1, row


NHWC, PADDED, TRANSPOSED = "NHWC", "padded rows", "transposed"
LAYOUTS: Mapping[str, Layout] = {NHWC: channels_last, PADDED: padded_rows, TRANSPOSED: columns_first}


@dataclass(frozen=True)
class LayoutCase:
    """A method of ``Graph`` over tensors of these sizes, and those of its tensors that have the ``layout``.

    ``fields`` names these; without it all tensors that have two sizes above 1 or more, and all dimensions, have it.
    """

    method: str
    name: str
    dtype: str
    sizes: Sequence[Sequence[int]]
    layout: str
    attributes: Mapping[str, Any] = field(default_factory=dict)
    fields: Sequence[str] = ()

    @property
    def title(self) -> str:
        return f"layouts {self.name} {self.layout}, {self.dtype}"

    def measure(self, threads: int) -> Row:
        inputs = [positive(filled(self.dtype, tuple(sizes))) for sizes in self.sizes]
        packed = self.desc()
        sides = {OURS: self.laid_out(packed), "packed": packed}
        dispatches = {name: dispatch(desc, inputs) for name, desc in sides.items()}
        return Row(self.title, interleaved({name: each.execute for name, each in dispatches.items()}))

    def desc(self) -> OperatorDesc:
        """The desc over packed tensors."""
        graph, kind = Graph(), ELEMENT[np.dtype(self.dtype)]
        inputs = [graph.input_tensor(index, kind, list(sizes)) for index, sizes in enumerate(self.sizes)]
        build = getattr(graph, self.method)
        build(inputs, **self.attributes) if self.method == "join" else build(*inputs, **self.attributes)
        node = graph.nodes[-1]
        assert isinstance(node, OperatorNode)
        return node.desc

    def laid_out(self, desc: OperatorDesc) -> OperatorDesc:
        slots = [slot for slot in (*desc.inputs, *desc.outputs) if slot.tensor is not None]
        fields = self.fields or [slot.field for slot in slots]
        rank = max(len(slot.tensor.sizes) for slot in slots if slot.tensor is not None)
        changes: dict[str, Any] = {}
        for slot in slots:
            assert slot.tensor is not None
            if slot.field in fields and len(slot.tensor.sizes) == rank and is_of_many(slot.tensor.sizes):
                tensor = with_strides(slot.tensor, LAYOUTS[self.layout](slot.tensor.sizes))
                several = isinstance(getattr(desc, slot.field), tuple)
                changes[slot.field] = [*changes.get(slot.field, ()), tensor] if several else tensor
        return desc.replace(**changes)


def is_of_many(sizes: Sequence[int]) -> bool:
    """Whether a tensor has several elements along more than one dimension: parameters have not."""
    return sum(size > 1 for size in sizes) > 1


def with_strides(tensor: TensorDesc, strides: Strides) -> TensorDesc:
    return TensorDesc(tensor.data_type, tensor.sizes, tuple(strides), tensor.flags)


def positive(array: Any) -> Any:
    """Numbers above 0: some of the inputs are variances."""
    return np.maximum(np.abs(array), array.dtype.type(1))


def dispatch(desc: OperatorDesc, inputs: Sequence[Any]) -> Recorded:
    return recorded(encode(desc), inputs)


IMAGES, WIDE, ROWS = (1, 64, 56, 56), (1, 144, 56, 56), (1, 1, 512, 768)
EPSILON = 1e-5
# What CONVOLUTION has and CONVOLUTION_INTEGER has not.
FLOAT_ONLY = ("mode", "direction", "output_padding")


def of_channels(count: int) -> tuple[int, ...]:
    """The sizes of a parameter with one element for each channel."""
    return 1, count, 1, 1


def pool(**attributes: Any) -> dict[str, Any]:
    """Windows of 3 x 3, two elements apart, over padded images."""
    return {
        "window_size": [3, 3],
        "strides": [2, 2],
        "start_padding": [1, 1],
        "end_padding": [1, 1],
        **attributes,
    }


def convolved(padding: int, stride: int = 1, groups: int = 1) -> dict[str, Any]:
    return {
        "mode": dml.DML_CONVOLUTION_MODE_CROSS_CORRELATION,
        "direction": dml.DML_CONVOLUTION_DIRECTION_FORWARD,
        "strides": [stride, stride],
        "dilations": [1, 1],
        "start_padding": [padding, padding],
        "end_padding": [padding, padding],
        "output_padding": [0, 0],
        "group_count": groups,
    }


def twice(mode: dml.DML_INTERPOLATION_MODE) -> dict[str, Any]:
    return {
        "interpolation_mode": mode,
        "rounding_direction": dml.DML_AXIS_DIRECTION_DECREASING,
        "scales": [1, 1, 2, 2],
        "input_pixel_offsets": [0.5] * 4,
        "output_pixel_offsets": [-0.5] * 4,
        "output_sizes": [1, 64, 112, 112],
    }


class ImageOperator(NamedTuple):
    """An operator over images, and the data types that it is measured with."""

    name: str
    method: str
    sizes: Sequence[Sequence[int]]
    attributes: Mapping[str, Any] = {}
    types: Sequence[str] = ("float32", "float16")


NORMALIZED = {"normalize_variance": True, "epsilon": EPSILON}
OF_IMAGES = (
    ImageOperator(
        "BATCH_NORMALIZATION",
        "batch_normalization",
        [IMAGES, *[of_channels(64)] * 4],
        {"spatial": True, "epsilon": EPSILON},
    ),
    ImageOperator(
        "MEAN_VARIANCE_NORMALIZATION1",
        "mean_variance_normalization1",
        [IMAGES, of_channels(64), of_channels(64)],
        {"axes": [2, 3], **NORMALIZED},
    ),
    ImageOperator(
        "MAX_POOLING",
        "max_pooling2",
        [IMAGES],
        pool(dilations=[1, 1], output_indices=False),
        ("float32", "float16", "uint8"),
    ),
    ImageOperator("AVERAGE_POOLING", "average_pooling", [IMAGES], pool(include_padding=False)),
    ImageOperator(
        "CONVOLUTION depthwise",
        "convolution",
        [WIDE, (144, 1, 3, 3), of_channels(144)],
        convolved(1, groups=144),
    ),
    ImageOperator(
        "CONVOLUTION 1x1", "convolution", [IMAGES, (256, 64, 1, 1), of_channels(256)], convolved(0)
    ),
    ImageOperator("CONVOLUTION 3x3", "convolution", [IMAGES, (64, 64, 3, 3), of_channels(64)], convolved(1)),
    ImageOperator(
        "CONVOLUTION 3x3 stride 2",
        "convolution",
        [IMAGES, (128, 64, 3, 3), of_channels(128)],
        convolved(1, stride=2),
        ("float32",),
    ),
    ImageOperator(
        "CONVOLUTION_INTEGER 3x3",
        "convolution_integer",
        [IMAGES, (64, 64, 3, 3)],
        {name: value for name, value in convolved(1).items() if name not in FLOAT_ONLY},
        ("int8",),
    ),
    ImageOperator("RESAMPLE2 linear", "resample2", [IMAGES], twice(dml.DML_INTERPOLATION_MODE_LINEAR)),
    ImageOperator(
        "RESAMPLE2 nearest",
        "resample2",
        [IMAGES],
        twice(dml.DML_INTERPOLATION_MODE_NEAREST_NEIGHBOR),
        ("float32", "uint8"),
    ),
    ImageOperator("ADD", "add", [WIDE, WIDE], types=("float32", "float16", "int8")),
    ImageOperator("RELU", "activation_relu", [WIDE]),
    ImageOperator(
        "mean of planes", "reduce", [WIDE], {"function": dml.DML_REDUCE_FUNCTION_AVERAGE, "axes": [2, 3]}
    ),
    ImageOperator("SOFTMAX of channels", "activation_softmax1", [WIDE], {"axes": [1]}),
    ImageOperator("JOIN of channels", "join", [IMAGES, IMAGES], {"axis": 1}, ("float32", "float16", "uint8")),
)


def cases() -> Iterator[LayoutCase]:
    for one in OF_IMAGES:
        for dtype in one.types:
            for layout in (NHWC, PADDED):
                yield LayoutCase(one.method, one.name, dtype, one.sizes, layout, one.attributes)
    for dtype in ("float32", "float16"):
        yield LayoutCase("add", "ADD of one tensor", dtype, [WIDE, WIDE], NHWC, fields=["ATensor"])
        yield LayoutCase(
            "mean_variance_normalization1",
            "layer normalization",
            dtype,
            [ROWS, (1, 1, 1, 768), (1, 1, 1, 768)],
            PADDED,
            {"axes": [3], **NORMALIZED},
        )
        yield from products("gemm", dtype, {"trans_a": 0, "trans_b": 0, "alpha": 1.0, "beta": 0.0})
    yield from products("matrix_multiply_integer", "int8", {})


def products(method: str, dtype: str, attributes: Mapping[str, Any]) -> Iterator[LayoutCase]:
    """Each tensor of a matrix product transposed by its strides, and padded rows."""
    sizes = [(1, 1, 512, 384), (1, 1, 384, 448)]
    for field_name in ("ATensor", "BTensor", "OutputTensor"):
        name = f"{method.upper()}, {field_name}"
        yield LayoutCase(method, name, dtype, sizes, TRANSPOSED, attributes, [field_name])
    yield LayoutCase(method, method.upper(), dtype, sizes, PADDED, attributes)
