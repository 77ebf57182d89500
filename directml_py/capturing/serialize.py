"""Serializes descriptions of objects as JSON."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from ..d3d12.resource import ResourceBuffer
from ..descs.desc_json import write_record
from ..dml.compiled_operator import IDMLCompiledOperator
from ..dml.compiler.graph_desc import GraphDesc, GraphDescNode, GraphInput, Port, Value
from ..dml.compiler.graph_program import GraphProgram
from ..runtime.buffer import Buffer
from ..runtime.recording import AliasingBarrier, Barrier, TransitionBarrier

Bytes = npt.NDArray[np.uint8]
Store = Callable[[Bytes], object]
Json = dict[str, Any]


def enumerator_name(value: Any) -> str:
    """The name, as ``D3D12_HEAP_TYPE_DEFAULT``; flags joined by ``|``; the number of an unnamed value."""
    kind = type(value)
    name = getattr(value, "name", None)
    if name is not None:
        return str(name)
    single = [member.name for member in kind if member.value and value & member.value == member.value]
    return "|".join(single) if single else str(int(value))


def describe_buffer(buffer: ResourceBuffer) -> Json:
    return {
        "offset": buffer.offset,
        "width": buffer.width,
        "heap": enumerator_name(buffer.heap_type),
        "flags": enumerator_name(buffer.flags),
        "state": enumerator_name(buffer.initial_state),
        "placed": buffer.heap is not None,
        "name": buffer.name,
        "created": buffer.created_at,
    }


def describe_operator(op: IDMLCompiledOperator, store: Store) -> Json:
    """``store`` is called with the constants of a graph."""
    members: Json = {
        "level": enumerator_name(op.device.feature_level),
        "flags": int(op.flags),
        "name": op.life.name,
    }
    if op.op is not None:
        desc = op.op.desc
        return members | {"operator": desc.name, "desc": write_record(desc)}
    assert isinstance(op.program, GraphProgram)
    return members | {"graph": _describe_graph(op.program.graph, store)}


def _describe_graph(graph: GraphDesc, store: Store) -> Json:
    return {
        "inputs": graph.input_count,
        "outputs": graph.output_count,
        "nodes": [_describe_node(node, store) for node in graph.nodes if node is not None],
        "edges": [
            [*_end(edge.source), *_end(edge.target)]
            for edge in (*graph.input_edges, *graph.intermediate_edges, *graph.output_edges)
        ],
    }


def _describe_node(node: GraphDescNode, store: Store) -> Json:
    if node.desc is not None:
        return {"name": node.name, "operator": node.desc.name, "desc": write_record(node.desc)}
    assert node.data is not None
    return {"name": node.name, "constant": store(np.frombuffer(node.data, np.uint8))}


def _end(end: Value | GraphInput | Port | int) -> tuple[int, int]:
    """A node and its input or output; -1 and the position for an input or output of the graph."""
    if isinstance(end, int):
        return -1, end
    return (-1, end.position) if isinstance(end, GraphInput) else (end[0], end[1])


def describe_barrier(barrier: Barrier, number_of: Callable[[Buffer | None], int | None]) -> Json:
    if isinstance(barrier, TransitionBarrier):
        return {
            "type": "TRANSITION",
            "resource": number_of(barrier.buffer),
            "before": enumerator_name(barrier.before),
            "after": enumerator_name(barrier.after),
            "flags": enumerator_name(barrier.flags),
        }
    if isinstance(barrier, AliasingBarrier):
        before, after = number_of(barrier.before), number_of(barrier.after)
        return {"type": "ALIASING", "before": before, "after": after}
    return {"type": "UAV", "resource": number_of(barrier.buffer)}
