"""Translation of a model's nodes to those of a DirectML graph."""

from __future__ import annotations

import math
from collections import ChainMap
from collections.abc import Callable, Iterable, MutableMapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import onnx

from ..abi.hresult import DMLError
from ..api.enums import DML_FEATURE_LEVEL
from ..d3d12 import D3D12CreateDevice
from ..descs.data_types import data_type_of
from ..dml import DMLCreateDevice
from ..graph import Expression, Graph
from .constants import Constants
from .control_flow import CONTROL_FLOW, initializers
from .errors import OnnxError, Refusal, UnknownValue, ValueNeeded
from .every_operator import OPERATORS
from .folding import folded, is_foldable
from .function_bodies import body_of
from .fusing import Fusions
from .node import OnnxNode
from .protobuf import NodeMessage, constant_of, inferred_outputs, live, tensor_type
from .translators import OUTPUTS, Result, Results
from .values import Array, OnnxValue, Sizes, data_type, tensor_sizes

Scope = MutableMapping[str, OnnxValue]
Inferred = dict[str, tuple[np.dtype[Any], Sizes]]


# What comes of attributes that are missing, or of sizes that no operator has.
MALFORMED = (ArithmeticError, AssertionError, LookupError, MemoryError, TypeError)


@dataclass(frozen=True)
class NodeOutcome:
    """The outcome of a node: names of the graph's nodes, or the reason for a refusal.

    ``level`` is the lowest feature level that accepts a refused node, if any does.
    """

    name: str
    kind: str
    nodes: tuple[int, ...] = ()
    refused: str = ""
    folded: bool = False
    level: str = ""
    # The model inputs whose contents would have to be known.
    needs: tuple[str, ...] = ()


class Translation:
    """A graph under construction. Raises ``OnnxError`` for nodes without a counterpart in DirectML.

    With ``keep_going`` a refused node is recorded in ``steps``, and graph inputs stand for its outputs.
    """

    def __init__(self, graph: Graph, constants: Constants, file: str = "", keep_going: bool = False) -> None:
        self.graph = graph
        self.constants = constants
        self.file = file
        self.keep_going = keep_going
        self.steps: list[NodeOutcome] = []
        self._depth = 0

    def run(
        self,
        nodes: Sequence[Any],
        outputs: Iterable[str],
        scope: Scope,
        opsets: dict[str, int],
        progress: Callable[[Sequence[Any]], Iterable[Any]] | None = None,
    ) -> None:
        """Translate the ``nodes`` that ``outputs`` depend on; ``progress`` yields them one by one."""
        wanted = list(outputs)
        needed = live([NodeMessage(node) for node in nodes], wanted)
        fusions = Fusions(needed, wanted, opsets)
        for node in needed if progress is None else progress(needed):
            self._outer(node, scope, opsets, fusions)

    def _outer(self, node: NodeMessage, scope: Scope, opsets: dict[str, int], fusions: Fusions) -> None:
        if self._depth:
            self.node(node, scope, opsets, fusions)
            return
        first, name = len(self.graph.nodes), node.name
        try:
            self._depth += 1
            with self.graph.name_scope(name):
                self.node(node, scope, opsets, fusions)
        except OnnxError as error:
            if not self.keep_going:
                raise
            above = int(self.graph.device.feature_level)
            level = "" if isinstance(error, ValueNeeded) else lowest_level(node, scope, opsets, above)
            self._placeholders(node, scope, opsets)
            needs = error.inputs if isinstance(error, ValueNeeded) else ()
            self.steps.append(
                NodeOutcome(name, node.op_type, refused=_reason(error), level=level, needs=needs)
            )
        else:
            made = tuple(range(first, len(self.graph.nodes)))
            is_folded = all(scope[output].is_known for output in node.output if output)
            self.steps.append(NodeOutcome(name, node.op_type, made, folded=is_folded))
        finally:
            self._depth -= 1

    def node(
        self, node: NodeMessage, scope: Scope, opsets: dict[str, int], fusions: Fusions | None = None
    ) -> None:
        """Add the outputs of one node to ``scope``."""
        where = f"node {node.name!r} ({node.op_type})"
        try:
            given = _given(node, scope)
            results, inferred = self._results(node, given, scope, opsets, fusions)
            inputs = frozenset().union(*(value.inputs for value in given.values()))
            for name, result in zip(node.output, results):
                if name and result is not None:
                    scope[name] = self._value(name, result, inferred.get(name), inputs)
                elif name:
                    raise Refusal("DirectML's operators do not compute it", f"output {name}")
        except UnknownValue as error:
            source = scope.get(error.needed)
            names = tuple(sorted(source.inputs if source is not None else ()))
            needed = ValueNeeded(error.reason + _hint(error.needed, names), self.file, where, error.attribute)
            needed.inputs = names
            raise needed from None
        except Refusal as error:
            raise OnnxError(error.reason, self.file, where, error.attribute) from None
        except OnnxError:
            raise
        except (DMLError, ValueError) as error:
            reason = "; ".join(map(str, getattr(error, "diagnostics", ()))) or str(error.args[0])
            raise OnnxError(reason, self.file, where) from None
        except MALFORMED as error:
            # ONNX checks the nodes of its own domain alone.
            words = f"{type(error).__name__}: {error}".replace("\n", " ")
            raise OnnxError(
                f"its attributes and inputs do not fit together ({words})", self.file, where
            ) from error

    def _results(
        self,
        node: NodeMessage,
        inputs: dict[str, OnnxValue],
        scope: Scope,
        opsets: dict[str, int],
        fusions: Fusions | None,
    ) -> tuple[Sequence[Result], Inferred]:
        domain = node.domain
        if domain not in opsets:
            raise Refusal(f"the model imports no operator set of the domain {domain!r}")
        if node.op_type == "Constant" and not domain:
            array = constant_of(node)
            if array is not None:
                return [array], {}
        done = None if fusions is None else fusions.done(node, scope)
        if done is not None:
            return [done], {}
        schema = self._schema(node.op_type, domain, opsets[domain])
        try:
            # Subgraphs may hold what is right only where they are run.
            flow = CONTROL_FLOW.get(node.op_type) if not domain else None
            has_lists = any(value.items is not None for value in inputs.values())
            inferred = {} if flow or has_lists else inferred_outputs(schema, node, inputs, opsets)
            problem = ""
        except (onnx.shape_inference.InferenceError, ValueError, RuntimeError) as error:
            # Some calls in ONNX's own functions are rejected by inference but accepted by the evaluator.
            inferred, problem = {}, str(error).strip().splitlines()[0]
        made = OnnxNode(
            node.op_type,
            opsets[domain],
            dict(node.attributes),
            [scope[name] if name else None for name in node.input],
            node.output,
            inferred,
            self.graph,
            self.constants,
        )
        if (domain, node.op_type) in OUTPUTS and inferred.keys() < set(filter(None, node.output)):
            declared = zip(node.output, OUTPUTS[domain, node.op_type](made))
            inferred.update((name, entry) for name, entry in declared if entry and name not in inferred)
        results = None if flow else self._by_host(node, inputs, inferred, opsets)
        if results is not None:
            return results, inferred
        if problem:
            raise Refusal(problem)
        if flow is not None:
            return flow(made, lambda body, values: self._subgraph(body, values, scope, opsets)), {}
        translate = OPERATORS.get((domain, node.op_type))
        if translate is None:
            return self._expanded(schema, node, scope, opsets), inferred
        if fusions is not None:
            made.activation = fusions.activation_after(node)
        offered = made.activation
        found = translate(made)
        if fusions is not None and offered is not None and made.activation is None:
            fusions.take(node)
        return _listed(found), inferred

    def _schema(self, kind: str, domain: str, version: int) -> Any:
        try:
            return schema_of(kind, version, domain)
        except onnx.defs.SchemaError:
            if (domain, kind) in OPERATORS:
                return None
            words = f"of the domain {domain!r} " if domain else ""
            raise Refusal(f"operator set {version} {words}has no such operator") from None

    def _by_host(
        self, node: NodeMessage, inputs: dict[str, OnnxValue], inferred: Inferred, opsets: dict[str, int]
    ) -> list[Array] | None:
        """The outputs, if they follow from values that the host knows."""
        if node.op_type in ("Shape", "Size") and not node.domain:
            shape = inputs[node.input[0]].shape
            get = node.attributes
            part = shape[get.get("start", 0) : get.get("end", len(shape))]
            number = np.array(part if node.op_type == "Shape" else math.prod(shape), np.int64)
            return [number]
        names = [name for name in node.output if name]
        if inferred.keys() >= set(names) and all(0 in inferred[name][1] for name in names):
            return [np.empty(inferred[name][1], inferred[name][0]) for name in node.output]
        if is_foldable(node, inputs, inferred):
            found = folded(node, inputs, opsets)
            if found is not None:
                results = iter(found)
                return [next(results) if name else np.empty(0) for name in node.output]
        return None

    def _subgraph(
        self, body: Any, values: Sequence[OnnxValue], scope: Scope, opsets: dict[str, int]
    ) -> list[OnnxValue]:
        """The outputs of a node's subgraph for values of its inputs."""
        own: Scope = {**initializers(body), **{item.name: value for item, value in zip(body.input, values)}}
        inner = ChainMap(own, scope)
        self.run(body.node, [item.name for item in body.output], inner, opsets)
        return [inner[item.name] for item in body.output]

    def _expanded(self, schema: Any, node: NodeMessage, scope: Scope, opsets: dict[str, int]) -> list[Result]:
        """The outputs of an operator that ONNX defines by others."""
        types = [tensor_type(scope[name]) if name else onnx.TypeProto() for name in node.input]
        body = body_of(schema, node.proto, types, opsets)
        if body is None:
            raise Refusal("no DirectML operators compute it")
        inner: Scope = {formal: scope[name] for formal, name in zip(body.inputs, node.input) if name}
        wanted = [formal for formal, name in zip(body.outputs, node.output) if name]
        self.run(body.nodes, wanted, inner, body.opsets)
        return [inner[formal] if name else None for formal, name in zip(body.outputs, node.output)]

    def _value(
        self, name: str, result: Result, inferred: tuple[np.dtype[Any], Sizes] | None, inputs: frozenset[str]
    ) -> OnnxValue:
        if isinstance(result, np.ndarray):
            return OnnxValue(name, result.dtype, result.shape, result)
        if isinstance(result, OnnxValue) and result.items is not None:
            return result
        if isinstance(result, OnnxValue):
            shape = result.shape if inferred is None else inferred[1]
            array = None if result.array is None else result.array.reshape(shape)
            return OnnxValue(name, result.dtype, shape, array, result.expression, result.inputs)
        assert isinstance(result, Expression)
        if inferred is None:
            inferred = data_type_of(result.desc.data_type).dtype, result.desc.sizes
        dtype, shape = inferred
        wanted = data_type(dtype)
        have, want = data_type_of(result.desc.data_type), data_type_of(wanted)
        if result.desc.element_count != max(1, math.prod(shape)) or have.bits != want.bits:
            raise TypeError(f"output {name} is {result.desc}, not {want.name} {shape}")
        if have != want:
            result = self.graph.reinterpret(result, wanted)
        return OnnxValue(name, dtype, shape, None, result, inputs)

    def _placeholders(self, node: NodeMessage, scope: Scope, opsets: dict[str, int]) -> None:
        try:
            schema = schema_of(node.op_type, opsets.get(node.domain, 1), node.domain)
            inputs = _given(node, scope)
            inferred = inferred_outputs(schema, node, inputs, opsets)
        except Exception:
            return
        for name, (dtype, shape) in inferred.items():
            try:
                kind = data_type(dtype)
                made = self.graph.input_tensor(
                    self.constants.add(name, np.empty(0)), kind, shape or (1,), name=self.constants.name(name)
                )
            except (Refusal, DMLError, ValueError):
                # Sizes that no tensor has, which may be what the node was refused for.
                continue
            scope[name] = OnnxValue(name, dtype, shape, None, made)


@cache
def schema_of(kind: str, version: int, domain: str) -> Any:
    return onnx.defs.get_schema(kind, version, domain)


def lowest_level(node: NodeMessage, scope: Scope, opsets: dict[str, int], above: int) -> str:
    """The lowest feature level above ``above`` whose operators compute a node; empty if none does."""
    for level in sorted(level for level in DML_FEATURE_LEVEL if level > above):
        graph = Graph(DMLCreateDevice(D3D12CreateDevice(), feature_level=level))
        constants = Constants(0)
        own: Scope = {}
        try:
            for name, value in _given(node, scope).items():
                own[name] = OnnxValue(name, value.dtype, value.shape, value.array)
                if value.array is None:
                    index, sizes = constants.add(name, np.empty(0)), tensor_sizes(value.shape)
                    own[name].expression = graph.input_tensor(index, data_type(value.dtype), sizes)
            Translation(graph, constants).node(node, own, opsets)
        except (OnnxError, Refusal, DMLError, ValueError):
            continue
        return level.name
    return ""


def _listed(results: Results) -> Sequence[Result]:
    if isinstance(results, (Expression, OnnxValue, np.ndarray)) or results is None:
        return [results]
    return results


def _given(node: NodeMessage, scope: Scope) -> dict[str, OnnxValue]:
    """The values that a node and its subgraphs read."""
    missing = [name for name in node.present_inputs if name not in scope]
    if missing:
        raise Refusal("no node computes it", f"input {missing[0]}")
    given = {name: scope[name] for name in node.present_inputs}
    if node.captured:
        given.update((name, scope[name]) for name in node.captured if name in scope)
    return given


def _hint(needed: str, inputs: Sequence[str]) -> str:
    """What makes the value ``needed``, which follows from ``inputs`` of the model, a constant."""
    if not inputs:
        return ""
    hint = f"; pass load the contents of {', '.join(map(repr, inputs))}"
    if list(inputs) != [needed]:
        hint += f", or cut the model at {needed!r} (onnx.utils.extract_model) and run two graphs"
    return hint


def _reason(error: OnnxError) -> str:
    return ": ".join(filter(None, (error.attribute, error.reason)))
