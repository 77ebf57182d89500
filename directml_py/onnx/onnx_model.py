"""``Model``: an ONNX model as a DirectML graph that runs on arrays."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, overload

import numpy as np

from ..abi.hresult import DMLError
from ..abi.locks import renew_after_fork
from ..d3d12 import D3D12CreateDevice
from ..descs.data_types import data_type_of
from ..dml import DMLCreateDevice, IDMLDevice
from ..garbage_collector import paused
from ..graph import CompiledGraph, Expression, Graph
from ..graph.compiled import by_name
from ..graph.nodes import FromInput, FromNode
from ..graph.to_desc import live_nodes
from ..late import loading
from ..runner import Runner
from ..text.plural import counted_words
from .budget import Budget, Limits
from .constants import Constants
from .errors import OnnxError, Refusal, ValueNeeded, one_sentence
from .model_file import Bindings, Declared, ModelFile, bound_sizes, item_name, tensors_for
from .semantics import ONNX, SEMANTICS
from .translation import NodeOutcome, Translation
from .values import Array, OnnxValue, data_type, in_memory, nothing, sequence, tensor_sizes

# Graph outputs that nothing requests: DirectML requires every output of a node to be connected.
UNUSED = "unused output "
Progress = Callable[[Sequence[Any]], Any]


class Model:
    """An ONNX model as a DirectML graph, ``graph``; ``load`` creates one.

    ``inputs`` and ``outputs`` are the model's values by name, ``steps`` the outcomes of its nodes; ``constants`` are
    the arrays of the graph inputs that follow the model's own, which are OWNED_BY_DML.
    """

    def __init__(
        self,
        file: str,
        graph: Graph,
        inputs: dict[str, OnnxValue],
        outputs: dict[str, OnnxValue],
        constants: Constants,
        steps: list[NodeOutcome],
    ) -> None:
        self.file = file
        self.graph = graph
        self.inputs = inputs
        self.outputs = outputs
        self.steps = steps
        self._constants = constants
        self._lock = threading.RLock()
        renew_after_fork(self, "_lock")

    def __repr__(self) -> str:
        inputs, outputs = (
            ", ".join(f"{name} {_shown(value)}" for name, value in values.items())
            for values in (self.inputs, self.outputs)
        )
        return f"<Model: {inputs or 'no inputs'} -> {outputs}; {len(self.steps)} nodes became {len(self.graph.nodes)}>"

    def _repr_svg_(self) -> str:
        return self.graph.to_svg()

    @property
    def constants(self) -> list[Array]:
        return self._constants.arrays

    @cached_property
    def compiled(self) -> CompiledGraph:
        """The compiled graph. Raises ``OnnxError`` if the device compiles no graphs, or not this one."""
        try:
            return self.graph.compile()
        except DMLError as error:
            raise OnnxError("; ".join(map(str, error.diagnostics)) or str(error.args[0]), self.file) from None

    @cached_property
    def _runner(self) -> Runner:
        compiled = self.compiled
        inputs, outputs = [*compiled.inputs.values()], [*compiled.outputs.values()]
        constant = range(self._constants.first, len(inputs))
        return Runner(compiled.operator, inputs, outputs, constant, self._constants.uploading)

    @overload
    def run(self, inputs: Sequence[Any], /) -> list[Any]: ...

    @overload
    def run(self, inputs: Mapping[str, Any] | None = None, /, **named: Any) -> dict[str, Any]: ...

    def run(
        self, inputs: Sequence[Any] | Mapping[str, Any] | None = None, /, **named: Any
    ) -> list[Any] | dict[str, Any]:
        """The outputs by name, a sequence as a list. Inputs are passed by keyword, or in a dict if their names are not
        identifiers; or in a list by position, and then outputs are in a list too.

        Several threads may run one model; their runs take turns. On a debug layer, in a capture, and on devices with a
        profile the graph is initialized, bound and dispatched step by step, so that these see what a program does;
        otherwise its program runs directly on arrays, with the same result. Raises ``TypeError`` and ``ValueError``
        that name a missing or unsuitable input.
        """
        if inputs is not None and not isinstance(inputs, Mapping):
            return [*self.run(self._by_position(inputs), **named).values()]
        arguments = by_name(inputs, named)
        unknown = [name for name in arguments if name not in self.inputs]
        if unknown:
            names = ", ".join(map(repr, self.inputs)) or "none"
            raise ValueError(f"the model has no input {unknown[0]!r}; it has {names}")
        arrays: dict[str, Array] = {}
        for name, value in self.inputs.items():
            arrays |= _arrays(name, value, arguments.get(name))
        results = self._results(arrays) if self.graph.outputs else {}
        return {name: _result(name, value, results) for name, value in self.outputs.items()}

    def _by_position(self, inputs: Any) -> dict[str, Any]:
        if not isinstance(inputs, Sequence) or isinstance(inputs, str):
            raise TypeError(f"inputs must be a list or a dict of arrays, not {type(inputs).__name__}")
        if len(inputs) != len(self.inputs):
            names = ", ".join(map(repr, self.inputs)) or "none"
            raise ValueError(
                f"inputs has {counted_words(len(inputs), 'array')}; the model has "
                f"{counted_words(len(self.inputs), 'input')}: {names}"
            )
        return dict(zip(self.inputs, inputs))

    def _results(self, arrays: Mapping[str, Array]) -> dict[str, Array]:
        with self._lock:
            results = self._runner.run([arrays.get(name) for name in self.compiled.inputs])
        return {name: array for name, array in zip(self.compiled.outputs, results) if array is not None}

    def save(self, path: str | Path) -> list[Path]:
        """Write the graph as a serialized graph that DxDispatch runs, and its constants to files beside it.

        Outputs that the host knows are not included. Returns the paths written. Raises ``OSError``.
        """
        with loading:
            from ..dxdispatch import save_graph
        inputs: list[bytes | None] = [None] * self._constants.first
        for index, array in enumerate(self.constants, len(inputs)):
            tensor = self.graph.inputs[index].desc
            memory = np.zeros(tensor.total_size, np.uint8)
            tensor.store(memory, array)
            inputs.append(memory.tobytes())
        return save_graph(path, self.compiled, inputs)

    def save_cpp(self, path: str | Path) -> list[Path]:
        """Write a C++ program that builds and runs the graph, and its constants to a file beside it.

        The program takes a file for each input and each output. Outputs that the host knows are not in it. Returns the
        paths written. Raises ``ValueError`` if all are known, ``OSError``.
        """
        with loading:
            from ..cpp.graph_source import save_program
        constants = dict(enumerate(self.constants, self._constants.first))
        wanted = {name for name, value in _tensors(self.outputs) if value.array is None}
        return save_program(path, self.compiled, constants, wanted)


def _shown(value: OnnxValue) -> str:
    if value.items is not None:
        return f"[{', '.join(map(_shown, value.items))}]"
    return "None" if value.is_nothing else f"{value.dtype.name}{list(value.shape)}"


def _arrays(name: str, value: OnnxValue, argument: Any) -> dict[str, Array]:
    """The arrays for the tensors of an input, by the names of these. Raises ``TypeError``, ``ValueError``."""
    if value.is_nothing:
        if argument is not None:
            raise ValueError(f"the input {name!r} was loaded as None; it must be None")
        return {}
    if value.items is None:
        return {name: _checked(value, argument)}
    if not isinstance(argument, (list, tuple)) or len(argument) != len(value.items):
        raise ValueError(f"the input {name!r} must be a list of {len(value.items)} arrays")
    return {item.name: _checked(item, array) for item, array in zip(value.items, argument)}


def _checked(value: OnnxValue, argument: Any) -> Array:
    if argument is None:
        raise ValueError(f"the input {value.name!r} is missing")
    array = np.asarray(argument)
    if array.dtype != value.dtype:
        raise TypeError(
            f"the input {value.name!r} has {array.dtype.name} elements; it must have {value.dtype.name}"
        )
    if array.shape != value.shape:
        raise ValueError(
            f"the input {value.name!r} has sizes {list(array.shape)}; it must have {list(value.shape)}"
        )
    return in_memory(array).reshape(tensor_sizes(value.shape))


def _result(name: str, value: OnnxValue, results: Mapping[str, Array]) -> Any:
    """An array, or for a sequence a list of arrays."""
    if value.items is not None:
        return [_result(item_name(name, index), item, results) for index, item in enumerate(value.items)]
    if value.array is not None:
        # It may be the memory of a constant.
        return value.array.copy()
    shaped = results[name].reshape(value.shape)
    return shaped.view(np.bool_) if value.dtype == np.bool_ else shaped.astype(value.dtype, copy=False)


def _tensors(outputs: Mapping[str, OnnxValue]) -> Iterator[tuple[str, OnnxValue]]:
    for name, value in outputs.items():
        if value.items is None:
            yield name, value
        else:
            yield from ((item_name(name, index), item) for index, item in enumerate(value.items))


def load(
    source: Any,
    feature_level: int | None = None,
    inputs: Bindings | None = None,
    *,
    device: IDMLDevice | None = None,
    semantics: str = ONNX,
    external_data: str | Path | None = None,
    limits: Limits | None = None,
) -> Model:
    """The ONNX model in ``source`` (a path, bytes, a ``ModelProto``) as a DirectML graph.

    ``inputs`` binds what the model leaves open: the name of an input to its sizes, or to an array, which becomes
    constant, that of a sequence to a list of these, that of an optional input to None if it has no element; the name of
    a symbolic dimension to a number. The graph is for ``device``, or for a new one with
    ``feature_level`` (None: the highest). ``semantics`` says whose results are wanted where they differ, ONNX's
    ("onnx") or those of ONNX Runtime's DirectML provider ("directml"); ``semantics.DIFFERENCES`` lists where. Files of
    external data are looked up in the folder ``external_data``, if it is given, then beside the model's file; none is
    read that lies outside these folders. ``limits`` is what may be computed (None: ``Limits()``). Raises ``OnnxError``
    naming the file, the node and the attribute for a model that cannot become a graph; ``OSError`` if a file cannot be
    read; ``ValueError`` for other semantics.
    """
    if semantics not in SEMANTICS:
        raise ValueError(f"semantics is {semantics!r}; it must be one of {', '.join(map(repr, SEMANTICS))}")
    created = device_of(feature_level, device)
    with paused():
        model = built(ModelFile(source, external_data, limits), created, inputs or {}, semantics=semantics)
    if isinstance(source, (str, Path)):
        model._constants.again = lambda: (
            load(
                source,
                inputs=inputs,
                device=created,
                semantics=semantics,
                external_data=external_data,
                limits=limits,
            ).constants
        )
    return model


def device_of(feature_level: int | None, device: IDMLDevice | None = None) -> IDMLDevice:
    if device is not None:
        return device
    if feature_level is None:
        return DMLCreateDevice(D3D12CreateDevice())
    return DMLCreateDevice(D3D12CreateDevice(), feature_level=feature_level)


def built(
    model: ModelFile,
    device: IDMLDevice,
    bindings: Bindings,
    keep_going: bool = False,
    progress: Progress | None = None,
    semantics: str = ONNX,
) -> Model:
    """``model`` as a graph; with ``keep_going`` refused nodes are recorded and skipped."""
    graph, declared, budget = Graph(device), model.inputs(), Budget(model.limits)
    _check_names(model, declared, bindings)
    scope: dict[str, OnnxValue] = {
        name: OnnxValue(name, array.dtype, array.shape, array)
        for name, array in model.initializers(budget).items()
    }
    parts, bindings = tensors_for(declared, bindings, model.file)
    arrays = {name: array for name, array in bindings.items() if isinstance(array, np.ndarray)}
    tensors = [item for model_inputs in parts.values() for item in model_inputs]
    open_inputs = [item for item in tensors if item.name not in arrays]
    constants = Constants(len(open_inputs), model.tensors, budget)
    model_inputs: dict[str, OnnxValue] = {}
    for index, item in enumerate(open_inputs):
        model_inputs[item.name] = _input(
            graph, index, item, bound_sizes(item, bindings, model.file), model.file
        )
        constants.reserve(item.name)
    for item in tensors:
        if item.name in arrays:
            bound_sizes(item, bindings, model.file)
            array = arrays[item.name].astype(item.dtype, copy=False)
            scope[item.name] = OnnxValue(item.name, item.dtype, array.shape, array)
    scope.update(model_inputs)
    for item in declared:
        if not item.is_tensor:
            _compose(item, parts[item.name], scope, model_inputs)
    model_inputs = {item.name: model_inputs[item.name] for item in declared if item.name in model_inputs}
    translation = Translation(graph, constants, model.file, keep_going, model.functions, semantics)
    names = [item.name for item in model.graph.output]
    with one_sentence(model.file, ""):
        translation.run(model.graph.node, names, scope, model.opsets, progress)
    constants.made.clear()
    outputs = {name: scope[name] for name in names if name in scope}
    missing = [name for name in names if name not in scope]
    if missing and not keep_going:
        raise OnnxError("no node computes it", model.file, f"output {missing[0]!r}")
    with one_sentence(model.file, "the model's outputs"):
        _connect(graph, outputs)
    return Model(model.file, graph, model_inputs, outputs, constants, translation.steps)


def built_for(
    model: ModelFile, device: IDMLDevice, arrays: Mapping[str, Any], semantics: str = ONNX
) -> tuple[Model, dict[str, Any]]:
    """``model`` for inputs like ``arrays``, and those of them whose contents determined it, which are constants."""
    fixed: dict[str, Any] = {}
    while True:
        bindings = {name: fixed.get(name, _sizes_of(array)) for name, array in arrays.items()}
        try:
            return built(model, device, bindings, semantics=semantics), fixed
        except ValueNeeded as error:
            more = {name: arrays[name] for name in error.inputs if name in arrays and name not in fixed}
            if not more:
                raise
            fixed |= more


def _sizes_of(arrays: Any) -> Any:
    """What ``load`` takes for an input of these arrays."""
    return (
        list(map(_sizes_of, arrays)) if isinstance(arrays, list) else None if arrays is None else arrays.shape
    )


def _compose(
    item: Declared,
    tensors: Sequence[Declared],
    scope: dict[str, OnnxValue],
    model_inputs: dict[str, OnnxValue],
) -> None:
    """Adds an input that is no tensor to ``scope``, and to ``model_inputs`` unless it consists of constants."""
    if item.is_sequence and (tensors or not item.is_optional):
        scope[item.name] = sequence(scope[tensor.name] for tensor in tensors)
    elif not tensors:
        scope[item.name] = nothing()
    if all(tensor.name in model_inputs for tensor in tensors):
        model_inputs[item.name] = scope[item.name]


def _check_names(model: ModelFile, declared: Sequence[Declared], bindings: Bindings) -> None:
    names = {item.name for item in declared}
    names |= {size for item in declared for size in item.sizes or () if isinstance(size, str)}
    unknown = [name for name in bindings if name not in names]
    if unknown:
        known = ", ".join(map(repr, sorted(names))) or "none"
        raise OnnxError(
            f"inputs has {unknown[0]!r}, which the model does not have; it has {known}", model.file
        )


def _input(graph: Graph, index: int, item: Declared, shape: tuple[int, ...], file: str) -> OnnxValue:
    where = f"input {item.name!r}"
    if 0 in shape:
        return OnnxValue(item.name, item.dtype, shape, np.empty(shape, item.dtype))
    try:
        expression = graph.input_tensor(index, data_type(item.dtype), tensor_sizes(shape), name=item.name)
    except Refusal as error:
        raise OnnxError(error.reason, file, where) from None
    except DMLError as error:
        raise OnnxError("; ".join(map(str, error.diagnostics)), file, where) from None
    return OnnxValue(item.name, item.dtype, shape, None, expression, frozenset((item.source,)))


def _connect(graph: Graph, outputs: Mapping[str, OnnxValue]) -> None:
    """Create the graph's outputs, including those of nodes that nothing reads."""
    connected: dict[str, Expression] = {}
    for name, value in _tensors(outputs):
        if value.array is None and value.expression is not None:
            expression = value.expression
            if isinstance(expression.source, FromInput):
                kind, sizes = expression.desc.data_type, expression.desc.sizes
                expression = graph.reinterpret(graph.identity(_movable(graph, expression)), kind, sizes=sizes)
            connected[name] = expression
    graph.outputs = connected
    live = live_nodes(graph) if connected else []
    used = {source for index in live for source in graph.nodes[index].inputs}
    used |= {value.source for value in connected.values()}
    for index in live:
        for position, tensor in enumerate(graph.nodes[index].outputs):
            source = FromNode(index, position)
            if tensor is not None and source not in used:
                connected[f"{UNUSED}{position} of {graph.nodes[index].name}"] = Expression(
                    graph, source, tensor
                )
    graph.outputs = connected


def _movable(graph: Graph, x: Expression) -> Expression:
    """``x`` as elements that IDENTITY copies: doubles as integers, integers of 4 bits as pairs."""
    if data_type_of(x.desc.data_type).bits == 4:
        return graph.reinterpret(x, np.uint8, sizes=((x.desc.element_count + 1) // 2,))
    return graph.reinterpret(x, np.uint64) if x.desc.dtype == np.float64 else x
