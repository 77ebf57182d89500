"""``OnnxNode``: an ONNX node with concrete inputs, as the function of an operator sees it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING, Any

import numpy as np

from ..api.enums import DML_TENSOR_FLAG_NONE, DML_TENSOR_FLAG_OWNED_BY_DML
from ..descs.data_types import data_type_of
from ..descs.tensor_size import packed_strides
from ..graph import Expression, Graph
from .errors import Refusal, UnknownValue
from .semantics import DIFFERENCES, DIRECTML, ONNX
from .values import MOVED_AS, Array, OnnxValue, Sizes, data_type, in_memory, known, tensor_sizes

if TYPE_CHECKING:
    from .constants import Constants


LEVEL_4_1 = 0x4100


class OnnxNode:
    """An ONNX node whose inputs have concrete types and sizes.

    ``version`` is the opset in force; ``outputs`` are the names of outputs ("" for absent ones), and ``inferred`` their
    types and sizes by shape inference.
    """

    def __init__(
        self,
        kind: str,
        version: int,
        attributes: dict[str, Any],
        inputs: Sequence[OnnxValue | None],
        outputs: Sequence[str],
        inferred: dict[str, tuple[np.dtype[Any], Sizes]],
        graph: Graph,
        constants: Constants,
    ) -> None:
        self.kind = kind
        self.version = version
        self.attributes = attributes
        self.inputs = list(inputs)
        self.outputs = list(outputs)
        self.inferred = inferred
        self.graph = graph
        self.constants = constants
        # The following activation, which the operator may fuse; cleared if it does.
        self.activation: Any = None
        # Whether constants may be OWNED_BY_DML.
        self.owned = True
        self.semantics = ONNX

    def having(self, *inputs: int | None) -> OnnxNode:
        """The same node with these of its inputs, in this order."""
        other = copy(self)
        other.inputs = [
            None if index is None or not self.has(index) else self.inputs[index] for index in inputs
        ]
        return other

    @property
    def as_provider(self) -> bool:
        """Whether the result of ONNX Runtime's DirectML provider is asked for, where it is not ONNX's."""
        assert self.kind in DIFFERENCES, self.kind
        return self.semantics == DIRECTML

    @property
    def level(self) -> int:
        return int(self.graph.device.feature_level)

    @property
    def index_type(self) -> np.dtype[Any]:
        """The type of indices that operators write: ONNX's INT64 has the same bytes as UINT64."""
        return np.dtype(np.uint64 if self.level >= LEVEL_4_1 else np.uint32)

    def has(self, index: int) -> bool:
        return index < len(self.inputs) and self.inputs[index] is not None

    def wants(self, index: int) -> bool:
        """Whether the output is requested."""
        return index < len(self.outputs) and bool(self.outputs[index])

    def input(self, index: int = 0) -> OnnxValue:
        value = self.inputs[index] if index < len(self.inputs) else None
        if value is None:
            raise Refusal("is missing", f"input {index}")
        return value

    def shape(self, index: int = 0) -> Sizes:
        return self.input(index).shape

    def output_shape(self, index: int = 0) -> Sizes:
        """The output's inferred sizes. Raises ``UnknownValue`` for the first input on whose value they may depend."""
        name = self.outputs[index]
        if name not in self.inferred:
            for position, value in enumerate(self.inputs):
                if position and value is not None and value.dtype.kind == "i" and not value.is_known:
                    raise UnknownValue(value.name, f"input {position}")
            raise Refusal("its sizes depend on values of inputs", f"output {name}")
        return self.inferred[name][1]

    def get(self, name: str, default: Any = None) -> Any:
        return self.attributes.get(name, default)

    def choice(self, name: str, default: str, choices: dict[str, Any]) -> Any:
        """The meaning of a string attribute. Raises ``Refusal`` for unknown strings."""
        word = self.get(name, default)
        if word not in choices:
            raise Refusal(f"is {word!r}; DirectML has {', '.join(map(repr, choices))}", f"attribute {name}")
        return choices[word]

    def only(self, name: str, default: Any, reason: str) -> None:
        """Raises ``Refusal`` unless the attribute has its default."""
        if self.get(name, default) != default:
            raise Refusal(f"is {self.get(name)}; {reason}", f"attribute {name}")

    def axis(self, rank: int, default: int | None = None, name: str = "axis") -> int:
        """An axis attribute, counted from 0."""
        value = int(self.get(name, default))
        if not -rank <= value < max(rank, 1):
            raise Refusal(f"is {value}; the tensor has {rank} dimensions", f"attribute {name}")
        return value % max(rank, 1)

    def known(self, index: int, name: str) -> Array:
        """The contents of an input that determines the graph. Raises ``UnknownValue``."""
        value = self.input(index)
        if value.array is None:
            raise UnknownValue(value.name, f"input {name}")
        return value.array

    def numbers(self, index: int, name: str) -> list[int] | None:
        """A list of integers: an attribute in older opsets, an input in newer ones; None if absent."""
        if name in self.attributes:
            value = self.attributes[name]
            return [int(item) for item in np.atleast_1d(value)]
        if not self.has(index):
            return None
        return [int(item) for item in self.known(index, name).reshape(-1)]

    def tensor(
        self,
        value: int | OnnxValue = 0,
        sizes: Sequence[int] | None = None,
        strides: Sequence[int] | None = None,
    ) -> Expression:
        """An input in the graph, packed, or viewed with other sizes and strides."""
        source = self.input(value) if isinstance(value, int) else value
        x = self.expression(source)
        wanted = tensor_sizes(source.shape if sizes is None else tuple(sizes))
        if x.desc.sizes == wanted and strides is None:
            return x
        return self.graph.reinterpret(x, sizes=wanted, strides=strides)

    def expression(self, value: OnnxValue) -> Expression:
        """The value in the graph: a constant becomes a graph input."""
        if value.array is None or self.owned:
            if value.expression is None:
                value.expression = self._input(value, DML_TENSOR_FLAG_OWNED_BY_DML)
            return value.expression
        if value.bound is None:
            value.bound = self._input(value, DML_TENSOR_FLAG_NONE)
        return value.bound

    def _input(self, value: OnnxValue, flags: int) -> Expression:
        assert value.array is not None
        if 0 in value.shape:
            raise Refusal(
                f"has sizes {list(value.shape)}; DirectML has no empty tensors", f"input {value.name}"
            )
        kind = data_type(value.dtype)
        key = id(value.array), value.shape, self.owned
        made = self.constants.made.get(key)
        if made is None:
            array = in_memory(value.array).reshape(tensor_sizes(value.shape))
            index, name = self.constants.add(value.name, array), self.constants.name(value.name)
            made = value.array, self.graph.input_tensor(index, kind, array.shape, flags=flags, name=name)
            self.constants.made[key] = made
        return made[1]

    def value(self, x: Expression, dtype: np.dtype[Any], shape: Sizes) -> OnnxValue:
        """The result of an operator, in a type of the same size."""
        inputs = [value.inputs for value in self.inputs if value is not None]
        return OnnxValue(
            "part",
            dtype,
            shape,
            None,
            self.graph.reinterpret(x, data_type(dtype)),
            frozenset().union(*inputs),
        )

    def constant(self, array: Any, dtype: Any = None) -> Expression:
        """A tensor of the graph with these contents. Raises ``Refusal`` if loading has computed too much."""
        self.constants.budget.take_bytes(np.asarray(array).nbytes)
        return self.expression(known("constant", np.asarray(array, dtype)))

    def check_room(self, *sizes: int, itemsize: int = 4) -> None:
        """Raises ``Refusal`` unless an array of these sizes may be made."""
        self.constants.budget.check(math.prod(sizes) * itemsize)

    def scalar(self, value: float, like: Expression) -> Expression:
        """One number, broadcast to the sizes of ``like``, in its type."""
        one = self.constant(np.array([value], data_type_of(like.desc.data_type).dtype))
        return self.spread(one, (1,), like.desc.sizes)

    def spread(self, x: Expression, shape: Sizes, sizes: Sequence[int]) -> Expression:
        """``x`` of ``shape`` broadcast to ``sizes`` by strides of 0."""
        wanted = tensor_sizes(tuple(sizes))
        aligned = (1,) * (len(wanted) - len(shape)) + tuple(shape)
        if aligned == wanted:
            is_same = x.desc.sizes == wanted and x.desc.strides is None
            return x if is_same else self.graph.reinterpret(x, sizes=wanted)
        if len(aligned) != len(wanted) or any(have not in (1, want) for have, want in zip(aligned, wanted)):
            raise Refusal(f"sizes {list(shape)} do not broadcast to {list(sizes)}")
        strides = tuple(
            0 if have == 1 and want != 1 else stride
            for have, want, stride in zip(aligned, wanted, packed_strides(aligned))
        )
        return self.graph.reinterpret(x, sizes=wanted, strides=strides)

    def broadcast(self, value: int | OnnxValue, sizes: Sequence[int]) -> Expression:
        """An input broadcast to ``sizes``, right-aligned."""
        source = self.input(value) if isinstance(value, int) else value
        return self.spread(self.expression(source), source.shape, sizes)

    def moved(self, value: int | OnnxValue = 0, sizes: Sequence[int] | None = None) -> Expression:
        """An input in a type that preserves its bytes: doubles are moved as integers."""
        return self.movable(self.tensor(value, sizes))

    def movable(self, x: Expression) -> Expression:
        other = MOVED_AS.get(data_type_of(x.desc.data_type).name)
        if other is None:
            return x
        return self.graph.reinterpret(x, np.dtype(other.lower()))

    def packed(self, view: Expression) -> Expression:
        """A packed copy of a strided view, of its type: doubles that are moved as integers stay doubles."""
        movable, kind = self.movable(view), view.desc.data_type
        copy = self.graph.identity(movable)
        return copy if movable is view else self.graph.reinterpret(copy, kind)

    def repeated(self, x: Expression, sizes: Sizes) -> Expression:
        """A packed tensor of ``sizes`` from one that broadcasts to it."""
        if x.desc.sizes == sizes:
            return x
        return self.packed(self.spread(x, x.desc.sizes, sizes))

    def transposed(self, x: Expression, shape: Sizes, order: Sequence[int]) -> Expression:
        """A packed copy of ``x`` of ``shape`` with its axes in another order."""
        return self.packed(self.reordered(x, shape, order))

    def reordered(self, x: Expression, shape: Sizes, order: Sequence[int]) -> Expression:
        """A view of ``x`` of ``shape`` with its axes in another order."""
        strides = packed_strides(shape)
        sizes = [shape[axis] for axis in order]
        return self.graph.reinterpret(x, sizes=sizes, strides=[strides[axis] for axis in order])

    def cast(self, x: Expression, dtype: np.dtype[Any] | type[np.generic]) -> Expression:
        """``x`` with elements of ``dtype``; an integer of the same size and other signedness has the same bytes."""
        wanted = data_type(np.dtype(dtype))
        have, want = data_type_of(x.desc.data_type), data_type_of(wanted)
        if have == want:
            return x
        if have.bits == want.bits and "F" not in (have.kind, want.kind):
            return self.graph.reinterpret(x, wanted)
        return self.graph.cast(x, output_data_type=wanted)
