"""Names like a misspelt one, for messages of all rooms."""

from __future__ import annotations

from collections.abc import Iterable

from ..late import loading


def similar_names(name: str, names: Iterable[str], count: int = 3, cutoff: float = 0.75) -> list[str]:
    """Up to ``count`` of ``names`` that resemble ``name``, whatever its case, the most similar first."""
    # Only messages need it.
    with loading:
        from difflib import get_close_matches

    by_case = {known.upper(): known for known in names}
    return [by_case[close] for close in get_close_matches(name.upper(), by_case, count, cutoff)]


def did_you_mean(name: str, names: Iterable[str], cutoff: float = 0.75) -> str:
    """``; did you mean Axes?``, or nothing if no name is similar."""
    close = similar_names(name, names, 1, cutoff)
    return f"; did you mean {close[0]}?" if close else ""
