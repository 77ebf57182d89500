"""The functions of the fork ``directml`` that its first interface lacks: the graph builder's, under the fork's names.

Tensors are positional, attributes keywords. Data types are NumPy's or members of TensorDataType.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..api import enums as c
from ..api.structs import DML_SCALE_BIAS
from ..descs.data_types import data_type_number
from ..graph import expression as builder
from ..text.similar import bind
from . import enumerations, expressions
from .enumerations import Enumeration, InterpolationMode, enumerators
from .fork_graphs import Graph, GraphExpression, as_dtype, check_same

POSITIONAL, KEYWORD = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY


class OperatorType(
    enumerations.OperatorType,
    members=[
        *((name, one.value) for name, one in enumerations.OperatorType.__members__.items()),
        ("ACTIVATION_CELU", c.DML_OPERATOR_ACTIVATION_CELU),
        ("ACTIVATION_GELU", c.DML_OPERATOR_ACTIVATION_GELU),
    ],
):
    """DML_OPERATOR_TYPE, with the later activations that fuse."""


class RoundingMode(Enumeration, members=enumerators(c.DML_ROUNDING_MODE, "DML_ROUNDING_MODE_")):
    """DML_ROUNDING_MODE."""


class IsInfinityMode(Enumeration, members=enumerators(c.DML_IS_INFINITY_MODE, "DML_IS_INFINITY_MODE_")):
    """DML_IS_INFINITY_MODE."""


class AxisDirection(Enumeration, members=enumerators(c.DML_AXIS_DIRECTION, "DML_AXIS_DIRECTION_")):
    """DML_AXIS_DIRECTION."""


class DepthSpaceOrder(Enumeration, members=enumerators(c.DML_DEPTH_SPACE_ORDER, "DML_DEPTH_SPACE_ORDER_")):
    """DML_DEPTH_SPACE_ORDER."""


class ReduceFunction(Enumeration, members=enumerators(c.DML_REDUCE_FUNCTION, "DML_REDUCE_FUNCTION_")):
    """DML_REDUCE_FUNCTION."""


class RandomGeneratorType(
    Enumeration, members=enumerators(c.DML_RANDOM_GENERATOR_TYPE, "DML_RANDOM_GENERATOR_TYPE_")
):
    """DML_RANDOM_GENERATOR_TYPE."""


class TopKOutputs(NamedTuple):
    values: GraphExpression
    indices: GraphExpression


class NonZeroCoordinatesOutputs(NamedTuple):
    count: GraphExpression  # type: ignore[assignment]
    coordinates: GraphExpression


class RandomGeneratorOutputs(NamedTuple):
    values: GraphExpression
    state: GraphExpression | None


def _attribute(name: str, value: Any) -> Any:
    if isinstance(value, Enumeration):
        return value.value
    if name == "scale_bias":
        return DML_SCALE_BIAS(*value)
    return data_type_number(value, name) if name in ("dtype", "output_dtype") else value


# The graph builder's names of the fork's keywords.
NAMES = {
    "dtype": "output_data_type",
    "output_dtype": "output_data_type",
    "mode": "interpolation_mode",
    "output_axis_sizes": "sizes",
}


def call(graph: Any, method: str, tensors: Sequence[GraphExpression], attributes: Mapping[str, Any]) -> Any:
    """What the graph builder's ``method`` returns, as the fork's expressions. Attributes that are None are left out."""
    keywords = {
        NAMES.get(name, name): _attribute(name, value)
        for name, value in attributes.items()
        if value is not None
    }
    return _wrapped(getattr(graph, method)(*(one.value for one in tensors), **keywords))


def _wrapped(result: Any) -> Any:
    if isinstance(result, builder.Expression):
        return GraphExpression.of(result)
    return None if result is None else [_wrapped(item) for item in result]


def _function(
    name: str, method: str, tensors: Sequence[str], attributes: Mapping[str, Any], same: bool = False
) -> Callable[..., Any]:
    """A function that calls ``method``. ``attributes`` are keywords with their defaults, or ``KEYWORD`` without one."""
    signature = inspect.Signature(
        [inspect.Parameter(one, POSITIONAL) for one in tensors]
        + [
            inspect.Parameter(
                one, KEYWORD, default=inspect.Parameter.empty if default is KEYWORD else default
            )
            for one, default in attributes.items()
        ]
    )

    def function(*arguments: Any, **keywords: Any) -> Any:
        try:
            bound = bind(signature, arguments, keywords)
        except TypeError as error:
            raise TypeError(f"{name}(): {error}") from None
        bound.apply_defaults()
        operands = [bound.arguments[one] for one in tensors]
        for one, operand in zip(tensors, operands):
            if not isinstance(operand, GraphExpression):
                raise TypeError(
                    f"{name}(): {one} must be an Expression of a Graph, not {type(operand).__name__}"
                )
        if same:
            check_same(f"{name}({', '.join(map(repr, operands))})", operands[-2], operands[-1])
        return call(
            operands[0].value.graph, method, operands, {one: bound.arguments[one] for one in attributes}
        )

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"The graph builder's ``{method}``."
    function.__signature__ = signature  # type: ignore[attr-defined]
    return function


UNARY = (
    "identity",
    "abs",
    "acos",
    "asin",
    "atan",
    "ceil",
    "cos",
    "exp",
    "floor",
    "log",
    "recip",
    "sin",
    "sqrt",
    "tan",
    "erf",
    "sinh",
    "cosh",
    "tanh",
    "asinh",
    "acosh",
    "atanh",
)
PLAIN = (
    "sign",
    "negate",
    "logical_not",
    "bit_not",
    "activation_hardmax",
    "activation_log_softmax",
    "activation_softsign",
)
BINARY = (
    "max",
    "min",
    "mean",
    "atan_yx",
    "difference_square",
    "logical_and",
    "logical_or",
    "logical_xor",
    "bit_and",
    "bit_or",
    "bit_xor",
    "bit_shift_left",
    "bit_shift_right",
    "modulus_truncate",
    "modulus_floor",
)
COMPARISONS = ["equals", "greater_than", "greater_than_or_equal", "less_than", "less_than_or_equal"]
INPUT, INDEXED = ("input",), ("input", "indices")
INCREASING, DECREASING = AxisDirection(0), AxisDirection(1)
ORDER, PHILOX = DepthSpaceOrder(0), RandomGeneratorType(0)
ND = {"input_dimension_count": KEYWORD, "indices_dimension_count": KEYWORD}

# Name, the graph builder's method, tensors, and attributes with their defaults.
TABLE: list[tuple[str, str, Sequence[str], dict[str, Any]]] = [
    *((name, name, INPUT, {"scale_bias": None}) for name in UNARY),
    *((name, name, INPUT, {}) for name in PLAIN),
    ("clip", "clip", INPUT, {"min": KEYWORD, "max": KEYWORD, "scale_bias": None}),
    ("threshold", "threshold", INPUT, {"min": KEYWORD, "scale_bias": None}),
    ("round", "round", INPUT, {"rounding_mode": RoundingMode(0)}),
    ("is_nan", "is_nan", INPUT, {"output_dtype": np.uint8}),
    ("is_infinity", "is_infinity", INPUT, {"infinity_mode": IsInfinityMode(0), "output_dtype": np.uint8}),
    ("bit_count", "bit_count", INPUT, {"output_dtype": np.uint8}),
    ("cast", "cast", INPUT, {"dtype": KEYWORD}),
    ("activation_elu", "activation_elu", INPUT, {"alpha": 1.0}),
    ("activation_celu", "activation_celu", INPUT, {"alpha": 1.0}),
    ("activation_hard_sigmoid", "activation_hard_sigmoid", INPUT, {"alpha": 0.2, "beta": 0.5}),
    ("activation_leaky_relu", "activation_leaky_relu", INPUT, {"alpha": 0.01}),
    ("activation_parameterized_relu", "activation_parameterized_relu", ("input", "slope"), {}),
    (
        "activation_parametric_softplus",
        "activation_parametric_softplus",
        INPUT,
        {"alpha": KEYWORD, "beta": KEYWORD},
    ),
    (
        "activation_scaled_elu",
        "activation_scaled_elu",
        INPUT,
        {"alpha": 1.67326319217681884765625, "gamma": 1.05070102214813232421875},
    ),
    ("activation_scaled_tanh", "activation_scaled_tanh", INPUT, {"alpha": 1.0, "beta": 0.5}),
    ("activation_shrink", "activation_shrink", INPUT, {"bias": 0.0, "threshold": 0.5}),
    ("activation_softplus", "activation_softplus", INPUT, {"steepness": 1.0}),
    ("activation_thresholded_relu", "activation_thresholded_relu", INPUT, {"alpha": 1.0}),
    ("split", "split", INPUT, {"axis": KEYWORD, "output_axis_sizes": KEYWORD}),
    ("tile", "tile", INPUT, {"repeats": KEYWORD}),
    ("one_hot", "one_hot", ("indices", "values"), {"output_length": KEYWORD, "axis": KEYWORD}),
    ("gather_elements", "gather_elements", INDEXED, {"axis": KEYWORD}),
    ("gather_nd", "gather_nd1", INDEXED, {**ND, "batch_dimension_count": 0}),
    ("scatter_elements", "scatter", (*INDEXED, "updates"), {"axis": KEYWORD}),
    ("scatter_nd", "scatter_nd", (*INDEXED, "updates"), ND),
    ("space_to_depth", "space_to_depth1", INPUT, {"block_size": KEYWORD, "order": ORDER}),
    ("depth_to_space", "depth_to_space1", INPUT, {"block_size": KEYWORD, "order": ORDER}),
    ("reverse_subsequences", "reverse_subsequences", ("input", "sequence_lengths"), {"axis": KEYWORD}),
    (
        "cumulative_summation",
        "cumulative_summation",
        INPUT,
        {"axis": KEYWORD, "axis_direction": INCREASING, "has_exclusive_sum": False},
    ),
    (
        "cumulative_product",
        "cumulative_product",
        INPUT,
        {"axis": KEYWORD, "axis_direction": INCREASING, "has_exclusive_product": False},
    ),
    ("quantize_linear", "quantize_linear", ("input", "scale", "zero_point"), {"output_dtype": np.uint8}),
    ("dequantize_linear", "dequantize_linear", ("input", "scale", "zero_point"), {}),
]
FUNCTIONS = {
    name: _function(name, method, tensors, attributes) for name, method, tensors, attributes in TABLE
}
FUNCTIONS |= {name: _function(name, name, ("a", "b"), {}, same=True) for name in BINARY}
FUNCTIONS |= {
    name: _function(name, f"logical_{name}", ("a", "b"), {"output_dtype": np.uint8}, same=True)
    for name in COMPARISONS
}


def where(condition: GraphExpression, a: GraphExpression, b: GraphExpression) -> GraphExpression:
    """IF: ``a`` where ``condition`` is not 0, else ``b``."""
    what = f"where({condition!r}, {a!r}, {b!r})"
    check_same(what, a, b)
    if condition.shape != a.shape:
        raise ValueError(f"{what}: the shapes differ; broadcast() repeats one along the other's axes")
    result: GraphExpression = call(a.value.graph, "if_", [condition, a, b], {})
    return result


def pow(input: GraphExpression, exponent: Any, *, scale_bias: Any = None) -> GraphExpression:
    """POW, or CONSTANT_POW of a number."""
    graph, attributes = input.value.graph, {"scale_bias": scale_bias}
    if isinstance(exponent, GraphExpression):
        check_same(f"pow({input!r}, {exponent!r})", input, exponent)
        result: GraphExpression = call(graph, "pow", [input, exponent], attributes)
    else:
        result = call(graph, "constant_pow", [input], {**attributes, "exponent": float(exponent)})
    return result


def reduce(
    input: GraphExpression, *, function: ReduceFunction, axes: Sequence[int] = (), output_dtype: Any = None
) -> GraphExpression:
    """REDUCE along ``axes``, or all."""
    attributes = {"function": function, "axes": list(axes) or list(range(len(input.shape)))}
    result: GraphExpression = call(
        input.value.graph, "reduce", [input], {**attributes, "output_dtype": output_dtype}
    )
    return result


def top_k(
    input: GraphExpression, *, axis: int, k: int, axis_direction: AxisDirection = DECREASING
) -> TopKOutputs:
    """TOP_K1: the largest without ``axis_direction``."""
    attributes = {"axis": axis, "k": k, "axis_direction": axis_direction}
    return TopKOutputs(*call(input.value.graph, "top_k1", [input], attributes))


def non_zero_coordinates(input: GraphExpression) -> NonZeroCoordinatesOutputs:
    """NONZERO_COORDINATES."""
    return NonZeroCoordinatesOutputs(*call(input.value.graph, "nonzero_coordinates", [input], {}))


def random_generator(
    input_state: GraphExpression,
    *,
    output_sizes: Sequence[int],
    output_state: bool = True,
    type: RandomGeneratorType = PHILOX,
) -> RandomGeneratorOutputs:
    """RANDOM_GENERATOR."""
    attributes = {"output_sizes": list(output_sizes), "output_state": output_state, "type": type}
    made = call(input_state.value.graph, "random_generator", [input_state], attributes)
    outputs = made if isinstance(made, list) else [made]
    return RandomGeneratorOutputs(outputs[0], outputs[1] if output_state else None)


def resample(
    input: GraphExpression,
    *,
    output_sizes: Sequence[int],
    mode: InterpolationMode,
    rounding_direction: AxisDirection = INCREASING,
    scales: Sequence[float] = (),
    input_pixel_offsets: Sequence[float] = (),
    output_pixel_offsets: Sequence[float] = (),
    antialiased: bool = False,
) -> GraphExpression:
    """RESAMPLE2, or RESAMPLE3 if it is antialiased."""
    count = len(input.shape)
    attributes = {
        "output_sizes": list(output_sizes),
        "mode": mode,
        "rounding_direction": rounding_direction,
        "scales": list(scales) or [new / old for new, old in zip(output_sizes, input.shape)],
        "input_pixel_offsets": list(input_pixel_offsets) or [0.5] * count,
        "output_pixel_offsets": list(output_pixel_offsets) or [-0.5] * count,
    }
    method = "resample2"
    if antialiased:
        method, attributes["antialiased"] = "resample3", True
    result: GraphExpression = call(input.value.graph, method, [input], attributes)
    return result


def upsample_2d(
    input: GraphExpression, *, scale_size: Sequence[int], interpolation_mode: InterpolationMode
) -> GraphExpression:
    """UPSAMPLE_2D; ``scale_size`` is the width's and the height's factor."""
    attributes = {"scale_size": tuple(scale_size), "interpolation_mode": interpolation_mode}
    result: GraphExpression = call(input.value.graph, "upsample_2d", [input], attributes)
    return result


def multihead_attention(
    query: GraphExpression, key: GraphExpression, value: GraphExpression, *, head_count: int, scale: float
) -> GraphExpression:
    """MULTIHEAD_ATTENTION without a mask, of tensors of ``{batch, 1, tokens, width}``."""
    attributes = {
        "head_count": head_count,
        "scale": scale,
        "mask_filter_value": -1e7,
        "mask_type": c.DML_MULTIHEAD_ATTENTION_MASK_TYPE_NONE,
    }
    tensors = [_with_batch_second(one) for one in (query, key, value)]
    made = call(query.value.graph, "multihead_attention", tensors, attributes)
    result: GraphExpression = made[0] if isinstance(made, list) else made
    return _with_batch_second(result)


def _with_batch_second(tensor: GraphExpression) -> GraphExpression:
    """The same bytes with the first two sizes swapped, one of which is 1: the operator's batch is the second."""
    first, second, *rest = tensor.shape
    if first == second or 1 not in (first, second):
        return tensor
    return type(tensor).of(tensor.value.graph.reinterpret(tensor.value, sizes=[second, first, *rest]))


def roi_align(
    input: GraphExpression,
    roi: GraphExpression,
    batch_indices: GraphExpression,
    *,
    output_height: int,
    output_width: int,
    **attributes: Any,
) -> GraphExpression:
    """ROI_ALIGN1, with its attributes as keywords."""
    sizes = [roi.shape[-2], input.shape[1], output_height, output_width]
    tensors, keywords = [input, roi, batch_indices], {**attributes, "output_sizes": sizes}
    result: GraphExpression = call(input.value.graph, "roi_align1", tensors, keywords)
    return result


def _scalar(name: str, value: Any, dtype: np.dtype[Any]) -> Any:
    scalar = np.asarray(value)
    with np.errstate(all="ignore"):
        converted = scalar.astype(dtype)
    if dtype.kind != "f" and converted != scalar:
        raise ValueError(f"{name}={value!r} is not a {dtype}")
    return converted.item()


def _filled(graph: Graph, method: str, sizes: Sequence[int], dtype: Any, numbers: Mapping[str, Any]) -> Any:
    kind = as_dtype(np.float32 if dtype is None else dtype)
    number = data_type_number(kind, "dtype")
    keywords = {name: _scalar(name, value, kind) for name, value in numbers.items()}
    types = {"value_data_type": number, "output_data_type": number}
    return call(graph.graph, method, [], {**keywords, **types, "output_sizes": list(sizes)})


def fill_value_constant(
    graph: Graph, *, sizes: Sequence[int], value: Any, dtype: Any = None
) -> GraphExpression:
    """FILL_VALUE_CONSTANT, FLOAT32 without ``dtype``."""
    result: GraphExpression = _filled(graph, "fill_value_constant", sizes, dtype, {"value": value})
    return result


def fill_value_sequence(
    graph: Graph, *, sizes: Sequence[int], value_start: Any, value_delta: Any, dtype: Any = None
) -> GraphExpression:
    """FILL_VALUE_SEQUENCE, FLOAT32 without ``dtype``."""
    numbers = {"value_start": value_start, "value_delta": value_delta}
    result: GraphExpression = _filled(graph, "fill_value_sequence", sizes, dtype, numbers)
    return result


class _ByName(type):
    """Declares the activations to type checkers; they are made from the table."""

    def __getattr__(cls, name: str) -> Callable[..., FusedActivation]:
        raise AttributeError(f"{cls.__name__} has no activation {name!r}")


class FusedActivation(expressions.FusedActivation, metaclass=_ByName):
    """An activation that an operator applies to its result, also by name: ``FusedActivation.relu()``."""

    @classmethod
    def _add(cls, name: str, defaults: Mapping[str, Any]) -> None:
        activation = "INVALID" if name == "none" else f"ACTIVATION_{name.upper()}"
        parameters = [
            inspect.Parameter(one, POSITIONAL, default=default) for one, default in defaults.items()
        ]
        signature = inspect.Signature(parameters)

        def make(*arguments: Any, **keywords: Any) -> FusedActivation:
            bound = signature.bind(*arguments, **keywords)
            bound.apply_defaults()
            return cls(OperatorType.__members__[activation], *bound.args)  # type: ignore[arg-type]

        make.__name__ = name
        make.__signature__ = signature  # type: ignore[attr-defined]
        setattr(cls, name, staticmethod(make))


NO_DEFAULT = inspect.Parameter.empty
for _name in ("none", "identity", "relu", "sigmoid", "softsign", "tanh", "gelu"):
    FusedActivation._add(_name, {})
for _name, _method, _tensors, _attributes in TABLE:
    if _name.startswith("activation_") and _attributes:
        defaults = {name: NO_DEFAULT if value is KEYWORD else value for name, value in _attributes.items()}
        FusedActivation._add(_name.removeprefix("activation_"), defaults)
FusedActivation._add("linear", {"alpha": NO_DEFAULT, "beta": NO_DEFAULT})

__all__ = [
    "AxisDirection",
    "DepthSpaceOrder",
    "FusedActivation",
    "IsInfinityMode",
    "NonZeroCoordinatesOutputs",
    "OperatorType",
    "RandomGeneratorOutputs",
    "RandomGeneratorType",
    "ReduceFunction",
    "RoundingMode",
    "TopKOutputs",
    "fill_value_constant",
    "fill_value_sequence",
    "multihead_attention",
    "non_zero_coordinates",
    "pow",
    "random_generator",
    "reduce",
    "resample",
    "roi_align",
    "top_k",
    "upsample_2d",
    "where",
]
__all__ += FUNCTIONS
globals().update(FUNCTIONS)
