"""Translation of a model's nodes to those of a DirectML graph."""

from __future__ import annotations

import math
from collections import ChainMap
from collections.abc import Callable, Iterable, MutableMapping, Sequence
from itertools import accumulate, zip_longest
from typing import Any, NamedTuple

import numpy as np
import onnx

from ..abi.hresult import DMLError
from ..api.enums import DML_FEATURE_LEVEL
from ..d3d12 import D3D12CreateDevice
from ..descs.data_types import data_type_of
from ..dml import DMLCreateDevice
from ..graph import Expression, Graph
from .constants import Constants, constant_of
from .control_flow import CONTROL_FLOW, initializers
from .definitions import check, output_types, schema_of
from .empty_tensors import without_elements
from .errors import OnnxError, Refusal, UnknownValue, ValueNeeded, sentence
from .every_operator import OPERATORS
from .folding import NOT_GROWING, folded, prepared, view_of, work_of
from .function_bodies import Functions, body_of
from .fusing import Fusions
from .microsoft import successor
from .node import OnnxNode
from .protobuf import NodeMessage, live
from .semantics import ONNX
from .shape_inference import inferred_outputs, type_of
from .translators import OUTPUTS, Described, Result, Results
from .values import Array, OnnxValue, Sizes, data_type, tensor_sizes

Scope = MutableMapping[str, OnnxValue]
Inferred = dict[str, Described]
# Operators of optionals, which are passed on as the tensors that they are: ONNX would infer nothing of those.
PASSING = {"Optional", "OptionalGetElement", "OptionalHasElement"}
# The steps of expanding an operator into its definition.
EXPANSION = 8


class NodeOutcome(NamedTuple):
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


class Subgraph(NamedTuple):
    """A node's subgraph, read once: the nodes that its outputs depend on, and its constants."""

    proto: Any
    inputs: list[str]
    outputs: list[str]
    nodes: list[NodeMessage]
    constants: dict[str, OnnxValue]


class Translation:
    """A graph under construction. Raises ``OnnxError`` for nodes without a counterpart in DirectML.

    With ``keep_going`` a refused node is recorded in ``steps``, and graph inputs stand for its outputs.
    """

    def __init__(
        self,
        graph: Graph,
        constants: Constants,
        file: str = "",
        keep_going: bool = False,
        functions: Functions | None = None,
        semantics: str = ONNX,
    ) -> None:
        self.graph = graph
        self.constants = constants
        self.file = file
        self.keep_going = keep_going
        self.functions = Functions() if functions is None else functions
        self.semantics = semantics
        self.steps: list[NodeOutcome] = []
        self._depth = 0
        # By the identity of their messages, which they keep alive.
        self._subgraphs: dict[int, Subgraph] = {}

    def run(
        self,
        nodes: Iterable[Any],
        outputs: Iterable[str],
        scope: Scope,
        opsets: dict[str, int],
        progress: Callable[[Sequence[Any]], Iterable[Any]] | None = None,
    ) -> None:
        """Translate the ``nodes`` that ``outputs`` depend on; ``progress`` yields them one by one."""
        wanted = list(outputs)
        # A name in a subgraph may be that of a value outside.
        taken = scope.maps[0] if isinstance(scope, ChainMap) else scope
        needed = live(self.functions.inlined(nodes, opsets), wanted, taken, self.file)
        self._run(needed, wanted, scope, progress)

    def _run(
        self,
        nodes: Sequence[NodeMessage],
        wanted: Sequence[str],
        scope: Scope,
        progress: Callable[[Sequence[Any]], Iterable[Any]] | None = None,
    ) -> None:
        fusions = Fusions(nodes, wanted)
        self._take_steps(nodes)
        for node in nodes if progress is None else progress(nodes):
            self._outer(node, scope, fusions)

    def _take_steps(self, nodes: Sequence[NodeMessage]) -> None:
        """Account for the nodes.

        Raises ``OnnxError`` that names the one which is too much, ``Refusal`` for those of a subgraph or a function.
        """
        left = self.constants.budget.steps
        try:
            self.constants.budget.take_steps(sum(node.steps for node in nodes))
        except Refusal as error:
            if self._depth:
                raise
            ends = accumulate(node.steps for node in nodes)
            last = next(node for node, end in zip(nodes, ends) if end > left)
            raise OnnxError(error.reason, self.file, last.where) from None

    def _outer(self, node: NodeMessage, scope: Scope, fusions: Fusions) -> None:
        if self._depth:
            self.node(node, scope, fusions)
            return
        first, name = len(self.graph.nodes), node.name
        try:
            self._depth += 1
            with self.graph.name_scope(name):
                self.node(node, scope, fusions)
        except OnnxError as error:
            if not self.keep_going:
                raise
            above = int(self.graph.device.feature_level)
            level = ""
            if not isinstance(error, ValueNeeded) and not self.constants.budget.is_exceeded:
                level = lowest_level(node, scope, above, self.constants)
            self._placeholders(node, scope)
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

    def node(self, node: NodeMessage, scope: Scope, fusions: Fusions | None = None) -> None:
        """Add the outputs of one node to ``scope``. Raises ``OnnxError``."""
        node = successor(node)
        try:
            self._add(node, scope, fusions)
        except OnnxError:
            raise
        except UnknownValue as error:
            source = scope.get(error.needed)
            names = tuple(sorted(source.inputs if source is not None else ()))
            reason = error.reason + _hint(error.needed, names)
            needed = ValueNeeded(reason, self.file, node.where, error.attribute)
            needed.inputs = names
            raise needed from None
        except Exception as error:
            raise sentence(error, self.file, node.where) from error

    def _add(self, node: NodeMessage, scope: Scope, fusions: Fusions | None) -> None:
        values = _read_values(node, scope)
        results, described = self._results(node, values, scope, fusions)
        inputs = frozenset().union(*(value.inputs for value in values.values()))
        for name, result in zip_longest(node.output, results[: len(node.output)]):
            if name and result is not None:
                scope[name] = self._value(name, result, described.get(name), inputs)
            elif name:
                raise Refusal("DirectML's operators do not compute it", f"output {name}")

    def _results(
        self, node: NodeMessage, inputs: dict[str, OnnxValue], scope: Scope, fusions: Fusions | None
    ) -> tuple[Sequence[Result], Inferred]:
        """The outputs of a node, and what is known of them besides."""
        if node.domain not in node.opsets:
            raise Refusal(f"the model imports no operator set of the domain {node.domain!r}")
        done = None if fusions is None else fusions.done(node, scope)
        if done is not None:
            return [done], {}
        schema = schema_of(node.op_type, node.version, node.domain)
        if node.op_type == "Constant" and not node.domain:
            check(schema, node, inputs)
            array = constant_of(node, self.constants)
            if array is not None:
                return [array], {}
        # Subgraphs may hold what is right only where they are run.
        flow = CONTROL_FLOW.get(node.op_type) if not node.domain else None
        has_tensors = node.op_type not in PASSING and all(
            value.items is None and not value.is_nothing for value in inputs.values()
        )
        described: Inferred = {}
        problem = ""
        if flow:
            check(schema, node, inputs)
        elif has_tensors:
            described, problem = _inferred(schema, node, inputs)
        made = OnnxNode(
            node.op_type,
            node.version,
            dict(node.attributes),
            [scope[name] if name else None for name in node.input],
            node.output,
            {},
            self.graph,
            self.constants,
        )
        made.semantics = self.semantics
        _complete(described, made, schema, node, inputs)
        empty = None if flow else without_elements(made, node.domain)
        if empty is not None:
            return _listed(empty), described
        results = None if flow else self._by_host(node, inputs, made.inferred)
        if results is not None:
            return results, described
        if problem and not all(name in made.inferred for name in node.output if name):
            raise Refusal(problem)
        if flow is not None:
            return flow(made, lambda body, values: self._subgraph(body, values, scope, node.opsets)), {}
        translate = OPERATORS.get((node.domain, node.op_type))
        if translate is None:
            return self._expanded(schema, node, scope), described
        if fusions is not None:
            made.activation = fusions.activation_after(node)
        offered = made.activation
        before = len(self.graph.nodes)
        found = translate(made)
        self.constants.budget.take_steps(max(0, len(self.graph.nodes) - before - 1))
        if fusions is not None and offered is not None and made.activation is None:
            fusions.take(node)
        return _listed(found), described

    def _by_host(
        self,
        node: NodeMessage,
        inputs: dict[str, OnnxValue],
        inferred: dict[str, tuple[np.dtype[Any], Sizes]],
    ) -> list[Array] | None:
        """The outputs, if they follow from values that the host knows."""
        if node.op_type in ("Shape", "Size") and not node.domain:
            shape = inputs[node.input[0]].shape
            get = node.attributes
            part = shape[get.get("start", 0) : get.get("end", len(shape))]
            number = np.array(part if node.op_type == "Shape" else math.prod(shape), np.int64)
            return [number]
        names = [name for name in node.output if name]
        values = inputs if node.domain else prepared(node, inputs)
        view = view_of(node, values, inferred)
        if view is not None:
            return [view]
        work, budget = work_of(node, values, inferred), self.constants.budget
        if work is None or (node.op_type in NOT_GROWING and not budget.has(work.bytes)):
            return None
        budget.take_bytes(work.bytes)
        budget.take_steps(work.steps)
        found = folded(node, values)
        results = None if found is None else dict(zip(names, found))
        # Where the evaluator's sizes are not those of the operator, it is left to DirectML's.
        if results is None or any(
            results[name].shape != shape for name, (_, shape) in inferred.items() if name in results
        ):
            return None
        return [results.get(name, np.empty(0)) for name in node.output]

    def _subgraph(
        self, body: Any, values: Sequence[OnnxValue], scope: Scope, opsets: dict[str, int]
    ) -> list[OnnxValue]:
        """The outputs of a node's subgraph for values of its inputs."""
        known = self._subgraphs.get(id(body))
        if known is None:
            constants = initializers(body, self.constants)
            inputs, wanted = ([item.name for item in items] for items in (body.input, body.output))
            # A name in a subgraph may be that of a value outside.
            taken = {**constants, **dict(zip(inputs, values))}
            nodes = live(self.functions.inlined(body.node, opsets), wanted, taken, self.file)
            known = Subgraph(body, inputs, wanted, nodes, constants)
            self._subgraphs[id(body)] = known
        inner = ChainMap({**known.constants, **dict(zip(known.inputs, values))}, scope)
        self._run(known.nodes, known.outputs, inner)
        return [inner[name] for name in known.outputs]

    def _expanded(self, schema: Any, node: NodeMessage, scope: Scope) -> list[Result]:
        """The outputs of an operator that ONNX defines by others."""
        types = [type_of(scope[name]) if name else onnx.TypeProto() for name in node.input]
        # Reading the definition takes longer than most nodes.
        self.constants.budget.take_steps(EXPANSION)
        body = body_of(schema, node.proto, types, node.opsets)
        if body is None:
            raise Refusal("no DirectML operators compute it")
        inner: Scope = {formal: scope[name] for formal, name in zip(body.inputs, node.input) if name}
        wanted = [formal for formal, name in zip(body.outputs, node.output) if name]
        self.run(body.nodes, wanted, inner, body.opsets)
        return [inner[formal] if name else None for formal, name in zip(body.outputs, node.output)]

    def _value(
        self, name: str, result: Result, described: Described | None, inputs: frozenset[str]
    ) -> OnnxValue:
        """A result as a value of the type and the sizes that its operator says that it has."""
        dtype, shape = (None, None) if described is None else described
        if isinstance(result, np.ndarray):
            if shape not in (None, result.shape):
                raise TypeError(f"output {name} has sizes {list(result.shape)}, not {shape}")
            array = result if dtype is None else result.astype(dtype, copy=False)
            return OnnxValue(name, array.dtype, array.shape, array)
        if isinstance(result, OnnxValue):
            if result.items is not None or result.is_nothing:
                return result
            shape = result.shape if shape is None else shape
            if dtype not in (None, result.dtype) or result.size != math.prod(shape):
                found = f"{result.dtype} {list(result.shape)}"
                text = f"is {found}; by the attributes and inputs it is {dtype} {list(shape)}"
                raise Refusal(text, f"output {name}")
            content = None if result.array is None else result.array.reshape(shape)
            return OnnxValue(name, result.dtype, shape, content, result.expression, result.inputs)
        assert isinstance(result, Expression)
        if dtype is None or shape is None:
            text = "its type and sizes do not follow from the attributes and the inputs"
            raise Refusal(text, f"output {name}")
        wanted = data_type(dtype)
        have, want = data_type_of(result.desc.data_type), data_type_of(wanted)
        if result.desc.element_count != max(1, math.prod(shape)) or have.bits != want.bits:
            text = f"is {result.desc}; by the attributes and inputs it is {want.name} {list(shape)}"
            raise Refusal(text, f"output {name}")
        if have != want:
            result = self.graph.reinterpret(result, wanted)
        return OnnxValue(name, dtype, shape, None, result, inputs)

    def _placeholders(self, node: NodeMessage, scope: Scope) -> None:
        try:
            schema = schema_of(node.op_type, node.version, node.domain)
            described = inferred_outputs(schema, node, _read_values(node, scope))
        except Exception:
            return
        for name, (dtype, shape) in described.items():
            if shape is None:
                continue
            try:
                kind = data_type(dtype)
                made = self.graph.input_tensor(
                    self.constants.add(name, np.empty(0)), kind, shape or (1,), name=self.constants.name(name)
                )
            except (Refusal, DMLError, ValueError):
                # Sizes that no tensor has, which may be what the node was refused for.
                continue
            scope[name] = OnnxValue(name, dtype, shape, None, made)


def _inferred(schema: Any, node: NodeMessage, inputs: dict[str, OnnxValue]) -> tuple[Inferred, str]:
    """What ONNX infers of the outputs, and why it cannot: the evaluator accepts some calls that inference rejects."""
    try:
        return inferred_outputs(schema, node, inputs), ""
    except (
        onnx.shape_inference.InferenceError,
        onnx.checker.ValidationError,
        ValueError,
        RuntimeError,
    ) as error:
        return {}, str(error).strip().splitlines()[0]


def _complete(
    described: Inferred, made: OnnxNode, schema: Any, node: NodeMessage, inputs: dict[str, OnnxValue]
) -> None:
    """Adds what the operator's row in OUTPUTS and the type variables of its schema say of the outputs."""
    made.inferred = {name: (dtype, shape) for name, (dtype, shape) in described.items() if shape is not None}
    declare = OUTPUTS.get((node.domain, node.op_type))
    if declare is not None:
        rows = {name: entry for name, entry in zip(node.output, declare(made)) if name and entry is not None}
        described.update(rows)
        made.inferred.update(rows)
    if schema is not None and len(described) < len(node.output):
        for name, dtype in zip(node.output, output_types(schema, node, inputs)):
            if name and dtype is not None:
                described.setdefault(name, (dtype, None))


def lowest_level(node: NodeMessage, scope: Scope, above: int, known: Constants) -> str:
    """The lowest feature level above ``above`` whose operators compute a node; empty if none does."""
    for level in sorted(level for level in DML_FEATURE_LEVEL if level > above):
        graph = Graph(DMLCreateDevice(D3D12CreateDevice(), feature_level=level))
        constants = Constants(0, known.tensors, known.budget)
        inputs: Scope = {}
        try:
            for name, value in _read_values(node, scope).items():
                inputs[name] = OnnxValue(name, value.dtype, value.shape, value.array)
                if value.array is None:
                    index, sizes = constants.add(name, np.empty(0)), tensor_sizes(value.shape)
                    inputs[name].expression = graph.input_tensor(index, data_type(value.dtype), sizes)
            Translation(graph, constants).node(node, inputs)
        except (OnnxError, Refusal, DMLError, ValueError):
            continue
        return level.name
    return ""


def _listed(results: Results) -> Sequence[Result]:
    if isinstance(results, (Expression, OnnxValue, np.ndarray)) or results is None:
        return [results]
    return results


def _read_values(node: NodeMessage, scope: Scope) -> dict[str, OnnxValue]:
    """The values that a node and its subgraphs read."""
    missing = [name for name in node.present_inputs if name not in scope]
    if missing:
        raise Refusal("no node computes it", f"input {missing[0]}")
    values = {name: scope[name] for name in node.present_inputs}
    if node.captured:
        values.update((name, scope[name]) for name in node.captured if name in scope)
    return values


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
