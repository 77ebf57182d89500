"""A compiled graph that runs on arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeAlias, overload

from ..abi.hresult import DXGI_ERROR_UNSUPPORTED, DMLError
from ..descs.operator_desc import TensorSlot
from ..dml.compiled_operator import IDMLCompiledOperator
from ..dml.compiler.graph_program import GraphProgram
from ..dml.compiler.plan import Plan, headline
from ..garbage_collector import paused
from ..runner import Runner
from ..shortcuts import input_array
from ..text.plural import counted_words
from .nodes import FromInput, GraphContent
from .to_desc import decoded

if TYPE_CHECKING:
    import numpy.typing as npt

Array: TypeAlias = "npt.NDArray[Any]"


def by_name(inputs: Mapping[str, Any] | None, named: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs of a dict and those passed as keywords. Raises ``TypeError`` if one is in both."""
    twice = [name for name in inputs or () if name in named]
    if twice:
        raise TypeError(f"the input {twice[0]!r} is given twice")
    return {**(inputs or {}), **named}


class CompiledGraph:
    """A graph as one IDMLCompiledOperator, ``operator``.

    ``inputs`` and ``outputs`` are its tensors by name, in order; an input that no node reads is None.
    ``nodes`` maps each node of the compiled graph to its node in the source graph.
    """

    def __init__(self, graph: GraphContent, flags: int = 0, input_count: int = 0) -> None:
        compile_graph = getattr(graph.device, "CompileGraph", None)
        if compile_graph is None:
            level = graph.device.feature_level.name
            raise DMLError(
                DXGI_ERROR_UNSUPPORTED,
                f"Graph.compile: graphs need DML_FEATURE_LEVEL_2_1; the device has {level}",
            )
        with paused():
            desc, self.nodes = decoded(graph, input_count)
        self.graph = graph
        self._compile = partial(compile_graph, desc, flags)
        self.operator: IDMLCompiledOperator = self._compile()
        read = {source.position for index in self.nodes for source in _inputs(graph, index)}
        self.inputs = {
            graph.inputs[index].name if index in graph.inputs else f"input{index}": (
                graph.inputs[index].desc if index in read else None
            )
            for index in range(desc.input_count)
        }
        self.outputs = {name: value.desc for name, value in graph.outputs.items()}

    def __repr__(self) -> str:
        inputs, outputs = (
            ", ".join(f"{name} {'unused' if desc is None else desc}" for name, desc in tensors.items())
            for tensors in (self.inputs, self.outputs)
        )
        return f"<CompiledGraph: {inputs} -> {outputs}; {headline(self.plan)}>"

    def _repr_svg_(self) -> str:
        return self.graph.to_svg()

    @property
    def plan(self) -> Plan:
        """The execution plan: steps, folded nodes, the blocks of the temporary resource."""
        program = self.operator.program
        assert isinstance(program, GraphProgram)
        return program.plan

    @overload
    def run(self, inputs: Sequence[Any], /) -> list[Array]: ...

    @overload
    def run(self, inputs: Mapping[str, Any] | None = None, /, **named: Any) -> dict[str, Array]: ...

    def run(
        self, inputs: Sequence[Any] | Mapping[str, Any] | None = None, /, **named: Any
    ) -> list[Array] | dict[str, Array]:
        """Initialize if necessary and dispatch the graph; inputs by position in a list, or by name in a dict or as
        keywords, and outputs likewise.

        An input that no node reads may be omitted (None by position). Raises ``TypeError`` and ``ValueError`` that name
        the invalid input.
        """
        if named and not isinstance(inputs, Mapping | None):
            raise TypeError("inputs are given either in a list or by name")
        if inputs is None or isinstance(inputs, Mapping):
            arrays = by_name(inputs, named)
            unknown = [name for name in arrays if name not in self.inputs]
            if unknown:
                raise ValueError(f"the graph has no input {unknown[0]!r}; it has {_names(self.inputs)}")
            missing = [name for name, desc in self.inputs.items() if desc and name not in arrays]
            if missing:
                raise ValueError(f"the inputs {_names(missing)} are missing")
            return dict(zip(self.outputs, self._run([arrays.get(name) for name in self.inputs])))
        if not isinstance(inputs, Sequence) or isinstance(inputs, str):
            raise TypeError(f"inputs must be a list or a dict of arrays, not {type(inputs).__name__}")
        if len(inputs) != len(self.inputs):
            raise ValueError(
                f"inputs has {counted_words(len(inputs), 'array')}; the graph has "
                f"{counted_words(len(self.inputs), 'input')}: {_names(self.inputs)}"
            )
        return self._run(inputs)

    def _run(self, values: Sequence[Any]) -> list[Array]:
        slots = [TensorSlot(name, name, desc) for name, desc in self.inputs.items()]
        arrays = [
            None if slot.tensor is None else input_array(slot, value) for slot, value in zip(slots, values)
        ]
        return [array for array in self._runner.run(arrays) if array is not None]

    @cached_property
    def _runner(self) -> Runner:
        return Runner(
            self.operator, [*self.inputs.values()], [*self.outputs.values()], recompile=self._compile
        )


def _inputs(graph: GraphContent, index: int) -> list[FromInput]:
    return [source for source in graph.nodes[index].inputs if isinstance(source, FromInput)]


def _names(names: Any) -> str:
    return ", ".join(map(repr, names)) or "none"
