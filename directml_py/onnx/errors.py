"""Refusals of models: one sentence with the file, the node and the attribute."""

from __future__ import annotations


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
