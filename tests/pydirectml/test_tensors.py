"""TensorDesc's four constructors, TensorData and Size2D."""

from __future__ import annotations

import numpy as np
import pytest

from directml_py import pydirectml as dml

FLOAT32, FLOAT16 = dml.TensorDataType.FLOAT32, dml.TensorDataType.FLOAT16
OWNED = dml.TensorFlags.OWNED_BY_DML


@pytest.mark.parametrize(
    ("arguments", "flags", "strides", "total", "alignment"),
    [
        ((FLOAT32, [1, 3, 8, 8]), 0, None, 768, 0),
        ((FLOAT16, (1, 1, 1, 3)), 0, None, 8, 0),
        ((FLOAT32, [1, 3, 8, 8], dml.TensorPolicy.default), 0, None, 768, 0),
        ((FLOAT32, [1, 3, 8, 8], dml.TensorPolicy.interleaved_channel), 0, [192, 1, 24, 3], 768, 0),
        ((FLOAT32, OWNED, [1, 3, 8, 8]), 1, None, 768, 0),
        ((FLOAT32, OWNED, [1, 3, 8, 8], dml.TensorPolicy.interleaved_channel), 1, [192, 1, 24, 3], 768, 0),
        ((FLOAT32, [1, 8, 28, 28], [8, 1, 0, 0]), 0, [8, 1, 0, 0], 32, 0),
        ((FLOAT32, [1, 8], None), 0, None, 32, 0),
        ((FLOAT32, OWNED, [1, 8], [16, 2], 64, 32), 1, [16, 2], 64, 32),
        ((FLOAT32, OWNED, [1, 8], None, 128, 0), 1, None, 128, 0),
    ],
)
def test_constructors(arguments, flags, strides, total, alignment):
    desc = dml.TensorDesc(*arguments)
    sizes = next(one for one in arguments if isinstance(one, (list, tuple)))
    assert desc.data_type == arguments[0]
    assert isinstance(desc.flags, dml.TensorFlags)
    assert (int(desc.flags), desc.sizes, desc.strides) == (flags, list(sizes), strides)
    assert (desc.total_tensor_size_in_bytes, desc.guaranteed_base_offset_alignment) == (total, alignment)


def test_five_dimensions_interleaved():
    desc = dml.TensorDesc(FLOAT32, [2, 3, 4, 5, 6], dml.TensorPolicy.interleaved_channel)
    assert desc.strides == [360, 1, 90, 18, 3]


def test_keywords_and_repr():
    desc = dml.TensorDesc(data_type=FLOAT32, flags=OWNED, sizes=[1, 2, 3, 4])
    assert repr(desc) == "dml.TensorDesc of type 1 and shape [1,2,3,4] with flags 1"
    assert dml.TensorDesc(sizes=[2], strides=[3], data_type=FLOAT32).strides == [3]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((1, [1]), "data_type must be a TensorDataType, not int"),
        ((FLOAT32, [1.5]), r"sizes\[0\] must be an int, not float"),
        ((FLOAT32, [-1]), r"sizes\[0\] must be from 0 to 4294967295, not -1"),
        ((FLOAT32,), "missing a required argument: 'sizes'"),
        ((FLOAT32, "12"), "sizes must be a list, not str"),
    ],
)
def test_refused(arguments, said):
    with pytest.raises(TypeError, match=rf"TensorDesc\(\) has no matching overload: .*{said}"):
        dml.TensorDesc(*arguments)


def test_strides_of_another_count():
    with pytest.raises(ValueError, match="strides has 1 element, sizes has 2"):
        dml.TensorDesc(FLOAT32, [1, 2], [1])


def test_opaque_classes():
    for kind in (dml.Dimensions, dml.TensorPolicy, dml.Model):
        with pytest.raises(TypeError, match="No constructor defined"):
            kind()


def test_tensor_data():
    source = np.arange(6, dtype=np.float64).reshape(2, 3).T
    data = dml.TensorData(source)
    view = memoryview(data)
    assert (view.format, view.itemsize, view.shape, view.strides) == ("f", 4, (3, 2), (8, 4))
    source[:] = 9
    assert np.array(data).tolist() == [[0, 3], [1, 4], [2, 5]]


def test_size():
    size = dml.Size2D(2, 3)
    size.width = 5
    assert (size.width, size.height) == (5, 3)
    with pytest.raises(TypeError):
        dml.Size2D(width=1, height=2)
    with pytest.raises(TypeError, match=r"Size2D\(\): height must be from 0"):
        dml.Size2D(1, -1)
