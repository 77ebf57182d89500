"""The debug layer of one device, at the moment when commands execute."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from ...abi.hresult import E_INVALIDARG, DMLError
from ...abi.life import Life
from ...abi.rules import Diagnostic, Rule
from ...api.d3d12_enums import (
    D3D12_HEAP_TYPE_READBACK,
    D3D12_HEAP_TYPE_UPLOAD,
    D3D12_RESOURCE_BARRIER_FLAG_BEGIN_ONLY,
)
from ..commands import AliasingBarrier, Barriers, Command, TransitionBarrier
from . import checks, shadow
from .access import Access
from .resource_states import ResourceStates
from .unordered import UnorderedAccesses

if TYPE_CHECKING:
    from ..command_list import Recording
    from ..device import ID3D12Device

Bytes = npt.NDArray[np.uint8]
UPLOAD = D3D12_HEAP_TYPE_UPLOAD
READBACK = D3D12_HEAP_TYPE_READBACK
BEGIN_ONLY = D3D12_RESOURCE_BARRIER_FLAG_BEGIN_ONLY


class Submission(NamedTuple):
    """What one ExecuteCommandLists call is about: the commands, the memory that they were recorded into, the UPLOAD
    bytes that they will read, and the READBACK ranges that they will write."""

    commands: list[Command]
    memories: list[Life]
    uploads: list[tuple[Access, Bytes]]
    readbacks: list[Access]


class _Thread(threading.local):
    """What the info queue broke on in the call that the thread is in; None outside such a call."""

    breaks: list[Diagnostic] | None = None


class Progress:
    """What the commands of one submission have done so far."""

    def __init__(self) -> None:
        self.states = ResourceStates()
        self.unordered = UnorderedAccesses()
        self.mourned: set[Life] = set()
        self.muted = False


class Monitor:
    """Watches executing commands and reports hazards to the device's info queue.

    Messages that the info queue breaks on are raised when the call that let the commands run returns: by then they
    have all run.
    """

    def __init__(self, device: ID3D12Device) -> None:
        self._device_of = weakref.ref(device)
        # Commands run in the thread whose call lets them run, and that call it is that raises.
        self._of_thread = _Thread()

    @property
    def _device(self) -> ID3D12Device:
        device = self._device_of()
        assert device is not None
        return device

    def report_diagnostic(self, diagnostic: Diagnostic) -> None:
        """A message that comes up while commands execute."""
        try:
            self._device.report_diagnostic(diagnostic)
        except DMLError:
            if self._of_thread.breaks is not None:
                self._of_thread.breaks.append(diagnostic)

    @contextmanager
    def breaking(self) -> Iterator[None]:
        """Around a call that lets commands run: what the info queue breaks on is raised at its end, all in one.

        Not at the end of calls that come out of commands: there it would look like a fault of the GPU.
        """
        thread = self._of_thread
        if thread.breaks is not None:
            yield
            return
        breaks: list[Diagnostic] = []
        thread.breaks = breaks
        try:
            yield
        finally:
            thread.breaks = None
        if breaks:
            raise DMLError(E_INVALIDARG, "\n".join(map(str, breaks)), breaks)

    def submit(self, recordings: Sequence[Recording]) -> Submission:
        """Called by ExecuteCommandLists: remember what must not change until the commands have run."""
        commands = [command.submitted() for recording in recordings for command in recording.commands]
        accesses = [access for command in commands for access in command.accesses()]
        uploads = [
            (access, access.range.bytes.copy())
            for access in accesses
            if access.range.buffer.heap_type == UPLOAD and not access.writes
        ]
        readbacks = [
            access for access in accesses if access.range.buffer.heap_type == READBACK and access.writes
        ]
        for access in readbacks:
            access.range.buffer.writes_in_flight.append(access.range)
        return Submission(commands, [recording.memory for recording in recordings], uploads, readbacks)

    def execute(self, submission: Submission) -> None:
        """Run the commands, checking each."""
        try:
            progress = Progress()
            self._check_uploads(submission.uploads, progress)
            self._mourn(submission.memories, "the commands recorded into it", progress)
            for command in submission.commands:
                if self._device.removed:
                    return
                self._run(command, progress)
        finally:
            for access in submission.readbacks:
                access.range.buffer.writes_in_flight.remove(access.range)

    def _check_uploads(self, uploads: Iterable[tuple[Access, Bytes]], progress: Progress) -> None:
        for access, then in uploads:
            if not np.array_equal(access.range.bytes, then):
                self._report(
                    checks.UPLOAD_WRITTEN,
                    f"{access} was written after the commands that read it were submitted and before they ran",
                    progress,
                )

    def _run(self, command: Command, progress: Progress) -> None:
        progress.muted = command.muted
        self._check(command, progress)
        command.execute()
        command.mark()

    def _check(self, command: Command, progress: Progress) -> None:
        self._mourn(command.lives(), command.title, progress)
        if isinstance(command, Barriers):
            self._barriers(command, progress)
        accesses = list(command.accesses())
        for access in accesses:
            problem = progress.states.use(access)
            if problem:
                self._report(checks.STATE, f"{command.title}: {problem}", progress)
        if command.is_dispatch:
            for problem in progress.unordered.dispatch(command.title, accesses):
                self._report(checks.UAV_BARRIER, problem, progress)
            self._check_contents(command.title, accesses, progress)

    def _mourn(self, lives: Iterable[Life], user: str, progress: Progress) -> None:
        """Report what was released, each object once per submission."""
        for life in lives:
            if life.released and life not in progress.mourned:
                progress.mourned.add(life)
                self._report(checks.RELEASED, f"{life} was released before {user} ran", progress)

    def _barriers(self, command: Barriers, progress: Progress) -> None:
        for barrier in command.barriers:
            if isinstance(barrier, AliasingBarrier):
                progress.unordered.aliasing_barrier(barrier.before, barrier.after)
                continue
            if isinstance(barrier, TransitionBarrier):
                # The first half of a split barrier: it is the second that waits.
                if barrier.flags & BEGIN_ONLY:
                    continue
                problem = progress.states.transition(barrier)
                if problem:
                    self._report(checks.BEFORE, problem, progress)
            progress.unordered.barrier(barrier.buffer)

    def _check_contents(self, title: str, accesses: Iterable[Access], progress: Progress) -> None:
        for access in accesses:
            if access.writes:
                continue
            element = shadow.first_undefined(access)
            if element is not None:
                place = "{" + ",".join(map(str, element)) + "}"
                self._report(
                    checks.UNDEFINED,
                    f"{title} reads {access}, whose element {place} nothing has written",
                    progress,
                )

    def _report(self, rule: Rule, text: str, progress: Progress) -> None:
        if not progress.muted:
            self.report_diagnostic(Diagnostic(rule.severity, rule.id, "", text))
