"""Pictures of operators, drawn from the results of executing them."""

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

# The most cells in a picture; more would be unreadable.
MOST_CELLS = 260
# Operators without a picture: their output is random.
NONE = frozenset({"RANDOM_GENERATOR"})
# Families that move data; outputs of others may equal input elements by coincidence.
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
    """Numbers with FLOAT's shortest digits; empty for other values."""
    if isinstance(value, Scalar):
        return plain(value.value)
    if isinstance(value, float):
        return number(value).removesuffix(".0")
    if isinstance(value, tuple) and all(isinstance(one, float) for one in value):
        return braces(map(plain, value))
    return ""


def cells(example: Example) -> str:
    """A picture of inputs and outputs as cells: where each element goes, or what one output depends on."""
    dependences = dependence(example)
    origins = moved_from(example, dependences)
    if origins is not None:
        marks_in, marks_out = by_origin(example, origins)
        caption = "Where each element goes." if example.inputs else "What is written."
    else:
        marks_in, marks_out = by_dependence(dependences)
        caption = "The marked element of the output depends on the marked elements of the inputs."
    inputs = panels(example.desc.inputs, example.inputs, marks_in)
    outputs = panels(example.desc.outputs, dependences.outputs, marks_out)
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


def moved_from(example: Example, dependences: Dependence) -> dict[Element, Element] | None:
    """The source of each output element, if the operator only moves input elements; else None.

    Inputs with a data type other than the output's, such as indices, are not sources.
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
    for target, every in dependences.sources.items():
        sources = [candidate for candidate in every if candidate.tensor in carriers]
        if len(sources) > 1:
            return None
        for source in sources:
            moved = example.inputs[source.tensor].flat[source.position]
            if moved != dependences.outputs[target.tensor].flat[target.position]:
                return None
            origins[target] = source
    return origins if origins or not example.inputs else None


def by_origin(example: Example, origins: dict[Element, Element]) -> tuple[Marks, Marks]:
    """Colours by origin: one per input, or a gradient over the elements of a single input."""
    carriers = sorted({source.tensor for source in origins.values()})
    colours: Marks = {}
    for source in origins.values():
        if len(carriers) > 1:
            share = carriers.index(source.tensor) / len(carriers)
        else:
            share = source.position / max(1, example.inputs[source.tensor].size) * 0.85
        colours[source] = f"hsl({round(share * 360 + 200) % 360} 75% 55% / 0.32)"
    return colours, {target: colours[source] for target, source in origins.items()}


def by_dependence(dependences: Dependence) -> tuple[Marks, Marks]:
    """Mark the element of the first output with the most dependences, near the middle, and what it depends on."""
    first_output = min(target.tensor for target in dependences.sources)
    sources = {
        target: every for target, every in dependences.sources.items() if target.tensor == first_output
    }
    most = max(map(len, sources.values()))
    if most == 0:
        return {}, {}
    best = [target for target, every in sources.items() if len(every) == most]
    chosen = best[len(best) // 2]
    return dict.fromkeys(dependences.sources[chosen], "source"), {chosen: "target"}
