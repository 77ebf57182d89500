"""Variants of ONNX's cases: other ways to give a model its inputs, and other element types."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterator

import numpy as np
from onnx import AttributeProto, GraphProto, TensorProto, ValueInfoProto, numpy_helper

from .judging import cpu_outputs
from .node_models import ProviderCase
from .tensors import Array

# The types that models of FLOAT are converted to, in the group "types".
TYPES = {
    TensorProto.DataType.Name(kind).lower(): kind
    for kind in (
        TensorProto.INT8, TensorProto.INT16, TensorProto.INT32, TensorProto.INT64, TensorProto.UINT8,
        TensorProto.UINT16, TensorProto.UINT32, TensorProto.UINT64, TensorProto.BOOL, TensorProto.DOUBLE,
    )
}  # fmt: skip
# These attributes hold the number of an element type.
TYPE_ATTRIBUTES = ("to", "dtype", "output_dtype", "stash_type")


def constant_inputs(case: ProviderCase) -> Iterator[ProviderCase]:
    """All inputs but the first as initializers, which the provider uploads when the operator is initialized."""
    if len(case.inputs) < 2:
        return
    model = copy.deepcopy(case.model)
    constants = {tensor.name: tensor for tensor in case.inputs[1:]}
    del model.graph.input[:]
    model.graph.input.extend(value for value in case.model.graph.input if value.name not in constants)
    model.graph.initializer.extend(constants.values())
    yield case._replace(group="constants", model=model, inputs=case.inputs[:1])


def eager(case: ProviderCase) -> Iterator[ProviderCase]:
    """The same without the provider's fusion of operators to graphs: one operator is one dispatch."""
    for variant in constant_inputs(case):
        yield variant._replace(group="eager")


def symbolic_sizes(case: ProviderCase) -> Iterator[ProviderCase]:
    """All sizes unknown until the model runs."""
    if not any(tensor.dims for tensor in case.inputs):
        return
    model = copy.deepcopy(case.model)
    del model.graph.value_info[:]
    for value in (*model.graph.input, *model.graph.output):
        for axis, size in enumerate(value.type.tensor_type.shape.dim):
            size.dim_param = f"{value.name}_{axis}"
    yield case._replace(group="symbolic", model=model)


def half(case: ProviderCase) -> Iterator[ProviderCase]:
    if converted := _converted(case, "float16", TensorProto.FLOAT16, _cast_to_half):
        expected = [_tensor(tensor, TensorProto.FLOAT16, _cast_to_half) for tensor in case.expected or ()]
        yield converted._replace(expected=expected)


def other_types(case: ProviderCase) -> Iterator[ProviderCase]:
    for name, kind in TYPES.items():
        dtype = np.dtype(numpy_helper.to_array(TensorProto(data_type=kind, dims=[0])).dtype)
        converted = _converted(case, "types", kind, functools.partial(_cast, dtype=dtype))
        if converted is None:
            continue
        expected = cpu_outputs(converted.model, converted.inputs)
        # ONNX has few of its operators for all types, and ONNX Runtime fewer.
        if not isinstance(expected, str):
            yield converted._replace(name=f"{case.name}:{name}", expected=expected)


def _cast_to_half(array: Array) -> Array:
    with np.errstate(over="ignore"):
        return array.astype(np.float16)


def _cast(array: Array, dtype: np.dtype[np.generic]) -> Array:
    """Values that survive the conversion: small integers, without a sign where the type has none.

    Scalars keep their values: some are sizes.
    """
    if dtype.kind == "f":
        return array.astype(dtype)
    with np.errstate(all="ignore"):
        finite = np.nan_to_num(array, nan=0.0, posinf=100.0, neginf=-100.0).astype(np.float64)
        whole = np.rint(finite * (3 if array.ndim else 1))
    if dtype.kind == "b":
        return np.asarray(whole % 2 == 0)
    return np.clip(np.abs(whole) if dtype.kind == "u" else whole, -100, 100).astype(dtype)


def _converted(
    case: ProviderCase, group: str, kind: int, cast: Callable[[Array], Array]
) -> ProviderCase | None:
    """The case with ``kind`` in the place of FLOAT; None if it has no tensor of FLOAT."""
    model = copy.deepcopy(case.model)
    inputs = [_tensor(tensor, kind, cast) for tensor in case.inputs]
    values = [*model.graph.input, *model.graph.output]
    if not any(value.type.tensor_type.elem_type == TensorProto.FLOAT for value in values):
        return None
    _convert_graph(model.graph, kind, cast)
    # ONNX's outputs are those of FLOAT.
    return case._replace(group=group, model=model, inputs=inputs, expected=None)


def _tensor(tensor: TensorProto, kind: int, cast: Callable[[Array], Array]) -> TensorProto:
    if tensor.data_type != TensorProto.FLOAT:
        return tensor
    return numpy_helper.from_array(cast(numpy_helper.to_array(tensor)), tensor.name)


def _convert_graph(graph: GraphProto, kind: int, cast: Callable[[Array], Array]) -> None:
    values: list[ValueInfoProto] = [*graph.input, *graph.output, *graph.value_info]
    for value in values:
        if value.type.tensor_type.elem_type == TensorProto.FLOAT:
            value.type.tensor_type.elem_type = kind
    for tensor in graph.initializer:
        tensor.CopyFrom(_tensor(tensor, kind, cast))
    for node in graph.node:
        for attribute in node.attribute:
            if attribute.type == AttributeProto.GRAPH:
                _convert_graph(attribute.g, kind, cast)
            elif attribute.type == AttributeProto.TENSOR:
                attribute.t.CopyFrom(_tensor(attribute.t, kind, cast))
            elif attribute.name in TYPE_ATTRIBUTES and attribute.i == TensorProto.FLOAT:
                attribute.i = kind


VARIANTS: dict[str, Callable[[ProviderCase], Iterator[ProviderCase]]] = {
    "constants": constant_inputs,
    "eager": eager,
    "symbolic": symbolic_sizes,
    "float16": half,
    "types": other_types,
}
# Entries of the session's configuration, by group.
OPTIONS = {"eager": ("ep.dml.disable_graph_fusion=1",)}
