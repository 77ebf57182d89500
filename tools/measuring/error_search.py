"""Measurement of an operator's errors in ULP."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

import directml_py as dml
from directml_py.operators import SCHEMAS
from directml_py.testing.tolerances import EXACT, FUNCTION_TOLERANCES, ulps_apart

from .magnitude_samples import Array, DType
from .measured_functions import FUNCTIONS, Attributes

DATA_TYPES = {
    "float16": dml.DML_TENSOR_DATA_TYPE_FLOAT16,
    "float32": dml.DML_TENSOR_DATA_TYPE_FLOAT32,
}

FLOAT32 = np.dtype(np.float32)
# The unit in the last place of subnormal FLOAT32.
SMALLEST = 2.0**-149


class Errors(NamedTuple):
    """``ulps``: the largest error; ``off``: how many of ``total`` results are not correctly rounded.

    ``where`` has the inputs with the largest error; it is empty if that is 0.
    """

    total: int
    off: int
    ulps: int
    where: str


def errors(
    results: Array, wanted: Array, inputs: Sequence[Array], text: str = "", granted: float | Array = 0.0
) -> Errors:
    """The errors of ``results`` against the FLOAT64 reference ``wanted``; ``inputs`` and ``text`` describe where.

    The ULP that fit into ``granted``, an absolute error, are not counted.
    """
    with np.errstate(all="ignore"):
        nearest = wanted.astype(results.dtype)
        free = np.nan_to_num(np.floor(granted / np.spacing(np.abs(nearest)).astype(np.float64)))
    steps = ulps_apart(results, nearest)
    steps -= np.minimum(steps, free.astype(np.uint64))
    index = np.unravel_index(int(np.argmax(steps)), steps.shape)
    ulps = int(steps[index])
    operands = ", ".join([*(spelled(x, index) for x in inputs), *([text] if text else [])])
    where = f"{results[index]!s} for {operands}; {wanted[index]:.10g} is right" if ulps else ""
    return Errors(results.size, int(np.count_nonzero(steps)), ulps, where)


def spelled(x: Array, place: Any) -> str:
    """The input number for the result at ``place``; for a matrix the whole row."""
    return str(x[place]) if x.ndim == 1 else f"{x[place[0]].tolist()}[{place[1]}]"


def measured(operator: str, dtype: DType, density: int, inputs: Sequence[Array] | None = None) -> Errors:
    """The errors of an operator as run by ``evaluate``, over all its test attributes; of its samples or ``inputs``."""
    function = FUNCTIONS[operator]
    if inputs is None:
        inputs = function.sampler(dtype, density)
    every = []
    for attributes in function.attributes:
        # Attributes of descs are FLOATs, but limits are compared in the elements' type.
        attribute_type = dtype if "Min" in attributes else FLOAT32
        numbers = {name: rounded(value, attribute_type) for name, value in attributes.items()}
        with np.errstate(all="ignore"):
            wanted = function.reference(*inputs, **numbers)
            factor = np.asarray(function.factor(*inputs, **numbers), np.float64)
        granted = np.abs(factor) * SMALLEST
        results = evaluated(operator, inputs, attributes)
        every.append(errors(results, wanted, inputs, spelled_out(attributes), granted))
    worst = max(every, key=lambda each: each.ulps)
    return Errors(sum(each.total for each in every), sum(each.off for each in every), worst.ulps, worst.where)


def spelled_out(attributes: Attributes) -> str:
    return ", ".join(f"{name} {value}" for name, value in attributes.items())


def rounded(value: Any, dtype: DType) -> Any:
    return float(dtype.type(value)) if isinstance(value, float) else value


def evaluated(operator: str, inputs: Sequence[Array], attributes: Attributes) -> Array:
    """The operator's results for FLOAT tensors with the layout of the arrays."""
    x = inputs[0]
    tensors = {
        field.name: dml.tensor_desc(DATA_TYPES[x.dtype.name], x.shape)
        for field in SCHEMAS[operator].struct.tensors
    }
    make: Callable[..., Any] = getattr(dml, f"DML_{operator}_OPERATOR_DESC")
    (results,) = dml.evaluate(make(**tensors, **fields_of(operator, x.dtype, attributes)), inputs)
    return np.asarray(results)


def fields_of(operator: str, dtype: DType, attributes: Attributes) -> dict[str, Any]:
    """Attributes as desc fields, which may be unions of the tensors' data type."""
    if "MinMaxDataType" not in SCHEMAS[operator].struct.index:
        return dict(attributes)
    unions = {
        name: dml.DML_SCALAR_UNION.from_buffer_copy(dtype.type(value).tobytes().ljust(8, b"\0"))
        for name, value in attributes.items()
    }
    return {**unions, "MinMaxDataType": DATA_TYPES[dtype.name]}


def tolerance(operator: str, dtype: DType) -> int:
    return FUNCTION_TOLERANCES.get(operator, EXACT)[dtype.name]
