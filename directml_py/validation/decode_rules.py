"""Rules about the memory of descs: faults of decoding."""

from __future__ import annotations

from collections.abc import Iterable

from ..abi.rules import LIBRARY, rule
from ..descs.decode import Fault
from .report import Report

# Each struct's page states which pointers may be null and what counts are; these identifiers serve all structs. No page
# bounds a count; an implausible one is treated as garbage and not followed.
SOURCE = "directml-structures"
FAULT_RULES = {
    "null": rule("DML-Desc-null", "A required pointer is not null", SOURCE),
    "unreadable": rule("DML-Desc-unreadable", "A pointer points to readable memory", SOURCE),
    "type": rule(
        "DML-Desc-type",
        "Type is a value that identifies the type of Desc",
        "ns-directml-dml_tensor_desc",
    ),
    "reserved": rule(
        "DML-Desc-reserved-type",
        "The Type of an operator desc, as an unsigned number, is below 0xC0000000",
        LIBRARY,
    ),
    "count": rule("DML-Desc-count", "A count is the number of elements of its array", SOURCE),
    "interface": rule(
        "DML-Desc-interface",
        "An interface pointer points to a live object of that interface",
        "ns-directml-dml_buffer_binding",
    ),
}


def check_faults(faults: Iterable[Fault], report: Report) -> None:
    for fault in faults:
        report.add(FAULT_RULES[fault.kind], fault.path, fault.text)
