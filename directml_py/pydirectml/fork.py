"""``directml``, the module of the fork aisk/PyDirectML, where it differs from Microsoft's.

Inputs and outputs keep their tensors' data types, models are initialized once, and some functions have more parameters.
Members of enumerations are not exported by the module. What the fork removed (``Expression()`` and other constructors)
is still available.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..descs import tensor as values
from . import common, devices, expressions, fork_operators, module_functions
from .common import *
from .devices import Bytes, Model
from .enumerations import OutputOptions, PaddingMode, RecurrentNetworkDirection
from .expressions import Expression
from .fork_graphs import Buffer, CompiledOperator, Graph, GraphExpression, as_dtype, broadcast, check_same
from .fork_operators import *
from .module_functions import EMPTY, NONE, node, operator
from .pybind_arguments import REQUIRED, UInt, checked
from .tensor_data import TensorData

__all__ = [
    "Binding",
    "Buffer",
    "CompiledOperator",
    "Device",
    "Expression",
    "GRUOutputOptions",
    "GRUOutputs",
    "Graph",
    "MaxPoolingOutputs",
    "activation_gelu",
    "activation_softmax",
    "average_pooling",
    "batch_normalization",
    "broadcast",
    "gru",
    "join",
    "max_pooling",
    "mean_variance_normalization",
    "padding",
    "reinterpret",
]
__all__ += common.__all__
__all__ += fork_operators.__all__
GRUOutputOptions = common.OutputOptions

if TYPE_CHECKING:
    # The functions of the table of ``fork_operators``.
    def __getattr__(name: str) -> Callable[..., Any]: ...


def _same_operands(function: Callable[..., Any], symbol: str) -> Callable[..., Any]:
    """``function``, which refuses operands of a ``Graph`` that differ in shape or type."""

    @functools.wraps(function)
    def checked_function(a: Expression, b: Expression, *arguments: Any, **keywords: Any) -> Any:
        if isinstance(a, GraphExpression) and isinstance(b, GraphExpression):
            check_same(f"{a!r} {symbol} {b!r}", a, b)
        return function(a, b, *arguments, **keywords)

    return checked_function


add, subtract = _same_operands(common.add, "+"), _same_operands(common.subtract, "-")
multiply, divide = _same_operands(common.multiply, "*"), _same_operands(common.divide, "/")


def reinterpret(input: Expression, *arguments: Any, **keywords: Any) -> Any:
    """``(input, sizes, strides=None, dtype=None)`` of a ``Graph``; otherwise as in pydirectml."""
    if not isinstance(input, GraphExpression):
        return module_functions.reinterpret(input, *arguments, **keywords)
    return _reinterpreted(input, *arguments, **keywords)


def _reinterpreted(
    input: GraphExpression, sizes: Sequence[int], strides: Sequence[int] | None = None, dtype: Any = None
) -> GraphExpression:
    value, kind = input.value, None if dtype is None else as_dtype(dtype)
    return type(input).of(value.graph.reinterpret(value, kind, list(sizes), strides and list(strides)))


class MaxPoolingOutputs(NamedTuple):
    values: Expression
    indices: Expression | None


class GRUOutputs(NamedTuple):
    sequence: Expression | None
    single: Expression | None


class Binding(devices.Binding):
    """Data for a graph input, in the tensor's own type.

    Raises ``ValueError`` where NumPy's cast is not ``same_kind``, and for more bytes than the tensor has; fewer are
    padded with 0.
    """

    def _bytes(self, data: Any) -> Bytes:
        array, dtype, size = np.asarray(data), self.desc.dtype, self.desc.total_size
        if array.dtype.kind != dtype.kind and not np.can_cast(array.dtype, dtype, "safe"):
            raise ValueError(
                f"cannot bind a {array.dtype} array to a {dtype} tensor; convert it explicitly with astype()"
            )
        memory = np.frombuffer(array.astype(dtype).tobytes(), np.uint8)
        if memory.size > size:
            raise ValueError(f"array of {memory.size} bytes does not fit a tensor of {size} bytes")
        return np.pad(memory, (0, size - memory.size))

    def release_data(self) -> None:
        """Release the data: an owned input's are not needed once the model is initialized."""
        self.memory = None


class Device(devices.Device):
    """An emulated GPU or, with ``use_gpu=False``, the software adapter (WARP); optionally with the debug layers."""

    @checked
    def compute(
        self, model: Model, inputs: list[devices.Binding | None], outputs: list[Expression | None]
    ) -> list[TensorData]:
        """``initialize`` unless the model is initialized already, then ``dispatch``."""
        if model.owned is None:
            self._initialize(model, inputs)
        return self._dispatch(model, inputs, outputs)

    @checked
    def initialize(self, model: Model, inputs: list[devices.Binding | None]) -> None:
        """Initialize the model with its owned inputs."""
        self._initialize(model, inputs)

    @checked
    def dispatch(
        self, model: Model, inputs: list[devices.Binding | None], outputs: list[Expression | None]
    ) -> list[TensorData]:
        """Run an initialized model with the other inputs. Raises ``ValueError`` if it is not initialized."""
        if model.owned is None:
            raise ValueError("the model must be initialized before it is dispatched")
        return self._dispatch(model, inputs, outputs)

    def _result(self, tensor: values.TensorDesc, memory: npt.NDArray[np.uint8]) -> TensorData:
        return TensorData.of(tensor, memory, tensor.dtype)


@operator("activation_gelu")
def activation_gelu(input: Expression) -> Any:
    """ACTIVATION_GELU."""


@checked
def activation_softmax(input: Expression, axes: list[UInt] = EMPTY) -> Any:
    """ACTIVATION_SOFTMAX1 along ``axes``, or ACTIVATION_SOFTMAX if there are none."""
    if axes:
        return node("activation_softmax1", {"input": input, "axes": axes})
    return node("activation_softmax", {"input": input})


@operator("mean_variance_normalization2")
def mean_variance_normalization(
    input: Expression,
    scale: Expression | None = None,
    bias: Expression | None = None,
    axes: list[UInt] = EMPTY,
    normalize_variance: bool = True,
    normalize_mean: bool = True,
    epsilon: float = 1e-5,
    fused_activation: expressions.FusedActivation | None = NONE,
) -> Any:
    """MEAN_VARIANCE_NORMALIZATION2."""
    return {
        "normalize_variance": None,
        "normalize_mean": None,
        "use_variance": normalize_variance,
        "use_mean": normalize_mean,
    }


@operator("average_pooling1")
def average_pooling(
    input: Expression,
    strides: list[UInt],
    window_sizes: list[UInt],
    start_padding: list[UInt] = EMPTY,
    end_padding: list[UInt] = EMPTY,
    dilations: list[UInt] = EMPTY,
    include_padding: bool = False,
    output_sizes: list[UInt] = EMPTY,
) -> Any:
    """AVERAGE_POOLING1. Empty lists mean 1 for dilations, 0 for paddings, and inferred output sizes."""
    zeros = [0] * len(window_sizes)
    return {
        "start_padding": start_padding or zeros,
        "end_padding": end_padding or zeros,
        "window_sizes": None,
        "window_size": window_sizes,
        "dilations": dilations or [1] * len(window_sizes),
        "output_sizes": output_sizes or None,
    }


@checked
def max_pooling(
    input: Expression,
    window_sizes: list[UInt],
    strides: list[UInt] = EMPTY,
    start_padding: list[UInt] = EMPTY,
    end_padding: list[UInt] = EMPTY,
    dilations: list[UInt] = EMPTY,
    output_indices: bool = False,
) -> MaxPoolingOutputs:
    """MAX_POOLING2. Empty lists mean 1 for strides and dilations, 0 for paddings."""
    return MaxPoolingOutputs(
        *module_functions.max_pooling(
            input, window_sizes, strides, start_padding, end_padding, dilations, output_indices
        )
    )


@operator("padding")
def padding(
    input: Expression,
    padding_mode: PaddingMode = PaddingMode.CONSTANT,
    padding_value: float = 0.0,
    start_padding: list[UInt] = REQUIRED,
    end_padding: list[UInt] = REQUIRED,
) -> Any:
    """PADDING, with one padding per dimension."""


@operator("batch_normalization")
def batch_normalization(
    input: Expression,
    mean: Expression,
    variance: Expression,
    scale: Expression,
    bias: Expression,
    spatial: bool = True,
    epsilon: float = 1e-5,
    fused_activation: expressions.FusedActivation | None = NONE,
) -> Any:
    """BATCH_NORMALIZATION."""


@operator("join")
def join(inputs: list[Expression], axis: UInt) -> Any:
    """JOIN of a list of expressions."""


@checked
def gru(
    input: Expression,
    weight: Expression,
    recurrence: Expression,
    bias: Expression | None = None,
    hidden_init: Expression | None = None,
    sequence_lengths: Expression | None = None,
    activation_descs: list[expressions.FusedActivation] = REQUIRED,
    direction: RecurrentNetworkDirection = RecurrentNetworkDirection.FORWARD,
    linear_before_reset: bool = True,
    output_options: OutputOptions = OutputOptions.Both,
) -> GRUOutputs:
    """GRU."""
    outputs = module_functions.gru(
        input,
        weight,
        recurrence,
        bias,
        hidden_init,
        sequence_lengths,
        activation_descs,
        direction,
        int(linear_before_reset),
        output_options,
    )
    return GRUOutputs(*outputs)
