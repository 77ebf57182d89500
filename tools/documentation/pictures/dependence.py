"""Dependence analysis: the input elements that each output element depends on, by perturbing them one by one."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

import directml_py
from directml_py.descs.data_types import data_type_of
from directml_py.descs.encode import encode

from ..printed import Example

# A maximum reacts only to a large increase, a minimum to a decrease; a small change keeps an index valid.
CHANGES = (1, 100, -100)


class Element(NamedTuple):
    """The element ``position``, in row-major order, of the input or output ``tensor``."""

    tensor: int
    position: int


class Dependence(NamedTuple):
    """The outputs of an example, and the input elements that each output element depends on."""

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
    """The range of numbers to try for a data type."""
    element_type = data_type_of(data_type)
    if element_type.kind == "F":
        return -60000.0, 60000.0
    return (
        (0.0, 2.0**element_type.bits - 1)
        if element_type.kind == "U"
        else (-(2.0 ** (element_type.bits - 1)), 2.0 ** (element_type.bits - 1) - 1)
    )


def _changed_outputs(
    desc: Any,
    example: Example,
    outputs: list[Any],
    source: Element,
    change: int,
    extremes: tuple[float, float],
) -> list[Element]:
    """The output elements that change with one input element."""
    inputs = list(example.inputs)
    values = inputs[source.tensor].copy()
    old = values.flat[source.position]
    values.flat[source.position] = type(old)(min(max(float(old) + change, extremes[0]), extremes[1]))
    inputs[source.tensor] = values
    changed = []
    for number, (before, after) in enumerate(zip(outputs, directml_py.evaluate(desc, inputs))):
        if before is None:
            continue
        differs = ~((before == after) | ((before != before) & (after != after)))
        changed += [Element(number, int(position)) for position in np.flatnonzero(differs)]
    return changed
