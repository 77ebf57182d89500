"""Refusals of models: one sentence with the file, the node and the attribute."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ..abi.hresult import DMLError


class OnnxError(ValueError):
    """A model that cannot become a DirectML graph.

    ``file``, ``node`` (its name and operator) and ``attribute`` (or the input) locate the cause; each may be empty.
    """

    def __init__(self, reason: str, file: str = "", node: str = "", attribute: str = "") -> None:
        super().__init__(": ".join(filter(None, (file, node, attribute, reason))))
        self.reason = reason
        self.file = file
        self.node = node
        self.attribute = attribute


class OpenSizes(OnnxError):
    """An input whose sizes the model leaves open: all of them (``sizes`` is None), or those that are no numbers."""

    def __init__(self, name: str, sizes: tuple[int | str | None, ...] | None, file: str) -> None:
        has = "has no sizes; give them" if sizes is None else f"has sizes {shown_sizes(sizes)}; give numbers"
        super().__init__(f"{has}: inputs={{{name!r}: [...]}}", file, f"input {name!r}")
        self.name = name
        self.sizes = sizes


def shown_sizes(sizes: Sequence[int | str | None]) -> str:
    return f"[{', '.join('?' if size is None else str(size) for size in sizes)}]"


class Refusal(Exception):
    """Raised by an operator's function; the translation adds the file and the node."""

    def __init__(self, reason: str, attribute: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.attribute = attribute


class UnknownValue(Refusal):
    """An input whose value determines the graph, but is known only when it runs. ``needed`` is its name."""

    def __init__(self, needed: str, attribute: str) -> None:
        super().__init__("its value determines the graph, so it must be a constant", attribute)
        self.needed = needed


class ValueNeeded(OnnxError):
    """An ``OnnxError`` for an ``UnknownValue``: ``inputs`` are the graph inputs whose contents ``load`` would need."""

    inputs: tuple[str, ...] = ()


@contextmanager
def one_sentence(file: str, where: str) -> Iterator[None]:
    """Turns whatever is raised into what ``sentence`` makes of it."""
    try:
        yield
    except Exception as error:
        raise sentence(error, file, where) from error


def sentence(error: Exception, file: str, where: str) -> Exception:
    """An ``OnnxError`` for what was raised at the place ``where`` of a model; files that cannot be read are left alone.

    The package onnx raises exceptions of many kinds for what no model should have, with several lines of text.
    """
    if isinstance(error, OnnxError):
        return error
    if isinstance(error, Refusal):
        return OnnxError(error.reason, file, where, error.attribute)
    if isinstance(error, DMLError):
        return OnnxError("; ".join(map(str, error.diagnostics)) or str(error.args[0]), file, where)
    if isinstance(error, OSError):
        return error
    text = " ".join(str(error).split())
    if isinstance(error, ValueError) and text:
        return OnnxError(text, file, where)
    return OnnxError(
        f"its attributes and inputs do not fit together ({type(error).__name__}: {text})", file, where
    )
