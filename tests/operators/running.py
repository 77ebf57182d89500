"""Runs operators on arrays, whose types give those of the tensors."""

from __future__ import annotations

import numpy as np

import directml_py as dml
from directml_py.operators import SCHEMAS

from .helpers import numpy_type, tensor, tensor_of


def run(name, *inputs, output=None, **attributes):
    """An operator's result for its inputs; ``output`` is a data type, by default that of the first input.

    NumPy's own warnings are errors in these tests.
    """
    struct = getattr(dml, f"DML_{name}_OPERATOR_DESC")
    tensors = [field for field, _ in struct._fields_ if field.endswith("Tensor")]
    first = next(one for one in inputs if one is not None)
    descs = [None if one is None else tensor_of(one) for one in inputs]
    descs.append(tensor(output or first.dtype.name.upper(), first.shape))
    return dml.evaluate(struct(**dict(zip(tensors, descs)), **attributes), list(inputs))[0]


def run_all(name, inputs, output_sizes, **attributes):
    """All outputs of an operator with these sizes, None for absent ones, that have the first input's type."""
    schema = SCHEMAS[name].struct
    kind = inputs[0].dtype.name.upper()
    tensors = [None if one is None else tensor_of(one) for one in inputs]
    tensors += [None if sizes is None else tensor(kind, sizes) for sizes in output_sizes]
    named = zip([field.name for field in schema.tensors], tensors, strict=True)
    struct = getattr(dml, f"DML_{name}_OPERATOR_DESC")
    return dml.evaluate(struct(**dict(named), **attributes), list(inputs))


def array(name, *values):
    with np.errstate(over="ignore"):
        return np.array(values, numpy_type(name))


def scalar(kind, number):
    return dml.DML_SCALAR_UNION.from_buffer_copy(array(kind, number).tobytes().ljust(8, b"\0"))
