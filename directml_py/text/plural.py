"""Counts with pluralized nouns."""

from __future__ import annotations


def counted_words(count: int, noun: str, several: str = "") -> str:
    """``1 step``, ``1,024 bytes``, ``2 indices``; ``several`` is an irregular plural."""
    return f"{count:,} {noun if count == 1 else several or noun + 's'}"
