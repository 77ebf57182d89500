"""Operators of the domain com.microsoft that ONNX has taken over: they are translated as ONNX's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import onnx

from .protobuf import NodeMessage
from .translators import MICROSOFT


class Successor(NamedTuple):
    """ONNX's operator, the operator set of which it is, and the attributes that say what the older one always does."""

    kind: str
    version: int
    attributes: Callable[[], dict[str, Any]] = dict


SUCCESSORS = {
    "GridSample": Successor("GridSample", 16),
    "Pad": Successor("Pad", 19),
    "Range": Successor("Range", 11),
    "Trilu": Successor("Trilu", 14),
}


def successor(node: NodeMessage) -> NodeMessage:
    """The node as one of ONNX's operators, if it is one that ONNX has taken over."""
    row = SUCCESSORS.get(node.op_type) if node.domain == MICROSOFT else None
    if row is None:
        return node
    proto = onnx.NodeProto()
    proto.CopyFrom(node.proto)
    proto.op_type, proto.domain = row.kind, ""
    return NodeMessage(proto, {"": row.version})
