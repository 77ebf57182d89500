"""What Windows calls the messages of our rules: their categories and numbers."""

from __future__ import annotations

from typing import Final

from ..abi.rules import Diagnostic, message_id
from ..api.d3d12_enums import (
    D3D12_MESSAGE_CATEGORY,
    D3D12_MESSAGE_CATEGORY_APPLICATION_DEFINED,
    D3D12_MESSAGE_CATEGORY_EXECUTION,
    D3D12_MESSAGE_CATEGORY_RESOURCE_MANIPULATION,
    D3D12_MESSAGE_CATEGORY_STATE_CREATION,
    D3D12_MESSAGE_ID_COPY_DESCRIPTORS_INVALID_RANGES,
    D3D12_MESSAGE_ID_COPY_DESCRIPTORS_WRITE_ONLY_DESCRIPTOR,
    D3D12_MESSAGE_ID_INVALID_SUBRESOURCE_STATE,
    D3D12_MESSAGE_ID_OBJECT_ACCESSED_WHILE_STILL_IN_USE,
    D3D12_MESSAGE_ID_OBJECT_DELETED_WHILE_STILL_IN_USE,
    D3D12_MESSAGE_ID_OBJECT_EVICTED_WHILE_STILL_IN_USE,
    D3D12_MESSAGE_ID_RESOLVE_QUERY_INVALID_QUERY_STATE,
    D3D12_MESSAGE_ID_RESOURCE_BARRIER_BEFORE_AFTER_MISMATCH,
    D3D12_MESSAGE_ID_RESOURCE_BARRIER_MISMATCHING_BEGIN_END,
    D3D12_MESSAGE_ID_STATIC_DESCRIPTOR_INVALID_DESCRIPTOR_CHANGE,
    D3D12_MESSAGE_ID_STRING_FROM_APPLICATION,
)
from .debug_output import SEVERITIES
from .info_queue import Message

Number = tuple[D3D12_MESSAGE_CATEGORY, int]

EXECUTION: Final = D3D12_MESSAGE_CATEGORY_EXECUTION
# To Direct3D, DirectML is a program that adds messages; dml-debug-layer shows one of them, "ERROR #1:
# STRING_FROM_APPLICATION".
DIRECTML: Final[Number] = (
    D3D12_MESSAGE_CATEGORY_APPLICATION_DEFINED,
    D3D12_MESSAGE_ID_STRING_FROM_APPLICATION,
)
# As far as d3d12sdklayers.h has a number for what a rule says. For the others (a UAV barrier or a wait that is missing,
# undefined contents) Windows has no message.
NUMBERS: Final[dict[str, Number]] = {
    "D3D12-ClearUAV-descriptor": (EXECUTION, D3D12_MESSAGE_ID_STATIC_DESCRIPTOR_INVALID_DESCRIPTOR_CHANGE),
    "D3D12-CopyDescriptors-ranges": (
        D3D12_MESSAGE_CATEGORY_STATE_CREATION,
        D3D12_MESSAGE_ID_COPY_DESCRIPTORS_INVALID_RANGES,
    ),
    "D3D12-CopyDescriptors-source": (
        D3D12_MESSAGE_CATEGORY_STATE_CREATION,
        D3D12_MESSAGE_ID_COPY_DESCRIPTORS_WRITE_ONLY_DESCRIPTOR,
    ),
    "D3D12-Object-released": (EXECUTION, D3D12_MESSAGE_ID_OBJECT_DELETED_WHILE_STILL_IN_USE),
    "D3D12-Object-resident": (EXECUTION, D3D12_MESSAGE_ID_OBJECT_EVICTED_WHILE_STILL_IN_USE),
    "D3D12-Query-ended": (EXECUTION, D3D12_MESSAGE_ID_RESOLVE_QUERY_INVALID_QUERY_STATE),
    "D3D12-Readback-read-in-flight": (EXECUTION, D3D12_MESSAGE_ID_OBJECT_ACCESSED_WHILE_STILL_IN_USE),
    "D3D12-ResourceBarrier-before": (
        D3D12_MESSAGE_CATEGORY_RESOURCE_MANIPULATION,
        D3D12_MESSAGE_ID_RESOURCE_BARRIER_BEFORE_AFTER_MISMATCH,
    ),
    "D3D12-ResourceBarrier-split": (
        D3D12_MESSAGE_CATEGORY_RESOURCE_MANIPULATION,
        D3D12_MESSAGE_ID_RESOURCE_BARRIER_MISMATCHING_BEGIN_END,
    ),
    "D3D12-ResourceState-mismatch": (EXECUTION, D3D12_MESSAGE_ID_INVALID_SUBRESOURCE_STATE),
    "D3D12-ResourceState-split": (EXECUTION, D3D12_MESSAGE_ID_INVALID_SUBRESOURCE_STATE),
    "D3D12-Upload-written-in-flight": (EXECUTION, D3D12_MESSAGE_ID_OBJECT_ACCESSED_WHILE_STILL_IN_USE),
}


def number_of(rule: str) -> Number:
    """The category and the D3D12_MESSAGE_ID of a rule's messages; a number of our own where Windows has none."""
    if rule.startswith("DML-"):
        return DIRECTML
    return NUMBERS.get(rule) or (EXECUTION, message_id(rule))


def message_of(diagnostic: Diagnostic) -> Message:
    category, id = number_of(diagnostic.rule)
    return Message(category, SEVERITIES[diagnostic.severity], id, str(diagnostic), diagnostic)
