"""Pictures of what operators do, drawn from what comes out when they are executed."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from directml_py.descs.format import braces, format_value
from directml_py.descs.operator_desc import Scalar, TensorSlot

from ..printed import Example
from ..python_source import number
from .curve import curve
from .dependence import Dependence, Element, dependence
from .grid import Panel, figure, fits, title_of

# So many cells in all, and so many numbers to try, are a picture; more are a wallpaper.
MOST_CELLS = 260
# What comes out is meant to look like nothing.
NONE = frozenset({"RANDOM_GENERATOR"})
# Other operators may give an input's elements by chance.
MOVING = frozenset({"movement", "indexing", "filling"})
ALSO_MOVING = frozenset({"MAX_UNPOOLING"})


def picture(operator: str, examples: list[Example]) -> str:
    """The picture of an operator, as HTML with an SVG in it; empty if no example is small enough."""
    if operator in NONE:
        return ""
    drawn = curve(examples[0], escape("The function, as it is computed." + attributes(examples[0])))
    if drawn:
        return drawn
    for example in examples:
        if is_small(example):
            return cells(example)
    return ""


def is_small(example: Example) -> bool:
    slots = [slot for slot in (*example.desc.inputs, *example.desc.outputs) if slot.tensor is not None]
    sizes = [slot.tensor.sizes for slot in slots if slot.tensor is not None]
    has_values = all(
        slot.tensor is None or values is not None for slot, values in zip(example.desc.inputs, example.inputs)
    )
    return has_values and all(map(fits, sizes)) and sum(int(np.prod(one)) for one in sizes) <= MOST_CELLS


def attributes(example: Example) -> str:
    """`` Axis is 3.``: the attributes of an example."""
    counts = {entry.counted_by for entry in example.desc.struct.fields}
    parts = []
    for entry, (name, value) in zip(example.desc.struct.fields, example.desc):
        if entry.is_tensor or name in counts or value is None or value == ():
            continue
        shown = plain(value) or format_value(entry, value).removeprefix(f"{entry.type}_")
        parts.append(f"{name} is {shown}")
    return f" {', '.join(parts)}." if parts else ""


def plain(value: Any) -> str:
    """Numbers without the digits that FLOATs add; empty for what is none."""
    if isinstance(value, Scalar):
        return plain(value.value)
    if isinstance(value, float):
        return number(value).removesuffix(".0")
    if isinstance(value, tuple) and all(isinstance(one, float) for one in value):
        return braces(map(plain, value))
    return ""


def cells(example: Example) -> str:
    """Inputs and outputs with their numbers: where each element goes, or what one output depends on."""
    found = dependence(example)
    origins = moved_from(example, found)
    if origins is not None:
        marks_in, marks_out = by_origin(example, origins)
        caption = "Where each element goes." if example.inputs else "What is written."
    else:
        marks_in, marks_out = by_dependence(found)
        caption = "The marked element of the output depends on the marked elements of the inputs."
    inputs = panels(example.desc.inputs, example.inputs, marks_in)
    outputs = panels(example.desc.outputs, found.outputs, marks_out)
    return figure(
        inputs,
        outputs,
        f"{example.operator} of small tensors",
        escape(caption + attributes(example)),
    )


Marks = dict[Element, str]


def panels(slots: tuple[TensorSlot, ...], values: list[Any], marks: Marks) -> list[Panel]:
    return [
        Panel(
            title_of(slot.path, slot.tensor.sizes),
            slot.tensor.sizes,
            values[number],
            {element.position: style for element, style in marks.items() if element.tensor == number},
        )
        for number, slot in enumerate(slots)
        if slot.tensor is not None
    ]


def moved_from(example: Example, found: Dependence) -> dict[Element, Element] | None:
    """Where each output element comes from, if the operator only moves the elements of inputs; else None.

    Inputs of another data type than the output's, such as indices, say where and not what.
    """
    if example.desc.schema.family not in MOVING and example.operator not in ALSO_MOVING:
        return None
    data_types = {slot.tensor.data_type for slot in example.desc.outputs if slot.tensor is not None}
    carriers = {
        number
        for number, slot in enumerate(example.desc.inputs)
        if slot.tensor is not None and slot.tensor.data_type in data_types
    }
    origins = {}
    for target, every in found.sources.items():
        sources = [one for one in every if one.tensor in carriers]
        if len(sources) > 1:
            return None
        for source in sources:
            moved = example.inputs[source.tensor].flat[source.position]
            if moved != found.outputs[target.tensor].flat[target.position]:
                return None
            origins[target] = source
    return origins if origins or not example.inputs else None


def by_origin(example: Example, origins: dict[Element, Element]) -> tuple[Marks, Marks]:
    """Colours: of several inputs one each, of a single one from its first element to its last."""
    carriers = sorted({source.tensor for source in origins.values()})
    colours: Marks = {}
    for source in origins.values():
        if len(carriers) > 1:
            share = carriers.index(source.tensor) / len(carriers)
        else:
            share = source.position / max(1, example.inputs[source.tensor].size) * 0.85
        colours[source] = f"hsl({round(share * 360 + 200) % 360} 75% 55% / 0.32)"
    return colours, {target: colours[source] for target, source in origins.items()}


def by_dependence(found: Dependence) -> tuple[Marks, Marks]:
    """Mark the element of the first output that depends on the most, one of the middle, and what it depends on."""
    first = min(target.tensor for target in found.sources)
    sources = {target: every for target, every in found.sources.items() if target.tensor == first}
    most = max(map(len, sources.values()))
    if most == 0:
        return {}, {}
    best = [target for target, every in sources.items() if len(every) == most]
    chosen = best[len(best) // 2]
    return dict.fromkeys(found.sources[chosen], "source"), {chosen: "target"}
