"""Which elements of the inputs an element of an output depends on, found out by changing them one by one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import directml_py
from directml_py.descs.data_types import data_type_of
from directml_py.descs.encode import encode

from ..printed import Example

# A maximum follows a large change alone, a minimum one downwards; a small one stays a valid index.
CHANGES = (1, 100, -100)


class Element(NamedTuple):
    """The element ``position``, in row-major order, of the input or output ``tensor``."""

    tensor: int
    position: int


class Dependence(NamedTuple):
    """What comes out of an example, and the input elements that each output element depends on."""

    outputs: list[Any]
    sources: dict[Element, list[Element]]


def dependence(example: Example) -> Dependence:
    """Execute the example, and once more for each change of an input element."""
    desc = encode(example.desc)
    outputs = directml_py.evaluate(desc, example.inputs)
    sources: dict[Element, list[Element]] = {
        Element(number, position): []
        for number, output in enumerate(outputs)
        if output is not None
        for position in range(output.size)
    }
    for number, slot in enumerate(example.desc.inputs):
        values = example.inputs[number]
        if values is None or slot.tensor is None:
            continue
        extremes = extremes_of(slot.tensor.data_type)
        for position in range(values.size):
            source = Element(number, position)
            for change in CHANGES:
                for changed in _changed_outputs(desc, example, outputs, source, change, extremes):
                    if source not in sources[changed]:
                        sources[changed].append(source)
    return Dependence(outputs, sources)


def extremes_of(data_type: int) -> tuple[float, float]:
    """The least and the greatest number that are tried of a data type."""
    known = data_type_of(data_type)
    if known.kind == "F":
        return -60000.0, 60000.0
    return (
        (0.0, 2.0**known.bits - 1)
        if known.kind == "U"
        else (-(2.0 ** (known.bits - 1)), 2.0 ** (known.bits - 1) - 1)
    )


def _changed_outputs(
    desc: Any,
    example: Example,
    outputs: list[Any],
    source: Element,
    change: int,
    extremes: tuple[float, float],
) -> list[Element]:
    """The output elements that are others when one input element is."""
    inputs = list(example.inputs)
    values = inputs[source.tensor].copy()
    old = values.flat[source.position]
    values.flat[source.position] = type(old)(min(max(float(old) + change, extremes[0]), extremes[1]))
    inputs[source.tensor] = values
    found = []
    for number, (before, after) in enumerate(zip(outputs, directml_py.evaluate(desc, inputs))):
        if before is None:
            continue
        differs = ~((before == after) | ((before != before) & (after != after)))
        found += [Element(number, int(position)) for position in np.flatnonzero(differs)]
    return found
