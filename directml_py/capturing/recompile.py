"""Recreates and compiles the operators of a capture on devices of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..api.enums import (
    DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE,
    DML_EXECUTION_FLAGS,
    DML_FEATURE_LEVEL,
)
from ..api.structs import (
    DML_GRAPH_DESC,
    DML_GRAPH_NODE_DESC,
    DML_INPUT_GRAPH_EDGE_DESC,
    DML_INTERMEDIATE_GRAPH_EDGE_DESC,
    DML_OUTPUT_GRAPH_EDGE_DESC,
)
from ..d3d12 import D3D12CreateDevice
from ..descs.desc_json import operator_schema, read_operator
from ..descs.encode import encode
from ..dml import DMLCreateDevice, IDMLCompiledOperator, IDMLDevice, IDMLDevice1, IDMLOperator
from ..graph.to_desc import EdgeDesc, constant_node, graph_desc, operator_node
from ..text.json_reading import Item

if TYPE_CHECKING:
    from .parser import CaptureLog


class Operators:
    """Compiles the operators that events describe, each on a device of the feature level it was created on.

    Raises ``DMLError`` for operators that DirectML rejects, ``JsonError`` for a malformed description.
    """

    def __init__(self, log: CaptureLog) -> None:
        self._log = log
        self._devices: dict[DML_FEATURE_LEVEL, IDMLDevice] = {}
        self._d3d12 = D3D12CreateDevice()

    def compile(self, members: dict[str, Item]) -> IDMLCompiledOperator:
        level = members["level"].text() if "level" in members else ""
        if level not in DML_FEATURE_LEVEL.__members__:
            raise members["event"].error(f"has the level {level!r}, which is not a feature level")
        device = self._device(DML_FEATURE_LEVEL[level])
        flags = members["flags"].integer() if "flags" in members else 0
        # A replay binds before it records, whatever the program did.
        flags &= ~int(DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE)
        if flags & ~sum(DML_EXECUTION_FLAGS):
            raise members["flags"].error(f"is {flags}, which has unknown bits")
        if "graph" in members:
            if not isinstance(device, IDMLDevice1):
                raise members["level"].error(f"is {level}, which has no graphs")
            return device.CompileGraph(self._graph(device, members["graph"]), flags)
        return device.CompileOperator(self._operator(device, members), flags)

    @property
    def newest(self) -> IDMLDevice:
        return self._device(max(DML_FEATURE_LEVEL))

    def _device(self, level: DML_FEATURE_LEVEL) -> IDMLDevice:
        if level not in self._devices:
            self._devices[level] = DMLCreateDevice(self._d3d12, feature_level=level)
        return self._devices[level]

    @staticmethod
    def _operator(device: IDMLDevice, members: dict[str, Item]) -> IDMLOperator:
        if not {"operator", "desc"} <= members.keys():
            raise next(iter(members.values())).error("is missing 'operator' and 'desc'")
        desc = read_operator(operator_schema(members["operator"]), members["desc"])
        return device.CreateOperator(encode(desc))

    def _graph(self, device: IDMLDevice, item: Item) -> DML_GRAPH_DESC:
        parts = item.fields({"inputs", "outputs", "nodes", "edges"})
        return graph_desc(
            parts["inputs"].integer(0, 1 << 16),
            parts["outputs"].integer(0, 1 << 16),
            [self._node(device, one) for one in parts["nodes"]],
            [_edge(one) for one in parts["edges"]],
        )

    def _node(self, device: IDMLDevice, item: Item) -> DML_GRAPH_NODE_DESC:
        parts = item.fields({"name"}, {"operator", "desc", "constant"})
        name = str(parts["name"].value).encode("utf-8", "replace")
        if "constant" in parts:
            content = self._log.contents[parts["constant"].index(len(self._log.contents), "contents")]
            return constant_node(self._log.bytes(content).tobytes(), name)
        return operator_node(self._operator(device, parts), name)


def _edge(item: Item) -> EdgeDesc:
    """An edge: source node and output, target node and input; node -1 is the graph itself."""
    ends = [number.integer(-1) for number in item]
    if len(ends) != 4 or (ends[0] == -1 == ends[2]) or min(ends[1], ends[3]) < 0:
        raise item.error("must be a node and its output, a node and its input; -1 for the graph")
    source, output, target, input_index = ends
    if source == -1:
        return DML_INPUT_GRAPH_EDGE_DESC(output, target, input_index)
    if target == -1:
        return DML_OUTPUT_GRAPH_EDGE_DESC(source, output, input_index)
    return DML_INTERMEDIATE_GRAPH_EDGE_DESC(source, output, target, input_index)
