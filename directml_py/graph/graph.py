"""``Graph``: a graph builder with a method per operator."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any

import numpy as np

from ..abi.arguments import flags as known_flags
from ..abi.arguments import uint, unsigned
from ..api.enums import DML_TENSOR_DATA_TYPE, DML_TENSOR_FLAG_NONE, DML_TENSOR_FLAGS
from ..api.structs import DML_GRAPH_DESC
from ..d3d12 import D3D12CreateDevice
from ..descs.data_types import DataTypeLike, as_array, data_type_for, data_type_number
from ..descs.operator_desc import OperatorDesc
from ..descs.tensor import TensorDesc, shared_tensor
from ..descs.tensor_size import unsigned_numbers
from ..dml import DMLCreateDevice, IDMLDevice
from ..dml.compiled_operator import IDMLOperator
from ..late import loading
from ..text.plural import counted_words
from ..text.similar import did_you_mean, is_name
from ..validation.report import Report
from ..validation.tensor_rules import check_tensor, is_sound
from .compiled import CompiledGraph
from .expression import Expression
from .inference import TensorPolicy, packed
from .nodes import ConstantNode, FromInput, FromNode, Input, Node, OperatorNode, Source
from .operator_functions import INTEGERS, SHORT, method, method_names
from .to_desc import describe

NO_FLAGS = DML_TENSOR_FLAG_NONE
# Public for other modules, not for programs.
OF_THE_PACKAGE = {"add_operator", "output_tensor", "own"}
KNOWN_TYPES = frozenset(map(int, DML_TENSOR_DATA_TYPE))
Outputs = Expression | Sequence[Expression] | Mapping[str, Expression]


if TYPE_CHECKING:
    import numpy.typing as npt

    from .functions import Functions
else:
    Functions = object


class _Made(type):
    """Creates the methods of the operators on first use."""

    def _make(cls, name: str) -> Any:
        if name not in method_names():
            raise AttributeError(
                f"Graph has no operator or attribute {name!r}{did_you_mean(name, method_names())}"
            )
        setattr(Graph, name, method(name))
        return getattr(cls, name)

    if not TYPE_CHECKING:
        # Type checkers take the methods from a stub, and so report unknown names.
        __getattr__ = _make

    def __dir__(cls) -> list[str]:
        return sorted({*super().__dir__(), *method_names()})


class Graph(Functions, metaclass=_Made):
    """A graph of operators on a DirectML device (None makes a device), in the vocabulary of DirectMLX.

    There is a method for every operator. Each adds a node and returns its output, or a list of outputs; the types and
    sizes of output tensors are inferred from the inputs, and ``tensor_policy`` sets their layout. ``inputs`` are the
    graph's inputs by index, ``nodes`` its nodes in topological order.
    """

    def __init__(self, device: IDMLDevice | None = None, tensor_policy: TensorPolicy = packed) -> None:
        if device is None:
            device = DMLCreateDevice(D3D12CreateDevice())
        if not isinstance(device, IDMLDevice):
            raise TypeError(f"device must be an IDMLDevice, not {type(device).__name__}")
        self.device = device
        self.tensor_policy = tensor_policy
        self.inputs: dict[int, Input] = {}
        self._input_names: set[str] = set()
        self.nodes: list[Node] = []
        self._outputs: dict[str, Expression] = {}
        self._prefix = ""
        self._names: set[str] = set()
        self._counts: dict[str, int] = {}

    def _function(self, name: str) -> Any:
        # The class creates the method, which ordinary lookup finds from then on.
        getattr(type(self), name)
        return getattr(self, name)

    if not TYPE_CHECKING:
        __getattr__ = _function

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *method_names()} - OF_THE_PACKAGE)

    def __repr__(self) -> str:
        inputs = ", ".join(f"{graph_input.name} {graph_input.desc}" for graph_input in self.inputs.values())
        outputs = ", ".join(f"{name} {value.desc}" for name, value in self._outputs.items())
        nodes = counted_words(len(self.nodes), "node")
        return f"<Graph: {inputs or 'no inputs'} -> {outputs or 'no outputs yet'}; {nodes}>"

    def _repr_svg_(self) -> str:
        return self.to_svg()

    def input_tensor(
        self,
        index_or_name: int | str,
        data_type: DataTypeLike | TensorDesc,
        sizes: Sequence[int] | None = None,
        strides: Sequence[int] | None = None,
        *,
        flags: int = NO_FLAGS,
        total_size: int | None = None,
        alignment: int = 0,
        name: str | None = None,
    ) -> Expression:
        """A graph input, by its index or by a name (it then gets the next free index).

        ``data_type`` may be a NumPy type, or a TensorDesc that replaces all following arguments. Raises ``DMLError``
        for an invalid tensor, ``ValueError`` for an index or a name that is taken.
        """
        where = "Graph.input_tensor"
        if isinstance(index_or_name, str):
            index, name = max(self.inputs, default=-1) + 1, index_or_name
        else:
            index = uint(index_or_name, f"{where}: index")
            name = f"input{index}" if name is None else name
        # DirectMLX's TensorDesc, which may change, has the value in ``desc``.
        data_type = getattr(data_type, "desc", data_type)
        if isinstance(data_type, TensorDesc):
            desc = data_type
        elif sizes is None:
            raise TypeError(f"{where}: sizes are missing")
        else:
            desc = tensor(where, data_type, sizes, strides, flags, total_size, alignment)
        if index in self.inputs:
            raise ValueError(f"{where}: the graph has an input {index} already, {self.inputs[index].name!r}")
        if name in self._input_names:
            raise ValueError(f"{where}: the graph has an input {name!r} already")
        self._check(desc, where)
        self.inputs[index] = Input(index, checked_name(name), desc)
        self._input_names.add(name)
        return Expression(self, FromInput(index), desc)

    def constant(self, array: Any, *, name: str | None = None) -> Expression:
        """A constant compiled into the graph, packed. Compiling it needs DML_FEATURE_LEVEL_6_2.

        Raises ``TypeError`` for element types and ``DMLError`` for sizes that DirectML does not support.
        """
        converted = as_array(array, "Graph.constant: array")
        data = np.atleast_1d(np.asarray(array if converted is None else converted))
        data_type = data_type_for(data.dtype)
        if data_type is None:
            raise TypeError(f"Graph.constant: DirectML has no data type for {data.dtype} elements")
        content: npt.NDArray[Any] = np.array(data, data.dtype.newbyteorder("="), order="C")
        content.flags.writeable = False
        desc = TensorDesc(DML_TENSOR_DATA_TYPE(data_type), content.shape)
        self._check(desc, "Graph.constant")
        self.nodes.append(ConstantNode(self._name("constant", name), content, desc))
        return Expression(self, FromNode(len(self.nodes) - 1, 0), desc)

    def reinterpret(
        self,
        input: Expression,
        data_type: DataTypeLike | None = None,
        sizes: Sequence[int] | None = None,
        strides: Sequence[int] | None = None,
    ) -> Expression:
        """The same bytes viewed as another tensor. This adds no node.

        Omitted properties are kept, but new sizes without strides are packed. Raises ``DMLError`` if the tensor exceeds
        the bytes.
        """
        where = "Graph.reinterpret"
        old = self.checked(input, f"{where}: input").desc
        if strides is None and sizes is None:
            strides = old.strides
        desc = tensor(
            where,
            old.data_type if data_type is None else data_type,
            old.sizes if sizes is None else sizes,
            strides,
            old.flags,
            old.total_size,
            old.alignment,
        )
        self._check(desc, where)
        return Expression(self, input.source, desc)

    def name_scope(self, name: str) -> AbstractContextManager[None]:
        """Prefixes the names of nodes added in the block with ``name/``."""
        return _NameScope(self, checked_name(name))

    @property
    def outputs(self) -> dict[str, Expression]:
        """The graph's outputs by name, in order. An expression or a list of them may be assigned too."""
        return dict(self._outputs)

    @outputs.setter
    def outputs(self, outputs: Outputs) -> None:
        if isinstance(outputs, Expression):
            outputs = [outputs]
        if not isinstance(outputs, (Mapping, Sequence)) or isinstance(outputs, str):
            raise TypeError(f"outputs must be a list or a dict of expressions, not {type(outputs).__name__}")
        named = (
            dict(outputs)
            if isinstance(outputs, Mapping)
            else {f"output{index}": output for index, output in enumerate(outputs)}
        )
        for name, value in named.items():
            source = self.checked(value, f"outputs[{name!r}]").source
            if isinstance(source, FromInput) or isinstance(self.nodes[source.node], ConstantNode):
                raise ValueError(
                    f"outputs[{name!r}] is {value.name!r}, which no operator computes; put graph.identity() between"
                )
            checked_name(name)
        self._outputs = named

    def desc(self, outputs: Outputs | None = None) -> DML_GRAPH_DESC:
        """The DML_GRAPH_DESC, without nodes that the outputs do not depend on.

        ``outputs`` become the graph's outputs; None keeps the current ones. Raises ``ValueError`` if there are none, or
        if only some outputs of a node are used: DirectML requires every one to be connected.
        """
        if outputs is not None:
            self.outputs = outputs
        return describe(self).desc

    def compile(self, outputs: Outputs | None = None, flags: int = 0) -> CompiledGraph:
        """Compile the graph; ``outputs`` as in ``desc``. Raises ``ValueError`` as ``desc`` does, and ``DMLError`` as
        CompileGraph does."""
        if outputs is not None:
            self.outputs = outputs
        return CompiledGraph(self, flags)

    def to_dot(self) -> str:
        """The graph in Graphviz's DOT language."""
        with loading:
            from .pictures.picture import to_dot
        return to_dot(self)

    def to_svg(self) -> str:
        """A picture of the graph, its fused and folded nodes, and the temporary memory over time."""
        with loading:
            from .pictures.picture import to_svg
        return to_svg(self)

    def checked(self, value: Any, name: str) -> Expression:
        """``value``, which must be an expression of this graph. Raises ``TypeError`` or ``ValueError``."""
        if not isinstance(value, Expression):
            raise TypeError(f"{name} must be an Expression, not {type(value).__name__}")
        if value.graph is not self:
            raise ValueError(f"{name} belongs to another graph")
        return value

    def output_tensor(self, data_type: int, sizes: Sequence[int]) -> TensorDesc:
        """An output tensor in the layout of ``tensor_policy``."""
        strides, total_size, alignment = self.tensor_policy(data_type, NO_FLAGS, sizes)
        return tensor("tensor_policy", data_type, sizes, strides, NO_FLAGS, total_size, alignment)

    def add_operator(
        self, desc: OperatorDesc, sources: tuple[Source | None, ...], name: str | None
    ) -> list[Expression | None]:
        """Add a node for ``desc`` with input values ``sources``; returns its outputs. Raises ``DMLError``."""
        operator: IDMLOperator = self.device.CreateOperator(desc)
        self.nodes.append(
            OperatorNode(self._name(desc.name.lower().removeprefix(SHORT), name), operator, sources)
        )
        index = len(self.nodes) - 1
        return [
            None if slot.tensor is None else Expression(self, FromNode(index, output), slot.tensor)
            for output, slot in enumerate(desc.outputs)
        ]

    def _check(self, desc: TensorDesc, where: str) -> None:
        if is_sound(desc, False, self.device.feature_level):
            return
        report = Report()
        check_tensor(desc, "tensor", False, self.device.feature_level, report)
        report.raise_errors(f"{where}:")

    def _name(self, kind: str, name: str | None) -> str:
        """``name`` prefixed with the scopes; for None, the first free name of the kind."""
        if name is not None:
            full_name = self._prefix + checked_name(name)
        else:
            stem = self._prefix + kind
            count = self._counts.get(stem, 0)
            while (full_name := f"{stem}{count}") in self._names:
                count += 1
            self._counts[stem] = count + 1
        self._names.add(full_name)
        return full_name


class _NameScope(AbstractContextManager[None]):
    """The block of ``Graph.name_scope``; a generator would take longer than the nodes of some blocks."""

    def __init__(self, graph: Graph, name: str) -> None:
        self._graph = graph
        self._name = name

    def __enter__(self) -> None:
        self._before = self._graph._prefix
        self._graph._prefix += f"{self._name}/"

    def __exit__(self, *error: object) -> None:
        self._graph._prefix = self._before


TYPES = (int, DML_TENSOR_DATA_TYPE)
_tensors: dict[Hashable, TensorDesc] = {}
MOST_TENSORS = 4096


def tensor(
    where: str,
    data_type: DataTypeLike,
    sizes: Sequence[int],
    strides: Sequence[int] | None,
    flags: int,
    total_size: int | None,
    alignment: int,
) -> TensorDesc:
    """A TensorDesc from plain numbers. Raises ``TypeError`` and ``ValueError`` that name the argument of ``where``.

    Those of networks repeat: what was made of plain numbers is kept.
    """
    numbers = (data_type, flags, total_size, alignment)
    is_plain = type(data_type) in TYPES and _are_plain(sizes) and (strides is None or _are_plain(strides))
    key = (numbers, *map(type, numbers), sizes, strides) if is_plain else None
    kept = None if key is None else _tensors.get(key)
    if kept is not None:
        return kept
    made = _made_tensor(where, data_type, sizes, strides, flags, total_size, alignment)
    if key is not None:
        if len(_tensors) >= MOST_TENSORS:
            _tensors.clear()
        _tensors[key] = made
    return made


def _are_plain(numbers: object) -> bool:
    """Whether equal ones are the same: a tuple of ``int``, and of no bool."""
    return isinstance(numbers, tuple) and INTEGERS.issuperset(map(type, numbers))


def _made_tensor(
    where: str,
    data_type: DataTypeLike,
    sizes: Sequence[int],
    strides: Sequence[int] | None,
    flags: int,
    total_size: int | None,
    alignment: int,
) -> TensorDesc:
    number = uint(data_type_number(data_type, f"{where}: data_type"), f"{where}: data_type")
    is_known = number in KNOWN_TYPES
    checked_strides = None if strides is None else tuple(unsigned_numbers(strides, f"{where}: strides"))
    checked_sizes = tuple(unsigned_numbers(sizes, f"{where}: sizes"))
    if checked_strides is not None and len(checked_strides) != len(checked_sizes):
        raise ValueError(
            f"{where}: strides has {counted_words(len(checked_strides), 'element')}, "
            f"sizes has {len(checked_sizes)}"
        )
    return shared_tensor(
        DML_TENSOR_DATA_TYPE(number) if is_known else number,
        checked_sizes,
        checked_strides,
        known_flags(flags, DML_TENSOR_FLAGS, f"{where}: flags"),
        -1 if total_size is None else unsigned(total_size, f"{where}: total_size"),
        uint(alignment, f"{where}: alignment"),
    )


def checked_name(name: Any) -> str:
    if not isinstance(name, str):
        raise TypeError(f"name must be a str, not {type(name).__name__}")
    if not is_name(name):
        raise ValueError(f"name must be Unicode text without null characters, not {name!r}")
    return name
