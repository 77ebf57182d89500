"""Changes that break one of an operator's own rules."""

from __future__ import annotations

from collections.abc import Callable

from ..api.enums import DML_TENSOR_DATA_TYPE
from ..api.schema_data import STRUCTS
from ..descs.sizes import ELEMENT_BITS
from ..descs.tensor import TensorDesc
from ..descs.values import OperatorDesc, Record, TensorSlot
from ..validation.support import support_at
from .changes import Change, change, change_tensor, reshaped, resized, retyped
from .source import Source
from .tensor_mutations import tensor_of

Mutation = Callable[[Source, OperatorDesc, int], "Change | None"]

BEYOND = (0, 1, 7, 0xFFFFFFF0)


def grown(tensor: TensorDesc, dimension: int) -> TensorDesc:
    return resized(tensor, dimension, tensor.sizes[dimension] + 1)


def _parts(desc: OperatorDesc) -> tuple[TensorSlot, tuple[TensorSlot, ...]]:
    """The whole and the parts of a join or split."""
    return (desc.outputs[0], desc.inputs) if desc.name == "JOIN" else (desc.inputs[0], desc.outputs)


def axis(source: Source, desc: OperatorDesc, level: int) -> Change:
    rank = tensor_of(desc.inputs[0]).dimension_count
    return Change(change(desc, Axis=rank + source.choice(BEYOND)), f"DML-{desc.name}-axis", "Axis")


def no_parts(source: Source, desc: OperatorDesc, level: int) -> Change:
    array = "InputTensors" if desc.name == "JOIN" else "OutputTensors"
    count = array.replace("Tensors", "Count")
    rule = f"DML-{desc.name}-{'input' if desc.name == 'JOIN' else 'output'}-count"
    return Change(change(desc, **{array: ()}), rule, count)


def off_axis(source: Source, desc: OperatorDesc, level: int) -> Change | None:
    part = source.choice(_parts(desc)[1])
    tensor = tensor_of(part)
    others = [dimension for dimension in range(tensor.dimension_count) if dimension != desc.Axis]
    if not others:
        return None
    dimension = source.choice(others)
    changed = change_tensor(desc, part, grown(tensor, dimension))
    return Change(changed, f"DML-{desc.name}-sizes-off-axis", f"{part.path}.Sizes[{dimension}]")


def on_axis(source: Source, desc: OperatorDesc, level: int) -> Change:
    whole, parts = _parts(desc)
    slot = source.choice((whole, *parts))
    changed = change_tensor(desc, slot, grown(tensor_of(slot), desc.Axis))
    return Change(changed, f"DML-{desc.name}-sizes-on-axis", f"{whole.path}.Sizes[{desc.Axis}]")


def no_axes(source: Source, desc: OperatorDesc, level: int) -> Change:
    return Change(change(desc, Axes=()), f"DML-{desc.name}-axis-count", "AxisCount")


def axes_beyond(source: Source, desc: OperatorDesc, level: int) -> Change:
    rank = tensor_of(desc.inputs[0]).dimension_count
    position = source.integer(0, len(desc.Axes) - 1)
    axes = list(desc.Axes)
    axes[position] = rank + source.choice(BEYOND)
    return Change(change(desc, Axes=tuple(axes)), f"DML-{desc.name}-axes", f"Axes[{position}]")


def axes_twice(source: Source, desc: OperatorDesc, level: int) -> Change:
    axes = (*desc.Axes, source.choice(desc.Axes))
    return Change(change(desc, Axes=axes), f"DML-{desc.name}-axes-unique", f"Axes[{len(axes) - 1}]")


def output_sizes(source: Source, desc: OperatorDesc, level: int) -> Change:
    (output,) = desc.outputs
    tensor = tensor_of(output)
    changed = change_tensor(desc, output, grown(tensor, source.integer(0, tensor.dimension_count - 1)))
    return Change(changed, f"DML-{desc.name}-output-sizes", "OutputTensor.Sizes")


def same_sizes(source: Source, desc: OperatorDesc, level: int) -> Change:
    return output_sizes(source, desc, level)._replace(rule=f"DML-{desc.name}-same-sizes")


def enum_value(field: str) -> Mutation:
    def mutate(source: Source, desc: OperatorDesc, level: int) -> Change:
        value = source.choice((99, -1, 0x7FFFFFFF, -0x80000000))
        return Change(change(desc, **{field: value}), "DML-Desc-enum", field)

    return mutate


def scale_bias_type(source: Source, desc: OperatorDesc, level: int) -> Change | None:
    table = support_at(desc, level)
    assert table is not None
    types = [kind for kind in table.tensors["InputTensor"].types if ELEMENT_BITS[kind] == 64]
    if not types:
        return None
    kind = DML_TENSOR_DATA_TYPE(source.choice(types))
    for slot in (*desc.inputs, *desc.outputs):
        desc = change_tensor(desc, slot, retyped(tensor_of(slot), kind))
    changed = change(desc, ScaleBias=Record(STRUCTS["DML_SCALE_BIAS"], (1.0, 0.0)))
    return Change(changed, "DML-ELEMENT_WISE_IDENTITY-scale-bias-type", "ScaleBias")


def index_dimensions(source: Source, desc: OperatorDesc, level: int) -> Change:
    count = tensor_of(desc.inputs[1]).dimension_count + 1 + source.choice(BEYOND)
    return Change(change(desc, IndexDimensions=count), "DML-GATHER-index-dimensions", "IndexDimensions")


def leading_ones(source: Source, desc: OperatorDesc, level: int) -> Change | None:
    slot = desc.inputs[1]
    tensor = tensor_of(slot)
    ignored = tensor.dimension_count - desc.IndexDimensions
    if not ignored:
        return None
    dimension = source.integer(0, ignored - 1)
    changed = change_tensor(desc, slot, grown(tensor, dimension))
    return Change(changed, "DML-GATHER-indices-leading-ones", f"{slot.path}.Sizes[{dimension}]")


def output_rank(source: Source, desc: OperatorDesc, level: int) -> Change | None:
    """Nothing can be cropped: no size is 1, and all dimensions of the indices count."""
    x, indices = (tensor_of(slot) for slot in desc.inputs)
    rank = x.dimension_count
    if rank < 2:
        return None
    for slot, tensor in zip(desc.inputs, (x, indices)):
        desc = change_tensor(desc, slot, reshaped(tensor, tuple(source.integer(2, 3) for _ in range(rank))))
    changed = change(desc, IndexDimensions=rank)
    return Change(changed, "DML-GATHER-output-rank", "OutputTensor.DimensionCount")


_PARTS: tuple[Mutation, ...] = (axis, no_parts, off_axis, on_axis)
_AXES: tuple[Mutation, ...] = (no_axes, axes_beyond, axes_twice, output_sizes)
OPERATOR_MUTATIONS: dict[str, tuple[Mutation, ...]] = {
    "ARGMAX": (*_AXES, enum_value("AxisDirection")),
    "ARGMIN": (*_AXES, enum_value("AxisDirection")),
    "ELEMENT_WISE_IDENTITY": (same_sizes, scale_bias_type),
    "GATHER": (axis, index_dimensions, leading_ones, output_rank, output_sizes),
    "JOIN": _PARTS,
    "REDUCE": (*_AXES, enum_value("Function")),
    "SPLIT": _PARTS,
}
