"""The functions that add operators to a graph: the graph builder's parameters, with other defaults."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any, cast

from ..graph import expression as graph
from .devices import GraphBuilder
from .enumerations import (
    ConvolutionDirection,
    ConvolutionMode,
    Enumeration,
    InterpolationMode,
    MatrixTransform,
    OperatorType,
    OutputOptions,
    PaddingMode,
    RecurrentNetworkDirection,
    TensorDataType,
)
from .expressions import Expression, FusedActivation, GRUOutputs, MaxPoolingOutputs, MutableExpression
from .pybind_arguments import REQUIRED, F, Int, Signature, UInt, checked
from .tensor_data import Size2D, TensorDesc

NONE = FusedActivation(OperatorType.INVALID)
EMPTY: list[int] = []


def operator(name: str) -> Callable[[F], F]:
    """Decorator: the function calls the graph builder's ``name``.

    Arguments are passed by name; the decorated body returns those to override, None for one to drop.
    """

    def decorate(call: F) -> F:
        signature = Signature(call)

        @functools.wraps(call)
        def wrapper(*arguments: Any, **keywords: Any) -> Any:
            bound = dict(signature.bind(arguments, keywords).arguments)
            bound.update(call(**bound) or {})
            return node(name, bound)

        return cast(F, wrapper)

    return decorate


def node(name: str, arguments: Mapping[str, Any]) -> Any:
    passed = {key: _passed(value) for key, value in arguments.items()}
    values = [value for value in passed.values() if isinstance(value, graph.Expression)]
    values += [item for item in passed.get("inputs") or () if isinstance(item, graph.Expression)]
    present = {key: value for key, value in passed.items() if value is not None}
    result = getattr(values[0].graph, name)(**present)
    tensors = [*arguments.values(), *(arguments.get("inputs") or ())]
    kind = next(type(value) for value in tensors if isinstance(value, Expression))
    return kind.of(result) if isinstance(result, graph.Expression) else result


def _passed(value: Any) -> Any:
    """The argument as the graph builder takes it."""
    if isinstance(value, Expression):
        return value.value
    if isinstance(value, FusedActivation):
        return value.desc
    if isinstance(value, Enumeration):
        return value.value
    if isinstance(value, list):
        return [_passed(item) for item in value]
    return value


def _spatial(input: Expression) -> int:
    return len(input.value.desc.sizes) - 2


@checked
def input_tensor(scope: GraphBuilder, input_index: UInt, tensor_desc: TensorDesc) -> Expression:
    """Graph input ``input_index``."""
    return MutableExpression.of(scope.graph.input_tensor(input_index, tensor_desc.value))


@operator("convolution")
def convolution(
    input: Expression,
    filter: Expression,
    bias: Expression | None = None,
    mode: ConvolutionMode = ConvolutionMode.CROSS_CORRELATION,
    direction: ConvolutionDirection = ConvolutionDirection.FORWARD,
    strides: list[UInt] = EMPTY,
    dilations: list[UInt] = EMPTY,
    start_padding: list[UInt] = EMPTY,
    end_padding: list[UInt] = EMPTY,
    output_padding: list[UInt] = EMPTY,
    group_count: UInt = 1,
    fused_activation: FusedActivation | None = NONE,
    output_sizes: list[UInt] = EMPTY,
) -> Any:
    """CONVOLUTION. Empty lists mean 1 for strides and dilations, 0 for paddings, and inferred output sizes."""
    ones, zeros = [1] * _spatial(input), [0] * _spatial(input)
    return {
        "strides": strides or ones,
        "dilations": dilations or ones,
        "start_padding": start_padding or zeros,
        "end_padding": end_padding or zeros,
        "output_padding": output_padding or zeros,
        "output_sizes": output_sizes or None,
    }


@operator("upsample_2d")
def up_sample_2d(input: Expression, scale_size: Size2D, interpolation_mode: InterpolationMode) -> Any:
    """UPSAMPLE_2D."""
    return {"scale_size": (scale_size.width, scale_size.height)}


@operator("activation_relu")
def activation_relu(input: Expression) -> Any:
    """ACTIVATION_RELU."""


@operator("activation_sigmoid")
def activation_sigmoid(input: Expression) -> Any:
    """ACTIVATION_SIGMOID."""


@operator("activation_identity")
def activation_identity(input: Expression) -> Any:
    """ACTIVATION_IDENTITY."""


@operator("activation_tanh")
def activation_tanh(input: Expression) -> Any:
    """ACTIVATION_TANH."""


@operator("activation_softmax")
def activation_soft_max(input: Expression) -> Any:
    """ACTIVATION_SOFTMAX."""


@operator("activation_linear")
def activation_linear(input: Expression, alpha: float, beta: float) -> Any:
    """ACTIVATION_LINEAR."""


@checked
def add(a: Expression, b: Expression, fused_activation: FusedActivation | None = NONE) -> Any:
    """ADD, or ADD1 with an activation."""
    if fused_activation is None or fused_activation.desc is None:
        return node("add", {"a": a, "b": b})
    return node("add1", {"a": a, "b": b, "fused_activation": fused_activation})


@operator("subtract")
def subtract(a: Expression, b: Expression) -> Any:
    """SUBTRACT."""


@operator("multiply")
def multiply(a: Expression, b: Expression) -> Any:
    """MULTIPLY."""


@operator("divide")
def divide(a: Expression, b: Expression) -> Any:
    """DIVIDE."""


@operator("padding")
def padding(
    input: Expression,
    padding_mode: PaddingMode,
    padding_value: float,
    start_padding: list[UInt],
    end_padding: list[UInt],
) -> Any:
    """PADDING, with one padding per dimension."""


@operator("mean_variance_normalization1")
def mean_variance_normalization(
    input: Expression,
    scale: Expression | None = None,
    bias: Expression | None = None,
    axes: list[UInt] = EMPTY,
    normalize_variance: bool = REQUIRED,
    epsilon: float = REQUIRED,
    fused_activation: FusedActivation | None = NONE,
) -> Any:
    """MEAN_VARIANCE_NORMALIZATION1."""


@operator("slice1")
def slice(
    input: Expression,
    input_window_offsets: list[UInt],
    input_window_sizes: list[UInt],
    input_window_strides: list[Int],
) -> Any:
    """SLICE1."""


@operator("value_scale_2d")
def value_scale_2d(input: Expression, scale: float, bias: list[float]) -> Any:
    """VALUE_SCALE_2D, with one bias per channel."""


@operator("batch_normalization")
def batch_normalization(
    input: Expression,
    mean: Expression,
    variance: Expression,
    scale: Expression,
    bias: Expression,
    spatial: bool,
    epsilon: float,
    fused_activation: FusedActivation | None = NONE,
) -> Any:
    """BATCH_NORMALIZATION."""


@operator("local_response_normalization")
def local_response_normalization(
    input: Expression, cross_channel: bool, local_size: UInt, alpha: float, beta: float, bias: float
) -> Any:
    """LOCAL_RESPONSE_NORMALIZATION."""


@operator("gemm")
def gemm(
    a: Expression,
    b: Expression,
    c: Expression | None = None,
    trans_a: MatrixTransform = MatrixTransform.NONE,
    trans_b: MatrixTransform = MatrixTransform.NONE,
    alpha: float = 1.0,
    beta: float = 1.0,
    fused_activation: FusedActivation | None = NONE,
) -> Any:
    """GEMM."""


@operator("average_pooling")
def average_pooling(
    input: Expression,
    strides: list[UInt],
    window_sizes: list[UInt],
    start_padding: list[UInt],
    end_padding: list[UInt],
    include_padding: bool,
) -> Any:
    """AVERAGE_POOLING."""
    return {"window_sizes": None, "window_size": window_sizes}


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
    ones, zeros = [1] * len(window_sizes), [0] * len(window_sizes)
    outputs = node(
        "max_pooling2",
        {
            "input": input,
            "window_size": window_sizes,
            "strides": strides or ones,
            "start_padding": start_padding or zeros,
            "end_padding": end_padding or zeros,
            "dilations": dilations or ones,
            "output_indices": output_indices,
        },
    )
    return MaxPoolingOutputs(type(input).of(outputs.output), type(input).of(outputs.output_indices))


@checked
def reinterpret(
    input: Expression, new_type: TensorDataType, new_size: list[UInt], new_strides: list[UInt] | None
) -> Expression:
    """The same memory, reinterpreted as another tensor."""
    value = input.value
    return type(input).of(value.graph.reinterpret(value, new_type.value, new_size, new_strides))


@operator("join")
def join(input: list[Expression], axis: UInt) -> Any:
    """JOIN of a list of expressions."""
    return {"input": None, "inputs": input}


@checked
def gru(
    input: Expression,
    weight: Expression,
    recurrence: Expression,
    bias: Expression | None = None,
    hidden_init: Expression | None = None,
    sequence_lengths: Expression | None = None,
    activation_descs: list[FusedActivation] = REQUIRED,
    direction: RecurrentNetworkDirection = REQUIRED,
    linear_before_reset: Int = 1,
    output_options: OutputOptions = REQUIRED,
) -> GRUOutputs:
    """GRU."""
    made = node(
        "gru",
        {
            "input": input,
            "weight": weight,
            "recurrence": recurrence,
            "bias": bias,
            "hidden_init": hidden_init,
            "sequence_lengths": sequence_lengths,
            "activation_descs": activation_descs,
            "direction": direction,
            "linear_before_reset": bool(linear_before_reset),
            "output_sequence": output_options != OutputOptions.Single,
            "output_single": output_options != OutputOptions.Sequence,
        },
    )
    return GRUOutputs(type(input).of(made.output_sequence), type(input).of(made.output_single))


@operator("gather")
def gather(input: Expression, indices: Expression, axis: UInt, index_dimensions: UInt) -> Any:
    """GATHER."""
