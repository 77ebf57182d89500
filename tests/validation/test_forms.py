"""``validate`` accepts a desc in every documented form, and rejects everything else."""

from __future__ import annotations

import ctypes

import numpy as np
import pytest

import directml_py as dml
from directml_py.cffi import ffi
from directml_py.descs import decode_operator_desc


def tensor(*sizes):
    return dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, sizes)


def join(axis=0):
    return dml.DML_JOIN_OPERATOR_DESC(
        InputTensors=[tensor(1, 3), tensor(2, 3)], OutputTensor=tensor(3, 3), Axis=axis
    )


class Foreign(ctypes.Structure):
    """DML_OPERATOR_DESC as another package would declare it."""

    _fields_ = (("kind", ctypes.c_uint), ("body", ctypes.c_void_p))


def wrap(desc):
    return dml.DML_OPERATOR_DESC(dml.DML_OPERATOR_JOIN, desc)


def in_cffi(desc):
    found = ffi.new("DML_OPERATOR_DESC *")
    found.Type = ffi.dlopen(None).DML_OPERATOR_JOIN
    found.Desc = ffi.cast("void *", ctypes.addressof(desc))
    return found


# How to make the form; the desc itself stays alive at the call.
FORMS = {
    "typed": lambda desc: desc,
    "byref of typed": ctypes.byref,
    "pointer to typed": ctypes.pointer,
    "typed in cffi": lambda desc: ffi.cast("DML_JOIN_OPERATOR_DESC *", ctypes.addressof(desc)),
    "typed in cffi, by reference": lambda desc: ffi.cast("DML_JOIN_OPERATOR_DESC *", ctypes.addressof(desc))[
        0
    ],
    "array of one typed": lambda desc: (dml.DML_JOIN_OPERATOR_DESC * 1)(desc),
    "wrapped": wrap,
    "byref": lambda desc: ctypes.byref(wrap(desc)),
    "pointer": lambda desc: ctypes.pointer(wrap(desc)),
    "cast to void": lambda desc: ctypes.cast(ctypes.pointer(wrap(desc)), ctypes.c_void_p),
    "cast to foreign": lambda desc: ctypes.cast(ctypes.pointer(wrap(desc)), ctypes.POINTER(Foreign)),
    "array of one": lambda desc: (dml.DML_OPERATOR_DESC * 1)(wrap(desc)),
    "foreign": lambda desc: Foreign(dml.DML_OPERATOR_JOIN, ctypes.addressof(desc)),
    "byref of foreign": lambda desc: ctypes.byref(Foreign(dml.DML_OPERATOR_JOIN, ctypes.addressof(desc))),
    "pointer to foreign": lambda desc: ctypes.pointer(Foreign(dml.DML_OPERATOR_JOIN, ctypes.addressof(desc))),
    "cffi": in_cffi,
    "cffi by reference": lambda desc: in_cffi(desc)[0],
    "decoded": lambda desc: decode_operator_desc(desc).desc,
}


@pytest.mark.parametrize("name", FORMS)
def test_forms(name):
    for axis, rules in ((0, []), (2, ["DML-JOIN-axis"])):
        desc = join(axis)
        form = FORMS[name](desc)
        assert [found.rule for found in dml.validate(form)] == rules


@pytest.mark.parametrize(
    "convert", [int, np.uint64, ctypes.c_void_p, lambda address: ffi.cast("void *", address)]
)
def test_addresses(convert):
    for axis, rules in ((0, []), (2, ["DML-JOIN-axis"])):
        desc = wrap(join(axis))
        assert [found.rule for found in dml.validate(convert(ctypes.addressof(desc)))] == rules


def test_the_desc_is_copied():
    desc = join()
    decoded = decode_operator_desc(desc).desc
    desc.Axis = 7
    assert dml.validate(decoded) == []
    assert dml.validate(desc) != []


NOT_DESCS = [
    1.5,
    "DML_JOIN_OPERATOR_DESC",
    b"bytes",
    True,
    object(),
    [],
    (1, 2),
    {},
    dml.DML_JOIN_OPERATOR_DESC,
    dml.DML_OPERATOR_JOIN.__class__,
    tensor(1),
    dml.DML_BUFFER_TENSOR_DESC(),
    dml.DML_BINDING_DESC(),
    dml.DML_GRAPH_DESC(),
    dml.DML_SCALAR_UNION(),
    ctypes.byref(dml.DML_BUFFER_TENSOR_DESC()),
    ctypes.pointer(dml.DML_BUFFER_TENSOR_DESC()),
    ffi.new("DML_BUFFER_TENSOR_DESC *"),
    ffi.new("DML_TENSOR_DESC *"),
    ffi.new("int *"),
    ffi.cast("int", 3),
    ctypes.c_int(3),
    np.zeros(16, np.uint8),
]


@pytest.mark.parametrize("value", NOT_DESCS, ids=lambda value: type(value).__name__)
def test_what_is_no_desc(value):
    with pytest.raises(TypeError, match=r"^desc must be "):
        dml.validate(value)
    device = dml.DMLCreateDevice(dml.D3D12CreateDevice())
    with pytest.raises(TypeError, match=r"^desc must be "):
        device.CreateOperator(value)
    assert device.GetDeviceRemovedReason() == dml.S_OK


def test_feature_levels():
    with pytest.raises(TypeError, match="feature_level must be an integer, not str"):
        dml.validate(join(), feature_level="6_4")
    with pytest.raises(dml.DMLError, match="feature_level must be a DML_FEATURE_LEVEL"):
        dml.validate(join(), feature_level=0x7777)
    with pytest.raises(TypeError):
        dml.validate(join(), dml.DML_FEATURE_LEVEL_1_0)


@pytest.mark.parametrize("level", dml.DML_FEATURE_LEVEL)
def test_every_operator_at_every_level(level):
    """No desc, however empty, makes validation itself fail; operators that are too new are always reported."""
    for op in dml.DML_OPERATOR_TYPE:
        if not op:
            continue
        name = op.name.removeprefix("DML_OPERATOR_")
        found = dml.validate(getattr(dml, f"DML_{name}_OPERATOR_DESC")(), feature_level=level)
        assert found
        assert all(item.rule.startswith("DML-") for item in found)
