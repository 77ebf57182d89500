"""IDMLDevice::CheckFeatureSupport."""

from __future__ import annotations

import ctypes
import mmap

import pytest

import directml_py as dml
from directml_py.cffi import ffi

TYPES, LEVELS = dml.DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT, dml.DML_FEATURE_FEATURE_LEVELS
TypeQuery, TypeData = (
    dml.DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT,
    dml.DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT,
)
LevelQuery, LevelData = dml.DML_FEATURE_QUERY_FEATURE_LEVELS, dml.DML_FEATURE_DATA_FEATURE_LEVELS
D3D12 = dml.D3D12CreateDevice()


def device(level=0x6400):
    return dml.DMLCreateDevice(D3D12, feature_level=level)


def levels(*values):
    return LevelQuery(RequestedFeatureLevels=list(values))


def highest(level, *asked):
    answer = LevelData()
    device(level).CheckFeatureSupport(LEVELS, levels(*asked), answer)
    return answer.MaxSupportedFeatureLevel


def refused(hresult, *arguments, on=None, words=()):
    with pytest.raises(dml.DMLError) as caught:
        (on or device()).CheckFeatureSupport(*arguments)
    assert caught.value.hresult == hresult
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("level", "asked", "found"),
    [
        # The page's example: never a level that was not requested.
        (0x3000, (0x1000, 0x2000), 0x2000),
        (0x3000, (0x3000, 0x1000), 0x3000),
        (0x3000, (0x6400, 0x2100, 0x3100, 0x2000), 0x2100),
        (0x2000, (0x6400, 0x1000), 0x1000),
        (0x6400, (0x6400,), 0x6400),
        # Numbers are compared, even if they are not levels.
        (0x3000, (0x2500, 0x2000), 0x2500),
        (0x6200, (0x1234,), 0x1234),
        (0x6200, (0x6201, 0x6200, 0x1000), 0x6200),
        (0x6200, (-1, 1, 0), 1),
    ],
)
def test_feature_levels(level, asked, found):
    assert highest(level, *asked) == found


@pytest.mark.parametrize("asked", [(0x3000, 0x2500), (0x2101,), (0,), (-1,), (0, -1), (-(1 << 31),), ()])
def test_no_level_is_supported(asked):
    """The result is still written."""
    answer = LevelData(0x1234)
    refused(dml.DXGI_ERROR_UNSUPPORTED, LEVELS, levels(*asked), answer, on=device(0x2100))
    assert answer.MaxSupportedFeatureLevel == 0


@pytest.mark.kind_device
@pytest.mark.parametrize(
    ("names", "since"),
    [
        (("FLOAT32", "FLOAT16", "UINT32", "UINT16", "UINT8", "INT32", "INT16", "INT8"), 0x1000),
        (("FLOAT64", "UINT64", "INT64"), 0x3000),
        (("UINT4", "INT4"), 0x6300),
    ],
)
def test_data_types(names, since):
    for level in dml.DML_FEATURE_LEVEL:
        for name in names:
            answer = TypeData(7)
            query = TypeQuery(dml.DML_TENSOR_DATA_TYPE[f"DML_TENSOR_DATA_TYPE_{name}"])
            device(level).CheckFeatureSupport(TYPES, query, answer)
            assert answer.IsSupported == int(level >= since)


@pytest.mark.parametrize("number", [0, -1, 14, 15, 99])
def test_unknown_data_types(number):
    answer = TypeData(7)
    device().CheckFeatureSupport(TYPES, TypeQuery(number), answer)
    assert answer.IsSupported == 0


def test_the_c_form():
    query, answer = TypeQuery(dml.DML_TENSOR_DATA_TYPE_FLOAT16), TypeData()
    device().CheckFeatureSupport(TYPES, ctypes.sizeof(query), query, ctypes.sizeof(answer), answer)
    assert answer.IsSupported == 1
    query, answer = levels(0x1000, 0x2000), LevelData()
    device().CheckFeatureSupport(LEVELS, ctypes.sizeof(query), query, ctypes.sizeof(answer), answer)
    assert answer.MaxSupportedFeatureLevel == 0x2000


@pytest.mark.parametrize(
    "pointer",
    [
        ctypes.byref,
        ctypes.pointer,
        ctypes.addressof,
        lambda x: ctypes.cast(ctypes.pointer(x), ctypes.c_void_p),
    ],
)
def test_pointers(pointer):
    query, answer = levels(0x1000, 0x5000), LevelData()
    device().CheckFeatureSupport(LEVELS, 16, pointer(query), 4, pointer(answer))
    assert answer.MaxSupportedFeatureLevel == 0x5000
    answer = LevelData()
    device().CheckFeatureSupport(LEVELS, pointer(query), pointer(answer))
    assert answer.MaxSupportedFeatureLevel == 0x5000


def test_cffi_pointers():
    asked = ffi.new("int32_t[]", [0x1000, 0x4100])
    query = ffi.new("DML_FEATURE_QUERY_FEATURE_LEVELS *")
    query.RequestedFeatureLevelCount = 2
    query.RequestedFeatureLevels = ffi.cast("DML_FEATURE_LEVEL *", asked)
    answer = ffi.new("DML_FEATURE_DATA_FEATURE_LEVELS *")
    device().CheckFeatureSupport(LEVELS, ffi.sizeof(query[0]), query, ffi.sizeof(answer[0]), answer)
    assert answer.MaxSupportedFeatureLevel == 0x4100


@pytest.mark.parametrize("feature", [2, 99, 0xFFFFFFFF])
def test_unknown_features(feature):
    refused(dml.DXGI_ERROR_UNSUPPORTED, feature, TypeQuery(), TypeData(), words=["feature", str(feature)])


def test_sizes_that_are_too_small():
    query, answer = TypeQuery(dml.DML_TENSOR_DATA_TYPE_FLOAT32), TypeData(7)
    for size in (0, 3):
        refused(dml.E_INVALIDARG, TYPES, size, query, 4, answer, words=["featureQueryDataSize"])
        refused(dml.E_INVALIDARG, TYPES, 4, query, size, answer, words=["featureSupportDataSize"])
    refused(dml.E_INVALIDARG, LEVELS, 12, levels(0x1000), 4, LevelData(), words=["featureQueryDataSize"])
    assert answer.IsSupported == 7


@pytest.mark.kind_device
def test_sizes_that_are_too_large():
    """Memory after the structs is unchanged; a strict device requires their exact sizes."""
    query, answer = (TypeQuery * 2)(TypeQuery(1), TypeQuery(99)), (TypeData * 2)(TypeData(7), TypeData(7))
    device().CheckFeatureSupport(TYPES, 8, query, 8, answer)
    assert [one.IsSupported for one in answer] == [1, 7]
    strict = dml.DMLCreateDevice(D3D12, profile="strict")
    for sizes, word in (((8, 4), "featureQueryDataSize"), ((4, 8), "featureSupportDataSize")):
        refused(dml.E_INVALIDARG, TYPES, sizes[0], query, sizes[1], answer, on=strict, words=[word])


def test_nulls():
    query, answer = TypeQuery(dml.DML_TENSOR_DATA_TYPE_FLOAT32), TypeData(7)
    refused(dml.E_INVALIDARG, TYPES, 0, None, 4, answer, words=["featureQueryData"])
    refused(dml.E_INVALIDARG, TYPES, 4, query, 4, None, words=["featureSupportData"])
    refused(dml.E_INVALIDARG, TYPES, query, 0, words=["featureSupportData"])
    refused(dml.E_INVALIDARG, LEVELS, LevelQuery(2, None), LevelData(), words=["RequestedFeatureLevels"])
    assert answer.IsSupported == 7


def test_structs_of_the_other_feature():
    with pytest.raises(TypeError, match="featureQueryData"):
        device().CheckFeatureSupport(TYPES, levels(0x1000), TypeData())
    with pytest.raises(TypeError, match="featureSupportData"):
        device().CheckFeatureSupport(TYPES, TypeQuery(), LevelData())
    with pytest.raises(TypeError, match="featureSupportData"):
        device().CheckFeatureSupport(TYPES, TypeQuery(), "answer")


def test_memory_that_cannot_be_used():
    query = TypeQuery(dml.DML_TENSOR_DATA_TYPE_FLOAT32)
    refused(dml.E_INVALIDARG, TYPES, 4, 0x10, 4, TypeData(), words=["featureQueryData"])
    refused(dml.E_INVALIDARG, TYPES, 4, query, 4, 0x10, words=["featureSupportData"])
    refused(
        dml.E_INVALIDARG,
        LEVELS,
        LevelQuery(1, ctypes.cast(0x10, ctypes.POINTER(ctypes.c_int32))),
        LevelData(),
    )


def test_read_only_memory():
    page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ)
    block = ffi.from_buffer(page)
    address = int(ffi.cast("uintptr_t", block))
    refused(dml.E_INVALIDARG, TYPES, 4, TypeQuery(1), 4, address, words=["featureSupportData"])
