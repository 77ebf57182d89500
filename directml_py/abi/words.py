"""Numbers of things, in words."""

from __future__ import annotations


def counted_words(count: int, noun: str) -> str:
    """``1 step``, ``1,024 bytes``."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
