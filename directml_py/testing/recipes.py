"""What is particular about valid descs of an operator: one recipe for each operator whose tables do not say all.

A recipe takes a ``DescGenerator`` and returns attributes by name and, for tensors, sizes (a list of them for an array
field): of those that are free. All that follows is filled in behind it: data types, tensors that share sizes with
others, tensors whose sizes the operator infers, layouts, and attributes that any value suits. Optional tensors that a
recipe leaves out are absent, unless the set under the key ``present`` names them: then their sizes follow. Tensors of
which even the dimension count is free although their sizes follow stand in the set under ``any_rank``, data types that
are bound to more than the tables say in the mapping under ``types``.
"""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TypeVar

from ..operators import SCHEMAS
from .desc_generator import DescGenerator, Fields

Recipe = Callable[[DescGenerator], Fields]
R = TypeVar("R", bound=Recipe)

RECIPES: dict[str, Recipe] = {}


def recipe(*operators: str) -> Callable[[R], R]:
    """Decorator of the recipe of one or more operators."""

    def register(function: R) -> R:
        RECIPES.update(dict.fromkeys(operators, function))
        return function

    return register


def recipe_of(operator: str) -> Recipe:
    """The operator's own recipe, or the one for operators whose tables say all."""
    import_module(f".samples.{SCHEMAS[operator].family}", __package__)
    return RECIPES.get(operator, plain)


def plain(make: DescGenerator) -> Fields:
    """All tensors have the sizes of the first input; an axis or axes lie within them."""
    inputs = [entry for entry in make.schema.struct.tensors if entry.role == "input"]
    fields: Fields = {}
    names = make.schema.struct.index
    first = (inputs or list(make.schema.struct.tensors))[0].name
    rank = make.rank(first)
    fields[first] = make.shape(rank)
    if "Axis" in names:
        fields["Axis"] = make.source.integer(0, rank - 1)
    if "Axes" in names:
        fields["Axes"] = make.axes(rank)
    return fields
