"""``IDMLDevice::CheckFeatureSupport``."""

from __future__ import annotations

import ctypes
from typing import Any

from ..api.arguments import unsigned
from ..api.enums import DML_FEATURE, DML_FEATURE_LEVEL, DML_TENSOR_DATA_TYPE
from ..api.hresult import DXGI_ERROR_UNSUPPORTED, E_INVALIDARG, DMLError
from ..api.memory import MemoryFault, write
from ..api.pointers import check_type, locate
from ..api.structs import DML_FEATURE_DATA_FEATURE_LEVELS, DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT
from ..api.structure import Structure
from ..descs.decode import ctypes_class, decode_struct
from ..validation.memory import check_faults
from ..validation.report import Report
from ..validation.tensors import NEEDED_LEVEL


def answer(feature: DML_FEATURE, query: Any, level: int) -> Structure:
    """The support data for the decoded query struct of ``feature`` on a device of feature level ``level``."""
    if feature == DML_FEATURE.DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT:
        kind = query.DataType
        if not isinstance(kind, DML_TENSOR_DATA_TYPE):
            raise DMLError(E_INVALIDARG, f"DataType is {kind}, which is no DML_TENSOR_DATA_TYPE")
        known = kind != DML_TENSOR_DATA_TYPE.DML_TENSOR_DATA_TYPE_UNKNOWN
        return DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT(known and NEEDED_LEVEL.get(kind, 0) <= level)
    if not query.RequestedFeatureLevels:
        raise DMLError(E_INVALIDARG, "RequestedFeatureLevelCount is 0; at least one level must be asked for")
    supported = [asked for asked in query.RequestedFeatureLevels if asked in LEVELS and asked <= level]
    if not supported:
        raise DMLError(DXGI_ERROR_UNSUPPORTED, "none of RequestedFeatureLevels is supported")
    return DML_FEATURE_DATA_FEATURE_LEVELS(max(supported))


LEVELS = frozenset(int(level) for level in DML_FEATURE_LEVEL)
STRUCTS = {
    DML_FEATURE.DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT: (
        "DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT",
        DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT,
    ),
    DML_FEATURE.DML_FEATURE_FEATURE_LEVELS: (
        "DML_FEATURE_QUERY_FEATURE_LEVELS",
        DML_FEATURE_DATA_FEATURE_LEVELS,
    ),
}


def check_feature_support(
    level: int, feature: Any, query_size: Any, query: Any, support_size: Any, support: Any
) -> None:
    """Fill the struct at ``support``. Sizes are in bytes and may be None, which stands for the right one.

    Raises ``DMLError``: ``DXGI_ERROR_UNSUPPORTED`` for a feature that the device does not know or a request that
    it cannot meet, ``E_INVALIDARG`` for wrong sizes, null or unreadable data.
    """
    number = unsigned(feature, "feature", 32)
    if number not in [int(known) for known in DML_FEATURE]:
        raise DMLError(DXGI_ERROR_UNSUPPORTED, f"feature is {number}, which is no known DML_FEATURE")
    query_type, support_type = STRUCTS[DML_FEATURE(number)]
    record, faults = decode_struct(query, query_type, "featureQueryData")
    report = Report()
    check_faults(faults, report)
    report.raise_errors("CheckFeatureSupport failed:")
    check_size(query_size, ctypes.sizeof(ctypes_class(query_type)), "featureQueryDataSize")
    check_size(support_size, ctypes.sizeof(support_type), "featureSupportDataSize")
    target = locate(support, "featureSupportData")
    check_type(target, support_type, "featureSupportData")
    if not target.address:
        raise DMLError(E_INVALIDARG, f"featureSupportData is null; a {support_type.__name__} is required")
    result = answer(DML_FEATURE(number), record, level)
    try:
        write(target.address, bytes(result))
    except MemoryFault as fault:
        raise DMLError(E_INVALIDARG, f"featureSupportData cannot be written: {fault}") from None


def check_size(given: Any, expected: int, name: str) -> None:
    if given is not None and unsigned(given, name, 32) != expected:
        raise DMLError(E_INVALIDARG, f"{name} is {given}; the struct has {expected} bytes")
