"""``IDMLDevice::CheckFeatureSupport``."""

from __future__ import annotations

import ctypes
from collections.abc import Collection
from typing import Any

from ..abi.arguments import integer, uint
from ..abi.hresult import DXGI_ERROR_UNSUPPORTED
from ..abi.memory import MemoryFault, write
from ..abi.pointers import check_type, locate
from ..abi.rules import LIBRARY, breach, rule
from ..abi.structure import Structure
from ..api.enums import (
    DML_FEATURE,
    DML_FEATURE_FEATURE_LEVELS,
    DML_FEATURE_LEVEL,
    DML_FEATURE_LEVEL_2_0,
    DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT,
    DML_TENSOR_DATA_TYPE,
    DML_TENSOR_DATA_TYPE_UNKNOWN,
)
from ..api.structs import DML_FEATURE_DATA_FEATURE_LEVELS, DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT
from ..descs.data_types import data_type_of
from ..descs.decode import ctypes_class, decode_struct
from ..descs.values import OperatorDesc
from ..validation.memory import FAULT_RULES, check_faults
from ..validation.report import Report
from ..validation.tensors import level_name
from ..validation.values import ENUM_VALUE
from .profiles import Profile

PAGE = "nf-directml-idmldevice-checkfeaturesupport"
LEVELS_PAGE = "ns-directml-dml_feature_query_feature_levels"
FEATURE = rule("DML-CheckFeatureSupport-feature", "feature is one of DML_FEATURE", PAGE)
SIZE = rule(
    "DML-CheckFeatureSupport-size", "Each size is that of the struct which belongs to the feature", PAGE
)
WRITABLE = rule(
    "DML-CheckFeatureSupport-writable", "featureSupportData points to memory that can be written", PAGE
)
LEVEL_COUNT = rule(
    "DML-CheckFeatureSupport-level-count", "At least one feature level is asked for", LEVELS_PAGE
)
# The page does not say what comes of levels of which none is supported; nothing could be written as the highest one.
# A number that is no level of this version may be one of a later version: it is not supported, but no mistake.
LEVELS = rule(
    "DML-CheckFeatureSupport-levels", "At least one of the requested feature levels is supported", LEVELS_PAGE
)
# No page says which call fails for a type that the device denies, nor how: Microsoft's library has CreateOperator
# refuse it, as any other desc. The identifier is older than that was known.
TYPES = rule(
    "DML-CompileOperator-data-type",
    "Tensors have types that the device supports",
    LIBRARY,
)

KNOWN_LEVELS = frozenset(int(level) for level in DML_FEATURE_LEVEL)
STRUCTS = {
    DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT: (
        "DML_FEATURE_QUERY_TENSOR_DATA_TYPE_SUPPORT",
        DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT,
    ),
    DML_FEATURE_FEATURE_LEVELS: (
        "DML_FEATURE_QUERY_FEATURE_LEVELS",
        DML_FEATURE_DATA_FEATURE_LEVELS,
    ),
}


def check_feature_support(
    level: int,
    denied: Collection[DML_TENSOR_DATA_TYPE],
    feature: Any,
    query_size: Any,
    query: Any,
    support_size: Any,
    support: Any,
) -> None:
    """Fill the struct at ``support``. Sizes are in bytes and may be None, which stands for the right one.

    The device has feature level ``level``, and no tensors of the types ``denied``.

    Raises ``DMLError``: ``DXGI_ERROR_UNSUPPORTED`` for a feature that the device does not know or a request that
    it cannot meet, ``E_INVALIDARG`` for wrong sizes, null or unreadable data.
    """
    number = uint(feature, "feature", FEATURE)
    if number not in [int(known) for known in DML_FEATURE]:
        raise breach(
            FEATURE, "feature", f"is {number}, which is no known DML_FEATURE", DXGI_ERROR_UNSUPPORTED
        )
    if number == DML_FEATURE_FEATURE_LEVELS and level < DML_FEATURE_LEVEL_2_0:
        text = "is DML_FEATURE_FEATURE_LEVELS, which came with DML_FEATURE_LEVEL_2_0"
        raise breach(FEATURE, "feature", text, DXGI_ERROR_UNSUPPORTED)
    query_type, support_type = STRUCTS[DML_FEATURE(number)]
    record, faults = decode_struct(query, query_type, "featureQueryData")
    report = Report()
    check_faults(faults, report)
    check_size(query_size, ctypes.sizeof(ctypes_class(query_type)), "featureQueryDataSize", report)
    check_size(support_size, ctypes.sizeof(support_type), "featureSupportDataSize", report)
    target = locate(support, "featureSupportData")
    check_type(target, support_type, "featureSupportData")
    if not target.address:
        report.add(
            FAULT_RULES["null"], "featureSupportData", f"is null; a {support_type.__name__} is required"
        )
    if record is not None and not faults:
        check_query(DML_FEATURE(number), record, report)
    report.raise_errors("CheckFeatureSupport failed:")
    result = answer(DML_FEATURE(number), record, level, denied)
    try:
        write(target.address, bytes(result))
    except MemoryFault as fault:
        text = f"is 0x{fault.address:X}, where {fault.size} bytes cannot be written"
        raise breach(WRITABLE, "featureSupportData", text) from None


def check_size(given: Any, expected: int, name: str, report: Report) -> None:
    size = expected if given is None else integer(given, name)
    if size != expected:
        report.add(SIZE, name, f"is {size}; the struct has {expected} bytes")


def check_query(feature: DML_FEATURE, query: Any, report: Report) -> None:
    if feature == DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT:
        if not isinstance(query.DataType, DML_TENSOR_DATA_TYPE):
            report.add(ENUM_VALUE, "DataType", f"is {query.DataType}, which is no DML_TENSOR_DATA_TYPE")
    elif not query.RequestedFeatureLevels:
        report.add(LEVEL_COUNT, "RequestedFeatureLevelCount", "is 0; at least one level must be asked for")


def answer(
    feature: DML_FEATURE, query: Any, level: int, denied: Collection[DML_TENSOR_DATA_TYPE]
) -> Structure:
    """The support data for the checked query struct of ``feature`` on a device of feature level ``level``."""
    if feature == DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT:
        # Of UNKNOWN the pages say nothing here; it is no type that a tensor could have.
        known = query.DataType != DML_TENSOR_DATA_TYPE_UNKNOWN and query.DataType not in denied
        supported = known and data_type_of(query.DataType).level <= level
        return DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT(supported)
    levels = [asked for asked in query.RequestedFeatureLevels if asked in KNOWN_LEVELS and asked <= level]
    if not levels:
        text = f"holds no level that is supported; the device has {level_name(level)}"
        raise breach(LEVELS, "RequestedFeatureLevels", text, DXGI_ERROR_UNSUPPORTED)
    return DML_FEATURE_DATA_FEATURE_LEVELS(max(levels))


def check_types(profile: Profile, desc: OperatorDesc, report: Report) -> None:
    """Report tensors of an operator whose types the device denies."""
    for path, _, tensor in (*desc.inputs, *desc.outputs):
        if tensor is not None and tensor.data_type in profile.denied:
            text = f"is {DML_TENSOR_DATA_TYPE(tensor.data_type).name}, which CheckFeatureSupport denies on this device"
            report.add(TYPES, f"{path}.DataType", text)
