"""The debug layer of one device, at the moment when commands execute."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from ...api.d3d12_enums import D3D12_HEAP_TYPE
from ...api.hresult import DMLError
from ...api.rules import Diagnostic, Rule
from ..commands import AliasingBarrier, Barriers, Command, TransitionBarrier
from . import checks, shadow
from .access import Access
from .resource_states import ResourceStates
from .unordered import UnorderedAccesses

if TYPE_CHECKING:
    from ..command_list import Recording
    from ..device import ID3D12Device

Bytes = npt.NDArray[np.uint8]
UPLOAD = D3D12_HEAP_TYPE.D3D12_HEAP_TYPE_UPLOAD
READBACK = D3D12_HEAP_TYPE.D3D12_HEAP_TYPE_READBACK


class Submission(NamedTuple):
    """What is remembered from a submission to its execution: the UPLOAD bytes that commands will read."""

    uploads: list[tuple[Access, Bytes]]
    readbacks: list[Access]


class Monitor:
    """Watches executing commands and reports hazards to the device's info queue.

    Messages that the info queue breaks on are raised when the call that let the commands run returns: by then they
    have all run.
    """

    def __init__(self, device: ID3D12Device) -> None:
        self._device = device
        self._breaks: list[DMLError] = []

    def report(self, rule: Rule, text: str) -> None:
        """A message of ``rule`` that comes up while commands execute."""
        self.report_diagnostic(Diagnostic(rule.severity, rule.id, "", text))

    def report_diagnostic(self, found: Diagnostic) -> None:
        try:
            self._device.report_diagnostic(found)
        except DMLError as error:
            self._breaks.append(error)

    def raise_breaks(self) -> None:
        """Raise what the info queue broke on since the last call; further errors are its context."""
        if not self._breaks:
            return
        breaks, self._breaks = self._breaks, []
        first = breaks[0]
        diagnostics = [found for error in breaks for found in error.diagnostics]
        raise DMLError(first.hresult, "\n".join(str(error.args[0]) for error in breaks), diagnostics)

    def submit(self, recordings: Sequence[Recording]) -> Submission:
        """Called by ExecuteCommandLists: remember what must not change until the commands have run."""
        accesses = [
            access
            for recording in recordings
            for command in recording.commands
            for access in command.accesses()
        ]
        uploads = [
            (access, access.range.bytes.copy())
            for access in accesses
            if access.range.buffer.heap_type == UPLOAD and not access.writes
        ]
        readbacks = [
            access for access in accesses if access.range.buffer.heap_type == READBACK and access.writes
        ]
        for access in readbacks:
            access.range.buffer.writes_in_flight += 1
        return Submission(uploads, readbacks)

    def execute(self, recordings: Iterable[Recording], submission: Submission) -> None:
        """Run the commands, checking each."""
        for access, then in submission.uploads:
            if not np.array_equal(access.range.bytes, then):
                self.report(
                    checks.UPLOAD_WRITTEN,
                    f"{access} was written after the commands that read it were submitted and before they ran",
                )
        states, unordered = ResourceStates(), UnorderedAccesses()
        for recording in recordings:
            for command in recording.commands:
                if self._device.removed:
                    return
                self._run(command, states, unordered)
        for access in submission.readbacks:
            access.range.buffer.writes_in_flight -= 1

    def _run(self, command: Command, states: ResourceStates, unordered: UnorderedAccesses) -> None:
        for life in command.lives():
            if life.released:
                self.report(checks.RELEASED, f"{life} was released before {command.title} ran, which uses it")
        if isinstance(command, Barriers):
            self._barriers(command, states, unordered)
        accesses = list(command.accesses())
        for access in accesses:
            problem = states.use(access)
            if problem:
                self.report(checks.STATE, f"{command.title}: {problem}")
        if command.is_dispatch:
            for problem in unordered.dispatch(command.title, accesses):
                self.report(checks.UAV_BARRIER, problem)
            self._check_contents(command.title, accesses)
        command.execute()
        command.mark()

    def _barriers(self, command: Barriers, states: ResourceStates, unordered: UnorderedAccesses) -> None:
        for barrier in command.barriers:
            if isinstance(barrier, AliasingBarrier):
                continue
            if isinstance(barrier, TransitionBarrier):
                problem = states.transition(barrier)
                if problem:
                    self.report(checks.BEFORE, problem)
            unordered.barrier(barrier.buffer)

    def _check_contents(self, title: str, accesses: Iterable[Access]) -> None:
        for access in accesses:
            if access.writes:
                continue
            found = shadow.first_undefined(access)
            if found is not None:
                place = "{" + ",".join(map(str, found)) + "}"
                self.report(
                    checks.UNDEFINED,
                    f"{title} reads {access}, whose element {place} nothing has written",
                )
