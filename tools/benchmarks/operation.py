"""One operator of the graph builder and its equivalents in the peers, over the same memory."""

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
    """``method`` of ``Graph`` with ``attributes``, and the peers' equivalents: functions of the inputs and the output,
    and an ONNX node with its attributes."""

    method: str
    attributes: Mapping[str, Any] = {}
    numpy: Function | None = None
    pytorch: Function | None = None
    onnx: tuple[str, Mapping[str, Any]] | None = None


def contest(
    operation: Operation,
    arrays: Sequence[Any],
    threads: int,
    peer_inputs: Sequence[Any] = (),
    others: Mapping[str, Any] = {},
) -> Contest:
    """``arrays`` are the inputs; peers read ``peer_inputs`` instead if given: the same numbers with other sizes.

    ``others`` are inputs by name, in desc order, after those of ``arrays``.
    """
    graph = Graph()
    inputs = [
        graph.input_tensor(index, ELEMENT[array.dtype], list(array.shape), strides_of(array))
        for index, array in enumerate([*arrays, *others.values()])
    ]
    keyword_inputs = dict(zip(others, inputs[len(arrays) :]))
    getattr(graph, operation.method)(*inputs[: len(arrays)], **keyword_inputs, **operation.attributes)
    node = graph.nodes[-1]
    assert isinstance(node, OperatorNode)
    ours = recorded(encode(node.desc), [*arrays, *others.values()])
    sources, (out, *_) = list(peer_inputs) or ours.inputs[: len(arrays)], ours.outputs
    function, onnx = operation.numpy, operation.onnx
    peers = {
        "NumPy": None if function is None else lambda: function(*sources, out),
        "PyTorch": None if operation.pytorch is None else torch_call(operation.pytorch, sources, [out]),
        "ONNX Runtime": None if onnx is None else onnx_call(onnx[0], sources, [out], threads, onnx[1]),
    }
    return Contest(ours, peers)
