"""The rules about sizes: an operator's shape inference compared with its desc."""

from __future__ import annotations

from typing import Any

from ..abi.schema import FieldSchema
from ..descs.format import braces
from ..descs.operator_desc import OperatorDesc
from ..descs.tensor import TensorDesc
from ..validation.operator_rules import page_sizes_rule, sizes_rule
from ..validation.report import Report
from .operator import Advisory, Broadcast, Shape, Shapes


def check_sizes(desc: OperatorDesc, shapes: Shapes, report: Report) -> None:
    """Report every tensor of ``desc`` whose sizes differ from ``shapes``."""
    for entry in desc.struct.tensors:
        shape: Any = shapes.get(entry.name)
        value = getattr(desc, entry.name)
        if shape is None or value is None:
            continue
        if entry.kind == "array":
            for index, (tensor, expected) in enumerate(zip(value, shape)):
                _check(desc, entry, f"{entry.name}[{index}]", tensor, expected, report)
        else:
            _check(desc, entry, entry.name, value, shape, report)


def _check(
    desc: OperatorDesc, entry: FieldSchema, path: str, tensor: TensorDesc, shape: Shape, report: Report
) -> None:
    if tensor.sizes == shape:
        return
    rule, problem = sizes_rule(desc.schema), _problem(tensor, shape)
    if isinstance(shape, Advisory) and not problem and tensor.sizes != shape.sizes:
        rule, problem = page_sizes_rule(desc.schema), _problem(tensor, shape.sizes)
    if problem:
        text = f"is {braces(tensor.sizes)}; for {_reasons(desc, entry, path)} it {problem}"
        report.add(rule, f"{path}.Sizes", text)


def _problem(tensor: TensorDesc, shape: Shape) -> str:
    """The violated requirement on a tensor's sizes; empty if there is none."""
    if isinstance(shape, Advisory):
        return _required_problem(tensor, shape.required)
    if isinstance(shape, Broadcast):
        fits = len(tensor.sizes) == len(shape.sizes) and all(
            actual in (1, size) for actual, size in zip(tensor.sizes, shape.sizes)
        )
        return "" if fits else f"must be {braces(shape.sizes)}, of which each size may also be 1"
    if tensor.sizes == tuple(shape):
        return ""
    if min(shape, default=1) < 1:
        return f"would be {braces(shape)}, and every size must be at least 1"
    return f"must be {braces(shape)}"


def _required_problem(tensor: TensorDesc, required: tuple[int | None, ...] | None) -> str:
    if required is None:
        return ""
    fits = len(tensor.sizes) == len(required) and all(
        size in (None, actual) for actual, size in zip(tensor.sizes, required)
    )
    expected = ["any" if size is None else str(size) for size in required]
    return "" if fits else f"must be {{{', '.join(expected)}}}"


def _reasons(desc: OperatorDesc, entry: FieldSchema, path: str) -> str:
    """What the sizes at ``path`` are inferred from: the inputs (the outputs if there is no other), axes and, for
    outputs, all integer attributes."""
    others = desc.inputs if entry.role == "output" or len(desc.inputs) > 1 else (*desc.inputs, *desc.outputs)
    reasons = [
        f"{slot.path} {braces(slot.tensor.sizes)}"
        for slot in others
        if slot.tensor is not None and slot.path != path
    ]
    counts = {counting.counted_by for counting in desc.struct.fields}
    for attribute in desc.struct.fields:
        value = getattr(desc, attribute.name)
        matters = entry.role == "output" or attribute.name in ("Axis", "Axes")
        if (
            matters
            and attribute.type in ("UINT", "INT")
            and attribute.name not in counts
            and value is not None
        ):
            reasons.append(f"{attribute.name} {braces(value) if attribute.kind == 'array' else value}")
    return ", ".join(reasons)
