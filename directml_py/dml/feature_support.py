"""``IDMLDevice::CheckFeatureSupport``."""

from __future__ import annotations

import ctypes
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING, Any

from ..abi.arguments import integer, uint
from ..abi.hresult import DXGI_ERROR_UNSUPPORTED, DMLError
from ..abi.memory import MemoryFault, write
from ..abi.pointers import check_type, locate
from ..abi.rules import LIBRARY, Severity, rule, violation
from ..abi.structure import Structure
from ..api.enums import (
    DML_FEATURE,
    DML_FEATURE_FEATURE_LEVELS,
    DML_FEATURE_LEVEL_2_0,
    DML_FEATURE_TENSOR_DATA_TYPE_SUPPORT,
    DML_TENSOR_DATA_TYPE,
    DML_TENSOR_DATA_TYPE_UNKNOWN,
)
from ..api.structs import DML_FEATURE_DATA_FEATURE_LEVELS, DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT
from ..descs.data_types import data_type_of
from ..descs.decode import decode_struct
from ..descs.operator_desc import OperatorDesc
from ..descs.types_by_name import ctypes_class
from ..validation.decode_rules import FAULT_RULES, check_faults
from ..validation.report import Report
from ..validation.tensor_rules import level_name
from .profiles import Profile

if TYPE_CHECKING:
    from .device_removal import Removal

PAGE = "nf-directml-idmldevice-checkfeaturesupport"
LEVELS_PAGE = "ns-directml-dml_feature_query_feature_levels"
FEATURE = rule("DML-CheckFeatureSupport-feature", "feature is one of DML_FEATURE", PAGE)
SIZE = rule(
    "DML-CheckFeatureSupport-size",
    "Each size is at least that of the feature's struct",
    PAGE,
)
EXACT_SIZE = rule(
    "DML-CheckFeatureSupport-exact-size",
    "Each size is that of the feature's struct",
    PAGE,
    Severity.WARNING,
)
WRITABLE = rule("DML-CheckFeatureSupport-writable", "featureSupportData points to writable memory", PAGE)
LEVEL_COUNT = rule(
    "DML-CheckFeatureSupport-level-count", "At least one feature level is requested", LEVELS_PAGE
)
# The page does not define the result if no requested level is supported, or for numbers that are not levels:
# Microsoft's library compares numbers, and returns 0.
LEVELS = rule(
    "DML-CheckFeatureSupport-levels", "At least one of the requested feature levels is supported", LEVELS_PAGE
)
# No page says which call fails for a type that the device denies, nor how: in Microsoft's library CreateOperator
# rejects it, like any other invalid desc, although the identifier names CheckFeatureSupport.
TYPES = rule(
    "DML-CompileOperator-data-type",
    "Tensors have types that the device supports",
    LIBRARY,
)

TYPE_NUMBERS = frozenset(DML_TENSOR_DATA_TYPE) - {DML_TENSOR_DATA_TYPE_UNKNOWN}
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
    removal: Removal,
    level: int,
    denied: Collection[DML_TENSOR_DATA_TYPE],
    feature: Any,
    query_size: Any,
    query: Any,
    support_size: Any,
    support: Any,
) -> None:
    """Fill the struct at ``support``. Sizes are in bytes; None stands for the correct one.

    The device has feature level ``level`` and denies tensors of the types ``denied``; warnings go to ``removal``.

    Raises ``DMLError``: ``DXGI_ERROR_UNSUPPORTED`` for an unknown feature or, with the result 0, for unsupported
    levels; ``E_INVALIDARG`` for sizes that are too small, and for null or unreadable data.
    """
    number = uint(feature, "feature", FEATURE)
    if number not in [int(known) for known in DML_FEATURE]:
        raise violation(
            FEATURE, "feature", f"is {number}, which is not a known DML_FEATURE", DXGI_ERROR_UNSUPPORTED
        )
    if number == DML_FEATURE_FEATURE_LEVELS and level < DML_FEATURE_LEVEL_2_0:
        text = "is DML_FEATURE_FEATURE_LEVELS, which came with DML_FEATURE_LEVEL_2_0"
        raise violation(FEATURE, "feature", text, DXGI_ERROR_UNSUPPORTED)
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
    removal.fail("CheckFeatureSupport failed:", report)
    if number == DML_FEATURE_FEATURE_LEVELS:
        highest = highest_level(record.RequestedFeatureLevels, level)
        put(target.address, DML_FEATURE_DATA_FEATURE_LEVELS(highest))
        if not highest:
            raise no_level(record.RequestedFeatureLevels, level)
        return
    supported = record.DataType not in denied and is_type(record.DataType, level)
    put(target.address, DML_FEATURE_DATA_TENSOR_DATA_TYPE_SUPPORT(supported))


def check_size(size_argument: Any, expected: int, name: str, report: Report) -> None:
    size = expected if size_argument is None else integer(size_argument, name)
    if size != expected:
        broken = SIZE if size < expected else EXACT_SIZE
        report.add(broken, name, f"is {size}; the struct has {expected} bytes")


def put(address: int, result: Structure) -> None:
    try:
        write(address, bytes(result))
    except MemoryFault as fault:
        text = f"is 0x{fault.address:X}, where {fault.size} bytes cannot be written"
        raise violation(WRITABLE, "featureSupportData", text) from None


def is_type(number: int, level: int) -> bool:
    """Whether a feature level supports a data type; False for numbers that are not types."""
    return number in TYPE_NUMBERS and data_type_of(number).level <= level


def highest_level(asked: Sequence[int] | None, level: int) -> int:
    """The highest number in ``asked`` that is at most ``level``, whether a feature level or not; 0 if there is none."""
    return max((number for number in asked or () if 0 < number <= level), default=0)


def no_level(asked: Sequence[int] | None, level: int) -> DMLError:
    if not asked:
        text = "is 0; at least one level must be requested"
        return violation(LEVEL_COUNT, "RequestedFeatureLevelCount", text, DXGI_ERROR_UNSUPPORTED)
    text = f"holds no supported level; the device has {level_name(level)}"
    return violation(LEVELS, "RequestedFeatureLevels", text, DXGI_ERROR_UNSUPPORTED)


def check_types(profile: Profile, desc: OperatorDesc, report: Report) -> None:
    """Report tensors of an operator whose types the device does not support."""
    for path, _, tensor in (*desc.inputs, *desc.outputs):
        if tensor is not None and tensor.data_type in profile.denied:
            text = f"is {DML_TENSOR_DATA_TYPE(tensor.data_type).name}, which CheckFeatureSupport reports as unsupported"
            report.add(TYPES, f"{path}.DataType", text)
