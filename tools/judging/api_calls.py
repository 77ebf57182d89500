"""Random calls of binding tables, recorders and QueryInterface, and whether they remove the device on both sides.

A dispatch binds all tensors, and the temporary resource, at random places of one buffer, so that most share memory; in
some, one binding is wrong. Operators without owned inputs need no initializer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, cast

import directml_py as dml
from directml_py.abi.rules import Diagnostic
from directml_py.api.enums import DML_BINDING_TYPE_BUFFER
from directml_py.api.structs import (
    DML_BINDING_DESC,
    DML_BUFFER_BINDING,
    DML_OPERATOR_DESC,
)
from directml_py.descs.encode import encode
from directml_py.descs.operator_desc import OperatorDesc, TensorSlot
from directml_py.hardware.real_directml import Library, Verdict
from directml_py.session import Session
from directml_py.testing.decision_source import RandomSource
from directml_py.testing.valid_descs import operators_at, valid_desc

NAME = "RecordDispatch"
LEVEL = dml.DML_FEATURE_LEVEL_6_2
# Those whose descs may crash the library, or that it does not compile without more.
SKIPPED = ("GATHER", "MULTIHEAD_ATTENTION")
OPERATORS = [name for name in operators_at(LEVEL) if name not in SKIPPED]
INTERFACES = (
    "IUnknown",
    "IDMLObject",
    "IDMLDevice",
    "IDMLDevice1",
    "IDMLDebugDevice",
    "IDMLDeviceChild",
    "IDMLPageable",
    "IDMLOperator",
    "IDMLDispatchable",
    "IDMLCompiledOperator",
    "IDMLBindingTable",
    "IDMLCommandRecorder",
    "ID3D12Device",
)
# A range that is too small is not among them: for some operators the library notices it, for others it does not, by a
# rule that is not known.
MISTAKES = ("offset", "none", "count", "beyond")
UNIT = 16
SPACE = 1 << 16


class ApiCalls(NamedTuple):
    """An operator, the offsets of its tensors (None: absent) and of its temporary resource in a buffer, which is large
    enough for each, the binding with a mistake, if any, and the interface to query for on each object."""

    desc: OperatorDesc
    inputs: list[int | None]
    outputs: list[int | None]
    temporary: int
    mistake: tuple[str, str] | None
    interface: str

    @property
    def name(self) -> str:
        return NAME

    def __repr__(self) -> str:
        return (
            f"{self.desc!r}, inputs at {self.inputs}, outputs at {self.outputs}, temporary at {self.temporary}, "
            f"mistake {self.mistake}, {self.interface}"
        )

    def theirs(self, library: Library) -> Verdict:
        # Objects of the library have the methods of ours.
        number, _ = self._answer(Session(cast(dml.IDMLDevice, library.device())))
        return Verdict(number, NAME)

    def ours(self, level: int) -> tuple[int, list[Diagnostic]]:
        return self._answer(Session(dml.DMLCreateDevice(dml.D3D12CreateDevice(), feature_level=level)))

    def _answer(self, session: Session) -> tuple[int, list[Diagnostic]]:
        device = session.dml
        op = device.CreateOperator(DML_OPERATOR_DESC(self.desc.schema.value, encode(self.desc)))
        compiled = device.CompileOperator(op, 0)
        recorder, table = device.CreateCommandRecorder(), session.table(compiled)
        queries = [_has(thing, self.interface) for thing in (device, op, compiled, recorder, table)]
        space = session.buffer(SPACE)
        table.BindInputs([_bound(space, one) for one in self.ranges("inputs")])
        table.BindOutputs([_bound(space, one) for one in self.ranges("outputs")])
        properties = compiled.GetBindingProperties()
        if properties.TemporaryResourceSize:
            # The library's temporary resources may be larger than ours.
            end = self.temporary + -(-properties.TemporaryResourceSize // 4) * 4
            where = space if end <= SPACE else session.buffer(end)
            table.BindTemporaryResource(_bound(where, (self.temporary, end - self.temporary)))
        if properties.PersistentResourceSize:
            # The library keeps more there than owned inputs, for some operators.
            size = -(-properties.PersistentResourceSize // 4) * 4
            table.BindPersistentResource(_bound(session.buffer(size), (0, size)))
        recorder.RecordDispatch(session.commands, compiled, table)
        try:
            device.removal.check()
        except dml.DMLError as error:
            return answer(queries, True), list(error.diagnostics)
        return answer(queries, False), []

    def ranges(self, kind: str) -> list[tuple[int, int] | None]:
        """Offsets and sizes in bytes, with the mistake."""
        slots, offsets = (
            (self.desc.inputs, self.inputs) if kind == "inputs" else (self.desc.outputs, self.outputs)
        )
        found = [
            None if offset is None or slot.tensor is None else (offset, size_of(slot))
            for slot, offset in zip(slots, offsets)
        ]
        if self.mistake is None or self.mistake[0] != kind:
            return found
        what = self.mistake[1]
        if what == "count":
            return [*found, None]
        index = next((number for number, one in enumerate(found) if one is not None), None)
        if index is not None:
            offset, size = found[index] or (0, 0)
            wrong = {"offset": (offset + 4, size), "beyond": (SPACE - 16, size + 16)}
            found[index] = wrong.get(what)
        return found


def size_of(slot: TensorSlot) -> int:
    assert slot.tensor is not None
    return -(-slot.tensor.total_size // 4) * 4


def calls(source: RandomSource) -> ApiCalls:
    desc = valid_desc(source, source.choice(OPERATORS), LEVEL, 300)
    while any(slot.tensor is not None and slot.tensor.is_owned_by_dml for slot in desc.inputs):
        desc = valid_desc(source, source.choice(OPERATORS), LEVEL, 300)

    def offsets(slots: Sequence[TensorSlot]) -> list[int | None]:
        return [None if slot.tensor is None else _offset(source, slot.tensor.alignment) for slot in slots]

    mistake = None
    if source.chance(15):
        mistake = (source.choice(("inputs", "outputs")), source.choice(MISTAKES))
    return ApiCalls(
        desc,
        offsets(desc.inputs),
        offsets(desc.outputs),
        256 * source.integer(0, 4),
        mistake,
        source.choice(INTERFACES),
    )


def _offset(source: RandomSource, alignment: int) -> int:
    return 0 if alignment > SPACE // 32 else source.integer(0, 12) * max(UNIT, alignment)


def answer(queries: Sequence[bool], removed: bool) -> int:
    """Both answers as one number: which objects have the interface, and whether the device is removed. It is never 0,
    which would stand for a valid desc."""
    number = sum(1 << bit for bit, has in enumerate(queries) if has)
    return number | (0x80000000 if removed else 0x40000000)


def _bound(buffer: Any, extent: tuple[int, int] | None) -> DML_BINDING_DESC:
    if extent is None:
        return DML_BINDING_DESC()
    return DML_BINDING_DESC(DML_BINDING_TYPE_BUFFER, DML_BUFFER_BINDING(buffer, *extent))


def _has(thing: Any, interface: str) -> bool:
    try:
        thing.QueryInterface(getattr(dml, interface))
    except dml.DMLError:
        return False
    return True
