"""All hazards: importing a module registers its scenarios."""

from __future__ import annotations

from . import (  # noqa: F401
    aliasing_cases,
    attention_cases,
    barrier_cases,
    binding_cases,
    clear_cases,
    content_cases,
    descriptor_cases,
    graph_cases,
    in_place_cases,
    index_cases,
    length_cases,
    lifetime_cases,
    memory_cases,
    queue_cases,
    region_cases,
    residency_cases,
    scale_cases,
    split_barrier_cases,
    state_cases,
    step_cases,
    value_cases,
)
from .hazard import HAZARDS

__all__ = ["HAZARDS"]
