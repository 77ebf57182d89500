"""The nodes and values of a graph under construction."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from ..descs.operator_desc import OperatorDesc
from ..descs.tensor import TensorDesc
from ..dml import IDMLDevice, IDMLOperator

if TYPE_CHECKING:
    import numpy.typing as npt


class FromInput(NamedTuple):
    """The value of a graph input."""

    position: int


class FromNode(NamedTuple):
    """A node's output; the index ``output`` counts absent optional tensors too."""

    node: int
    output: int


Source = FromInput | FromNode


@dataclass(frozen=True)
class Input:
    """A graph input."""

    index: int
    name: str
    desc: TensorDesc


class OperatorNode(NamedTuple):
    """An operator with the sources of its input tensors, in desc order (None for absent ones)."""

    name: str
    operator: IDMLOperator
    inputs: tuple[Source | None, ...]

    @property
    def desc(self) -> OperatorDesc:
        return self.operator.desc

    @property
    def kind(self) -> str:
        return self.desc.name

    @property
    def outputs(self) -> tuple[TensorDesc | None, ...]:
        return tuple(slot.tensor for slot in self.desc.outputs)


@dataclass(frozen=True, eq=False)
class ConstantNode:
    """A packed constant that is compiled into the graph."""

    name: str
    array: npt.NDArray[Any]
    tensor: TensorDesc

    kind = "CONSTANT"
    inputs: tuple[Source | None, ...] = ()

    @property
    def outputs(self) -> tuple[TensorDesc | None, ...]:
        return (self.tensor,)

    @property
    def data(self) -> bytes:
        """The data of a DML_CONSTANT_DATA_GRAPH_NODE_DESC, zero-padded to the tensor's size."""
        return self.array.tobytes().ljust(self.tensor.total_size, b"\0")


Node = OperatorNode | ConstantNode


class NodeValue(Protocol):
    """An expression, to those who read a finished graph."""

    @property
    def source(self) -> Source: ...

    @property
    def desc(self) -> TensorDesc: ...


class GraphContent(Protocol):
    """A graph, to those who compile and draw it."""

    device: IDMLDevice
    inputs: dict[int, Input]
    nodes: list[Node]

    @property
    def outputs(self) -> Mapping[str, NodeValue]: ...

    def to_svg(self) -> str: ...
