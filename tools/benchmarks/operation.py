"""One operator of the graph builder against functions of the peers, over the same memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from directml_py.descs import encode
from directml_py.graph import Graph
from directml_py.graph.nodes import OperatorNode

from .benchmark_case import Contest
from .peers import onnx_call, torch_call
from .replay_cost import ELEMENT, recorded, strides_of

Function = Callable[..., object]


class Operation(NamedTuple):
    """``method`` of ``Graph`` with ``attributes``, and what peers call: functions of the inputs and the output, and an
    ONNX node with its attributes."""

    method: str
    attributes: Mapping[str, Any] = {}
    numpy: Function | None = None
    pytorch: Function | None = None
    onnx: tuple[str, Mapping[str, Any]] | None = None


def contest(
    operation: Operation,
    arrays: Sequence[Any],
    threads: int,
    seen: Sequence[Any] = (),
    others: Mapping[str, Any] = {},
) -> Contest:
    """``arrays`` are the inputs; peers read ``seen`` in their stead if it is given: the same numbers in other sizes.

    ``others`` are inputs by name, in the order of the desc, behind those of ``arrays``.
    """
    graph = Graph()
    inputs = [
        graph.input_tensor(index, ELEMENT[one.dtype], list(one.shape), strides_of(one))
        for index, one in enumerate([*arrays, *others.values()])
    ]
    named = dict(zip(others, inputs[len(arrays) :]))
    getattr(graph, operation.method)(*inputs[: len(arrays)], **named, **operation.attributes)
    node = graph.nodes[-1]
    assert isinstance(node, OperatorNode)
    ours = recorded(encode(node.desc), [*arrays, *others.values()])
    sources, (out, *_) = list(seen) or ours.inputs[: len(arrays)], ours.outputs
    function, onnx = operation.numpy, operation.onnx
    peers = {
        "NumPy": None if function is None else lambda: function(*sources, out),
        "PyTorch": None if operation.pytorch is None else torch_call(operation.pytorch, sources, [out]),
        "ONNX Runtime": None if onnx is None else onnx_call(onnx[0], sources, [out], threads, onnx[1]),
    }
    return Contest(ours, peers)
