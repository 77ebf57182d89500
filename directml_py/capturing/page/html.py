"""Small pieces of HTML. Text that is no ``HTML`` is escaped, always."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape


class HTML(str):
    """Text that is markup already."""

    __slots__ = ()


def text(content: str) -> HTML:
    return content if isinstance(content, HTML) else HTML(escape(content))


def join(parts: Iterable[str]) -> HTML:
    return HTML("".join(text(part) for part in parts))


def element(tag: str, content: str = "", **attributes: str | None) -> HTML:
    """``class_`` is the attribute class; underscores are hyphens. Attributes of None are left out."""
    shown = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    return HTML(f"<{tag}{shown}>{text(content)}</{tag}>")


def time_text(seconds: float) -> str:
    """``1.25 ms``."""
    if seconds < 1e-3:
        return f"{seconds * 1e6:.3g} µs"
    return f"{seconds * 1e3:.3g} ms" if seconds < 1 else f"{seconds:.3g} s"


def size_text(count: int) -> str:
    """``1.5 MiB``."""
    if count < 1024:
        return f"{count} bytes"
    units = ("KiB", "MiB", "GiB", "TiB")
    power = min((count.bit_length() - 1) // 10, len(units))
    return f"{count / 1024**power:.3g} {units[power - 1]}"
