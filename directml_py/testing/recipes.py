"""Recipes for valid descs: one for each operator whose tables do not determine everything.

A recipe takes a ``DescGenerator`` and returns the free attributes and tensor sizes by name (a list of sizes for an
array field). Everything else is filled in: data types, tensors that share sizes with others, tensors whose sizes the
operator infers, layouts, and attributes that accept any value. Optional tensors that a recipe leaves out are absent,
unless the set under the key ``present`` lists them: then their sizes are inferred. The set under ``any_rank`` lists
tensors with inferred sizes but a free dimension count; the mapping under ``types`` has data types with more
constraints than the tables express.
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
    """Decorator that registers the recipe of one or more operators."""

    def register(function: R) -> R:
        RECIPES.update(dict.fromkeys(operators, function))
        return function

    return register


def recipe_of(operator: str) -> Recipe:
    """The operator's own recipe, or the default one."""
    import_module(f".samples.{SCHEMAS[operator].family}", __package__)
    return RECIPES.get(operator, plain)


def plain(make: DescGenerator) -> Fields:
    """The default recipe: all tensors have the sizes of the first input; axes are within its rank."""
    inputs = [entry for entry in make.schema.struct.tensors if entry.role == "input"]
    fields: Fields = {}
    names = make.schema.struct.index
    first_tensor = (inputs or list(make.schema.struct.tensors))[0].name
    rank = make.rank(first_tensor)
    fields[first_tensor] = make.shape(rank)
    if "Axis" in names:
        fields["Axis"] = make.source.integer(0, rank - 1)
    if "Axes" in names:
        fields["Axes"] = make.axes(rank)
    return fields
