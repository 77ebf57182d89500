"""How far the results of an operator are from the nearest floats."""

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


class Errors(NamedTuple):
    """``ulps``: the largest distance from a nearest float; ``off``: how many of ``total`` results are none.

    ``where`` says at which inputs the distance is largest, nothing where it is 0.
    """

    total: int
    off: int
    ulps: int
    where: str


def errors(results: Array, wanted: Array, inputs: Sequence[Array], text: str = "") -> Errors:
    """The errors of ``results``, where ``wanted`` are those of FLOAT64; ``inputs`` and ``text`` say where."""
    with np.errstate(all="ignore"):
        nearest = wanted.astype(results.dtype)
    steps = ulps_apart(results, nearest)
    place = np.unravel_index(int(np.argmax(steps)), steps.shape)
    ulps = int(steps[place])
    operands = ", ".join([*(spelled(x, place) for x in inputs), *([text] if text else [])])
    where = f"{results[place]!s} for {operands}; {wanted[place]:.10g} is right" if ulps else ""
    return Errors(results.size, int(np.count_nonzero(steps)), ulps, where)


def spelled(x: Array, place: Any) -> str:
    """The number that the result at ``place`` belongs to; of a matrix the whole row."""
    return str(x[place]) if x.ndim == 1 else f"{x[place[0]].tolist()}[{place[1]}]"


def measured(operator: str, dtype: DType, density: int) -> Errors:
    """The errors of an operator, as ``evaluate`` runs it, with all attributes that it is tried with."""
    function = FUNCTIONS[operator]
    inputs = function.sampler(dtype, density)
    every = []
    for attributes in function.attributes:
        # Attributes of descs are FLOATs; limits are compared with elements in the type of these.
        kept = dtype if "Min" in attributes else FLOAT32
        numbers = {name: rounded(value, kept) for name, value in attributes.items()}
        with np.errstate(all="ignore"):
            wanted = function.reference(*inputs, **numbers)
        every.append(errors(evaluated(operator, inputs, attributes), wanted, inputs, spelled_out(attributes)))
    worst = max(every, key=lambda one: one.ulps)
    return Errors(sum(one.total for one in every), sum(one.off for one in every), worst.ulps, worst.where)


def spelled_out(attributes: Attributes) -> str:
    return ", ".join(f"{name} {value}" for name, value in attributes.items())


def rounded(value: Any, dtype: DType) -> Any:
    return float(dtype.type(value)) if isinstance(value, float) else value


def evaluated(operator: str, inputs: Sequence[Array], attributes: Attributes) -> Array:
    """What the operator makes of FLOAT tensors that lie in memory like the arrays."""
    x = inputs[0]
    tensors = {
        field.name: dml.tensor_desc(DATA_TYPES[x.dtype.name], x.shape)
        for field in SCHEMAS[operator].struct.tensors
    }
    make: Callable[..., Any] = getattr(dml, f"DML_{operator}_OPERATOR_DESC")
    (results,) = dml.evaluate(make(**tensors, **fields_of(operator, x.dtype, attributes)), inputs)
    return np.asarray(results)


def fields_of(operator: str, dtype: DType, attributes: Attributes) -> dict[str, Any]:
    """Attributes as the desc has them, which may be unions of the tensors' data type."""
    if "MinMaxDataType" not in SCHEMAS[operator].struct.index:
        return dict(attributes)
    unions = {
        name: dml.DML_SCALAR_UNION.from_buffer_copy(dtype.type(value).tobytes().ljust(8, b"\0"))
        for name, value in attributes.items()
    }
    return {**unions, "MinMaxDataType": DATA_TYPES[dtype.name]}


def tolerance(operator: str, dtype: DType) -> int:
    return FUNCTION_TOLERANCES.get(operator, EXACT)[dtype.name]
