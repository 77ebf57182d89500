"""The newer interface of the fork ``directml``: graphs whose inputs are bound by expression or by name.

A graph compiles to an operator, which is called with a dictionary. A ``Buffer`` is a tensor in the device's memory.
Arrays are converted to a tensor's type within a kind of types, or where NumPy calls that safe.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import numpy as np
import numpy.typing as npt

from ..api import enums as c
from ..descs import tensor as values
from ..descs.data_types import data_type_number
from ..graph.graph import Graph as GraphOfOperators
from ..graph.graph import tensor
from . import devices
from .enumerations import ExecutionFlags
from .expressions import Expression
from .tensor_data import TensorDesc

Array = npt.NDArray[Any]
OWNED = c.DML_TENSOR_FLAG_OWNED_BY_DML


def as_dtype(value: Any) -> np.dtype[Any]:
    """The NumPy type of a TensorDataType or of anything that NumPy takes as a type. Raises ``TypeError``."""
    return values.TensorDesc(data_type_number(value, "dtype"), (1,)).dtype


def described(
    dtype: np.dtype[Any], sizes: Sequence[int], strides: Sequence[int] | None = None, flags: int = 0
) -> values.TensorDesc:
    return tensor("TensorDesc()", data_type_number(dtype, "dtype"), sizes, strides, flags, None, 0)


def check_cast(array: Array, dtype: np.dtype[Any], what: str) -> None:
    if array.dtype.kind != dtype.kind and not np.can_cast(array.dtype, dtype, "safe"):
        raise ValueError(f"{what} is {dtype}, to which {array.dtype} converts only by astype()")


class _Tensor:
    """What expressions and buffers say of their tensor."""

    tensor: values.TensorDesc

    @property
    def desc(self) -> TensorDesc:
        return TensorDesc.of(self.tensor)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.tensor.sizes)

    @property
    def strides(self) -> tuple[int, ...] | None:
        return None if self.tensor.strides is None else tuple(self.tensor.strides)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.tensor.dtype

    @property
    def size(self) -> int:
        return prod(self.tensor.sizes)

    def __repr__(self) -> str:
        return f"<dml.{type(self).__name__.removeprefix('Graph')} {self.dtype} {list(self.shape)}>"


class GraphExpression(_Tensor, Expression):
    """A value of a ``Graph``. Both operands of an operation have one shape and one type; ``%`` rounds as in Python."""

    @property
    def tensor(self) -> values.TensorDesc:  # type: ignore[override]
        return self.value.desc

    def _operands(self, other: Any, symbol: str) -> None:
        if isinstance(other, GraphExpression):
            check_same(f"{self!r} {symbol} {other!r}", self, other)

    def __add__(self, other: Any) -> Any:
        self._operands(other, "+")
        return super().__add__(other)

    def __sub__(self, other: Any) -> Any:
        self._operands(other, "-")
        return super().__sub__(other)

    def __mul__(self, other: Any) -> Any:
        self._operands(other, "*")
        return super().__mul__(other)

    def __truediv__(self, other: Any) -> Any:
        self._operands(other, "/")
        return super().__truediv__(other)

    def __rtruediv__(self, other: Any) -> Any:
        return type(self).of(self.value.graph.recip(self.value)) * other

    def __mod__(self, other: Any) -> Any:
        if not isinstance(other, GraphExpression):
            return NotImplemented
        self._operands(other, "%")
        return type(self).of(self.value.graph.modulus_floor(self.value, other.value))


def check_same(where: str, one: _Tensor, other: _Tensor) -> None:
    if one.shape != other.shape:
        raise ValueError(f"{where}: the shapes differ; broadcast() repeats one along the other's axes")
    if one.dtype != other.dtype:
        raise ValueError(f"{where}: the element types differ")


class Buffer(_Tensor):
    """A tensor in a device's memory, from an array that is converted to ``dtype``."""

    def __init__(self, device: devices.Device, array: Any, dtype: Any = None) -> None:
        data = np.asarray(array)
        target = as_dtype(data.dtype if dtype is None else dtype)
        check_cast(data, target, "the buffer")
        self._hold(device, data.astype(target))

    def _hold(self, device: devices.Device, data: Array) -> None:
        self.device = device
        self.tensor = described(data.dtype, data.shape or (1,))
        self.data = data

    @classmethod
    def of(cls, device: devices.Device, data: Array) -> Buffer:
        buffer = object.__new__(cls)
        buffer._hold(device, data)
        return buffer

    @property
    def nbytes(self) -> int:
        return self.tensor.total_size

    def numpy(self) -> Array:
        copy: Array = self.data.copy()
        return copy


class _Input:
    """An input of a graph, and the data of a constant until it is compiled."""

    def __init__(self, index: int, expression: GraphExpression, name: str | None) -> None:
        self.index, self.expression, self.name = index, expression, name
        self.constant: Any = None
        self.is_owned = bool(expression.tensor.flags & OWNED)

    def __str__(self) -> str:
        name = "" if self.name is None else f" {self.name!r}"
        return f"input {self.index}{name} ({self.expression.dtype} {list(self.expression.shape)})"

    def binding(self, device: devices.Device, value: Any) -> devices.Binding:
        """Raises ``ValueError`` for data of another type, another count of elements or another device."""
        wanted = self.expression.tensor
        if isinstance(value, Buffer):
            if value.device is not device:
                raise ValueError(f"the Buffer for {self} is on a different device")
            if value.dtype != wanted.dtype:
                raise ValueError(f"the Buffer for {self} is {value.dtype}; buffers are not converted")
            value = value.data
        array = np.asarray(value)
        check_cast(array, wanted.dtype, str(self))
        check_count(array, wanted, str(self))
        binding = object.__new__(devices.Binding)
        memory = np.zeros(wanted.total_size, np.uint8)
        data = np.frombuffer(array.astype(wanted.dtype).tobytes(), np.uint8)[: memory.size]
        memory[: data.size] = data
        binding.desc, binding.memory = wanted, memory
        return binding


def check_count(array: Array, wanted: values.TensorDesc, what: str) -> None:
    """Elements of a strided tensor repeat or are out of order, so that what counts are its bytes."""
    if wanted.strides is None:
        fits = array.size == prod(wanted.sizes)
    else:
        fits = array.size * wanted.dtype.itemsize >= wanted.total_size
    if not fits:
        raise ValueError(f"data of {array.size} elements does not fill {what}")


class CompiledOperator:
    """A compiled graph. ``initialize`` takes the data of owned inputs, a call that of the others; keys are expressions
    or names, values arrays or buffers."""

    def __init__(
        self,
        device: devices.Device,
        model: devices.Model,
        outputs: Sequence[GraphExpression],
        inputs: list[_Input],
    ) -> None:
        self._device, self._model, self._inputs = device, model, inputs
        self._outputs: list[Expression | None] = list(outputs)
        self._constants = {one.index: one.constant for one in inputs if one.constant is not None}
        self._owned: dict[int, devices.Binding] = {}
        self.initialized = False
        if all(one.index in self._constants for one in inputs if one.is_owned):
            self.initialize()

    @property
    def temporary_size(self) -> int:
        return self._model.operator.temporary_size

    @property
    def persistent_size(self) -> int:
        return self._model.operator.persistent_size

    @property
    def descriptor_count(self) -> int:
        return self._model.operator.descriptor_count

    def initialize(self, weights: Mapping[Any, Any] | None = None) -> None:
        """Take the data of all owned inputs; constants of the graph may be left out the first time."""
        bound = self._bind(weights or {}, True, "initialize")
        constants, self._constants = self._constants, {}
        for one in self._inputs:
            if one.index in constants and one.index not in bound:
                bound[one.index] = one.binding(self._device, constants[one.index])
        self._owned = bound
        self._device._initialize(self._model, self._bindings(bound))
        self.initialized = True

    def dispatch(self, inputs: Mapping[Any, Any] | None = None, *, readback: bool = True) -> list[Any]:
        """The outputs as arrays or, without ``readback``, as buffers."""
        if not self.initialized:
            missing = ", ".join(str(one) for one in self._inputs if one.is_owned)
            raise ValueError(f"initialize() comes before dispatch(), with {missing}")
        bound = self._bind(inputs or {}, False, "dispatch")
        results = self._device._dispatch(self._model, self._bindings({**self._owned, **bound}), self._outputs)
        arrays = [np.array(result) for result in results]
        return arrays if readback else [Buffer.of(self._device, array) for array in arrays]

    __call__ = dispatch

    def _bindings(self, bound: Mapping[int, devices.Binding]) -> list[devices.Binding | None]:
        return [bound.get(one.index) for one in self._inputs]

    def _bind(self, data: Mapping[Any, Any], owned: bool, call: str) -> dict[int, devices.Binding]:
        bound: dict[int, devices.Binding] = {}
        for key, value in data.items():
            one = self._input(key, call)
            if one.is_owned != owned:
                other = "dispatch" if owned else "initialize"
                raise ValueError(f"{one} is bound by {other}(), not by {call}()")
            if one.index in bound:
                raise ValueError(f"{one} is bound twice")
            bound[one.index] = one.binding(self._device, value)
        constants = self._constants if owned else {}
        missing = [
            str(one)
            for one in self._inputs
            if one.is_owned == owned and one.index not in bound and one.index not in constants
        ]
        if missing:
            raise ValueError(f"{call}() is missing {', '.join(missing)}")
        return bound

    def _input(self, key: Any, call: str) -> _Input:
        if isinstance(key, str):
            for one in self._inputs:
                if one.name == key:
                    return one
            raise ValueError(f"the graph has no input named {key!r}")
        if not isinstance(key, GraphExpression):
            raise TypeError(f"{call}() takes expressions and names as keys, not {type(key).__name__}")
        for one in self._inputs:
            if one.expression.value is key.value:
                return one
        raise ValueError(f"{key!r} is not an input of the graph")


class Graph:
    """Operators on the inputs and constants that are added to it."""

    def __init__(self, device: devices.Device, *, tensor_policy: Any = None) -> None:
        self._device = device
        self.graph = GraphOfOperators(device.dml)
        self._policy = tensor_policy
        self._inputs: list[_Input] = []

    def input(
        self,
        sizes: Sequence[int] | None = None,
        dtype: Any = None,
        *,
        owned: bool = False,
        strides: Sequence[int] | None = None,
        desc: TensorDesc | None = None,
        name: str | None = None,
    ) -> GraphExpression:
        """An input of ``sizes``, FLOAT32 without ``dtype``; ``desc`` takes the place of all but the name."""
        if desc is not None:
            if sizes is not None or dtype is not None or owned or strides is not None:
                raise TypeError("input(): desc describes the whole tensor, and goes with name alone")
            return self._add(desc.value, name).expression
        if sizes is None:
            raise TypeError("input() takes sizes or desc")
        target = as_dtype(np.float32 if dtype is None else dtype)
        if self._policy is not None and strides is None:
            strides = self._policy.strides(data_type_number(target, "dtype"), list(sizes))
        flags = OWNED if owned else c.DML_TENSOR_FLAG_NONE
        stride_list = None if strides is None else list(strides)
        return self._add(described(target, sizes, stride_list, flags), name).expression

    def constant(
        self, array: Any, dtype: Any = None, *, sizes: Sequence[int] | None = None, name: str | None = None
    ) -> GraphExpression:
        """An owned input whose data is known; it is kept until the graph is compiled."""
        data = array if isinstance(array, Buffer) else np.asarray(array)
        target = as_dtype(data.dtype if dtype is None else dtype)
        wanted = described(target, data.shape if sizes is None else sizes, None, OWNED)
        what = "the constant" if name is None else f"the constant {name!r}"
        content = data.data if isinstance(data, Buffer) else data
        check_cast(content, target, what)
        check_count(content, wanted, what)
        added = self._add(wanted, name)
        added.constant = data
        return added.expression

    def _add(self, desc: values.TensorDesc, name: str | None) -> _Input:
        if name is not None and not isinstance(name, str):
            raise TypeError(f"name must be a str, not {type(name).__name__}")
        if name is not None and any(one.name == name for one in self._inputs):
            raise ValueError(f"the graph already has an input named {name!r}")
        index = len(self._inputs)
        added = _Input(index, GraphExpression.of(self.graph.input_tensor(index, desc)), name)
        self._inputs.append(added)
        return added

    def compile(
        self, outputs: Sequence[GraphExpression], *, flags: ExecutionFlags = ExecutionFlags.NONE
    ) -> CompiledOperator:
        """The operator that computes ``outputs``, initialized if all owned inputs are constants."""
        model = devices.Model._of(self.graph, flags.value, list(outputs))
        compiled = CompiledOperator(self._device, model, outputs, self._inputs)
        for one in self._inputs:
            one.constant = None
        return compiled


def broadcast(input: GraphExpression, shape: Sequence[int]) -> GraphExpression:
    """``input`` as a tensor of ``shape`` whose axes of size 1 repeat, by strides of 0."""
    source, target = list(input.shape), list(shape)
    if source == target:
        return input
    if len(target) < len(source):
        raise ValueError(f"cannot broadcast {source} to {target}, which has fewer axes")
    lead = len(target) - len(source)
    strides = [0] * lead
    for size, wanted, stride in zip(source, target[lead:], input.tensor.effective_strides):
        if size not in (wanted, 1):
            raise ValueError(f"cannot broadcast {source} to {target}: an axis of {size} does not repeat")
        strides.append(stride if size == wanted else 0)
    value = input.value
    return type(input).of(value.graph.reinterpret(value, sizes=target, strides=strides))
