"""Validation of operator descs by the catalog and the tensor rules, common to all operators."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from ..descs.decode import Fault
from ..descs.operator_desc import OperatorDesc, TensorSlot
from .decode_rules import check_faults
from .enum_rules import check_values
from .facts import check_facts
from .fused_activation_rules import check_fused
from .operator_rules import rule_of
from .report import Report
from .support_rules import check_level, check_same, check_support
from .tensor_rules import check_tensor, is_sound


def check_operator(
    desc: OperatorDesc | None, faults: Sequence[Fault], level: int, report: Report, complete: bool = True
) -> bool:
    """Report violations in ``desc`` at feature level ``level``; one that is not ``complete`` has no outputs yet.

    Returns whether it is sound enough for the operator's own rules: nothing required is missing, every tensor has a
    valid shape, ranks agree, enumerators are known and all facts hold. Data types do not matter for that.
    """
    check_faults(faults, report)
    if desc is None:
        return False
    check_level(desc.schema, level, report)
    before = len(report.errors)
    check_values(desc, report)
    is_known = len(report.errors) == before
    if desc.struct.operators:
        check_fused(desc, level, report)
    sound: list[TensorSlot] = []
    broken = bool(faults)
    for slots, are_outputs in ((desc.inputs, False), (desc.outputs, True)):
        for slot in slots:
            if slot.tensor is None:
                continue
            if is_sound(slot.tensor, are_outputs, level) or check_tensor(
                slot.tensor, slot.path, are_outputs, level, report
            ):
                sound.append(slot)
            else:
                broken = True
    before = len(report.errors)
    check_support(desc, sound, level, report)
    check_same(desc, sound, report)
    if broken:
        return False
    check_facts(desc, level, partial(rule_of, desc.schema), report, complete)
    return is_known and all(diagnostic.path.endswith(".DataType") for diagnostic in report.errors[before:])
