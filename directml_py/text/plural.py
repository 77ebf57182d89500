"""Counts with pluralized nouns, and lists of names."""

from __future__ import annotations

from collections.abc import Sequence


def counted_words(count: int, noun: str, several: str = "") -> str:
    """``1 step``, ``1,024 bytes``, ``2 indices``; ``several`` is an irregular plural."""
    return f"{count:,} {noun if count == 1 else several or noun + 's'}"


def listed(names: Sequence[str]) -> str:
    """``A``, ``A and B``, ``A, B and C``."""
    return " and ".join(filter(None, [", ".join(names[:-1]), *names[-1:]]))
