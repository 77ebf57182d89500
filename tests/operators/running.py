"""Operators run on arrays, whose types say those of the tensors."""

from __future__ import annotations

import numpy as np

import directml_py as dml

from .helpers import numpy_type, tensor, tensor_of


def run(name, *inputs, output=None, **attributes):
    """What an operator gives for its inputs; ``output`` is a data type, that of the first input if left out.

    NumPy's own warnings are errors in these tests.
    """
    struct = getattr(dml, f"DML_{name}_OPERATOR_DESC")
    tensors = [field for field, _ in struct._fields_ if field.endswith("Tensor")]
    first = next(one for one in inputs if one is not None)
    descs = [None if one is None else tensor_of(one) for one in inputs]
    descs.append(tensor(output or first.dtype.name.upper(), first.shape))
    return dml.evaluate(struct(**dict(zip(tensors, descs)), **attributes), list(inputs))[0]


def array(name, *values):
    with np.errstate(over="ignore"):
        return np.array(values, numpy_type(name))


def scalar(kind, number):
    return dml.DML_SCALAR_UNION.from_buffer_copy(array(kind, number).tobytes().ljust(8, b"\0"))
