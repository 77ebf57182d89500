"""The debug layer of one device, at the moment when commands execute."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...abi.hresult import E_INVALIDARG, DMLError
from ...abi.lifetime import Lifetime
from ...abi.rules import Diagnostic, Rule
from ...api.d3d12_enums import (
    D3D12_HEAP_TYPE_READBACK,
    D3D12_HEAP_TYPE_UPLOAD,
)
from ..allocation import PATTERN
from ..observers import watchers
from ..recorded_commands import AliasingBarrier, Barriers, Command, TransitionBarrier
from ..resource import Buffer
from . import shadow_memory, sync_rules
from .access import Access
from .aliasing import AliasingTracker, activation
from .deadlocks import deadlocked_queues, waiting
from .happens_before import HappensBefore
from .resource_states import ResourceStates
from .split_barriers import BEGIN_ONLY, SplitBarriers
from .uav_barriers import AccessesSinceBarrier

if TYPE_CHECKING:
    from ..command_allocator import Recording
    from ..device import ID3D12Device
    from ..fence import FenceValue
    from ..scheduler import WorkQueue

Bytes = npt.NDArray[np.uint8]
UPLOAD = D3D12_HEAP_TYPE_UPLOAD
READBACK = D3D12_HEAP_TYPE_READBACK


class Submission:
    """What one ExecuteCommandLists call is about: the commands, the memory that they were recorded into, the UPLOAD
    bytes that they will read, and the READBACK ranges that they will write."""

    def __init__(self, monitor: SyncValidator, recordings: Sequence[Recording], queue: WorkQueue) -> None:
        self._monitor = monitor
        self._progress = Progress(queue)
        self.queue = queue
        self.known = monitor.happens_before.submitted()
        self.memories: list[Lifetime] = [recording.memory for recording in recordings]
        self.commands = [command.submitted() for recording in recordings for command in recording.commands]
        accesses = [access for command in self.commands for access in command.accesses()]
        self.uploads = [
            (command, access, access.range.bytes.copy())
            for command in self.commands
            for access in command.accesses()
            if access.range.buffer.heap_type == UPLOAD and not access.writes
        ]
        self.readbacks = [
            access for access in accesses if access.range.buffer.heap_type == READBACK and access.writes
        ]

    def start(self) -> None:
        """It was submitted: what it writes is not to be read until it has run. Whoever reads it through a pointer that
        he has already, unseen, finds no result there, nor one of an earlier run."""
        for access in self.readbacks:
            access.range.buffer.writes_in_flight[id(access)] = access.range
            access.range.bytes[:] = PATTERN

    def finish(self) -> None:
        """It has run, or failed; may be called again."""
        for access in self.readbacks:
            access.range.buffer.writes_in_flight.pop(id(access), None)

    def calls(self) -> list[Callable[[], None]]:
        """What running it comes to, in order."""
        monitor, progress = self._monitor, self._progress
        begin = partial(monitor.begin, self, progress)
        return [begin, *(partial(monitor.run, command, progress) for command in self.commands)]


def residence(life: Lifetime) -> Lifetime:
    """What has to be alive and resident for an object to be so: the heap of a placed resource."""
    heap = life.placement.heap if isinstance(life, Buffer) else None
    return life if heap is None else heap


class _Thread(threading.local):
    """What the info queue broke on in the call that the thread is in, None outside such a call; and the command that
    runs."""

    breaks: list[Diagnostic] | None = None
    command: Command | None = None


class Progress:
    """What the commands of one submission have done so far."""

    def __init__(self, queue: WorkQueue) -> None:
        self.queue = queue
        self.states = ResourceStates()
        self.unordered = AccessesSinceBarrier("UAV barrier or transition")
        self.aliased = AccessesSinceBarrier("aliasing barrier", aliased=True)
        self.mourned: set[Lifetime] = set()
        self.evicted: set[Lifetime] = set()
        self.muted = False


class SyncValidator:
    """Watches executing commands and reports hazards to the device's info queue.

    Messages that the info queue breaks on are raised when the call that let the commands run returns: by then they
    have all run.
    """

    def __init__(self, device: ID3D12Device) -> None:
        self._device_of = weakref.ref(device)
        self.happens_before = HappensBefore()
        self._inheritance = AliasingTracker()
        self._splits = SplitBarriers()
        # Commands run in the thread whose call lets them run, and that call it is that raises.
        self._of_thread = _Thread()

    @property
    def _device(self) -> ID3D12Device:
        device = self._device_of()
        assert device is not None
        return device

    def report_diagnostic(self, diagnostic: Diagnostic) -> None:
        """A message that comes up while commands execute."""
        command = self._of_thread.command
        if command is not None and not diagnostic.origin:
            diagnostic = diagnostic._replace(origin=command.origin())
        try:
            self._device.report_diagnostic(diagnostic)
        except DMLError:
            if self._of_thread.breaks is not None:
                self._of_thread.breaks.append(diagnostic)

    def breaking(self, call: Callable[[], None]) -> None:
        """A call that lets commands run: what the info queue breaks on is raised at its end, all in one.

        Not at the end of calls that come out of commands: there it would look like a fault of the GPU.
        """
        thread = self._of_thread
        if thread.breaks is not None:
            call()
            return
        try:
            breaks = thread.breaks = []
            call()
            thread.breaks = None
        except BaseException:
            thread.breaks = None
            raise
        if breaks:
            raise DMLError(E_INVALIDARG, "\n".join(map(str, breaks)), breaks, reported=True)

    def submit(self, recordings: Sequence[Recording], queue: WorkQueue) -> Submission:
        """Called by ExecuteCommandLists: remember what must not change until the commands have run."""
        return Submission(self, recordings, queue)

    def signaled(self, fence: FenceValue, value: int, queue: WorkQueue | None) -> None:
        """``queue``, or the CPU, is about to set ``fence``."""
        self.happens_before.signaled(fence, value, queue)
        self._check_fence(fence, "Signal")
        before = fence.value
        if value < before:
            who = "the CPU" if queue is None else str(queue.owner)
            text = f"{fence} goes back from {before} to {value}, which {who} signals"
            self.report_diagnostic(
                Diagnostic(sync_rules.FENCE_BACKWARDS.severity, sync_rules.FENCE_BACKWARDS.id, "", text)
            )

    def waited(self, fence: FenceValue, value: int, queue: WorkQueue) -> None:
        """``queue`` is about to go on because ``fence`` has reached ``value``."""
        self.happens_before.waited(fence, value, queue)
        self._check_fence(fence, "Wait")

    def report_deadlocks(self) -> None:
        """Nothing more is submitted, and all has run that can: which queues wait for ever."""
        for owner, text in () if self._device.removed else deadlocked_queues(self._device.queues()):
            self.report_diagnostic(
                Diagnostic(
                    sync_rules.ENDLESS_WAIT.severity, sync_rules.ENDLESS_WAIT.id, "", f"{owner} {text}"
                )
            )

    def report_cpu_deadlock(self, text: str) -> None:
        """A thread begins to wait, and by all that is known for ever."""
        rule = sync_rules.ENDLESS_CPU_WAIT
        self.report_diagnostic(Diagnostic(rule.severity, rule.id, "", f"the CPU waits for ever: {text}"))

    @contextmanager
    def cpu_waits(
        self, targets: Iterable[tuple[FenceValue, int]], any_of_them: bool = False
    ) -> Iterator[None]:
        """The calling thread waits for fences meanwhile."""
        with waiting(self._device, targets, any_of_them):
            yield

    def _check_fence(self, fence: FenceValue, call: str) -> None:
        if fence.released:
            text = f"{fence} was released before the {call} of a queue that names it ran"
            self.report_diagnostic(Diagnostic(sync_rules.RELEASED.severity, sync_rules.RELEASED.id, "", text))

    def begin(self, submission: Submission, progress: Progress) -> None:
        """Check what commands that are about to run come with."""
        self.happens_before.begin(submission.queue, submission.known)
        self._check_uploads(submission.uploads, progress)
        self._mourn(submission.memories, "the commands recorded into it", progress)
        self._mourn([submission.queue.owner], "the commands submitted to it", progress)

    def _check_uploads(self, uploads: Iterable[tuple[Command, Access, Bytes]], progress: Progress) -> None:
        for command, access, then in uploads:
            if not np.array_equal(access.range.bytes, then):
                with self._running(command):
                    self._report(
                        sync_rules.UPLOAD_WRITTEN,
                        f"{access} was written after the commands that read it were submitted and before they ran",
                        progress,
                    )

    @contextmanager
    def _running(self, command: Command) -> Iterator[None]:
        """What is reported meanwhile is about ``command``."""
        self._of_thread.command = command
        try:
            yield
        finally:
            self._of_thread.command = None

    def run(self, command: Command, progress: Progress) -> None:
        """Run a command, checking it."""
        observers = watchers.all
        for observer in observers:
            observer.before(command)
        progress.muted = command.muted
        with self._running(command):
            self._check(command, progress)
            command.execute()
        command.mark()
        for observer in observers:
            observer.after(command)

    def _check(self, command: Command, progress: Progress) -> None:
        self._mourn(command.lives(), command.title, progress)
        if isinstance(command, Barriers):
            self._barriers(command, progress)
        for rule, text in command.problems():
            self._report(rule, text, progress)
        accesses = list(command.accesses())
        for access in accesses:
            problem = progress.states.use(access)
            if problem:
                self._report(sync_rules.STATE, f"{command.title}: {problem}", progress)
            problem = self._splits.use(access)
            if problem:
                self._report(sync_rules.SPLIT_ACCESS, f"{command.title} {problem}", progress)
        self._check_queues(command, accesses, progress)
        placed = [access for access in accesses if access.range.buffer.placement.heap is not None]
        if placed:
            self._check_aliasing(command, placed, progress)
        if command.is_dispatch:
            for problem in progress.unordered.command(command.title, accesses, command.recorded):
                self._report(sync_rules.UAV_BARRIER, problem, progress)
            self._check_contents(command.title, accesses, progress)
        for access in placed:
            self._inheritance.touched(access, progress)

    def _mourn(self, lives: Iterable[Lifetime], user: str, progress: Progress) -> None:
        """Report what was released or evicted, each object once per submission."""
        for life in lives:
            if life.released and life not in progress.mourned:
                progress.mourned.add(life)
                self._report(sync_rules.RELEASED, f"{life} was released before {user} ran", progress)
            home = residence(life)
            what = str(life) if home is life else f"{home}, the heap of {life},"
            if home is not life and home.released and home not in progress.mourned:
                progress.mourned.add(home)
                self._report(sync_rules.RELEASED, f"{what} was released before {user} ran", progress)
            # DirectML has a rule of its own for what it makes.
            if not home.is_resident and home.kind.startswith("ID3D12") and home not in progress.evicted:
                progress.evicted.add(home)
                self._report(
                    sync_rules.EVICTED, f"{what} is not resident: it was evicted before {user} ran", progress
                )

    def _barriers(self, command: Barriers, progress: Progress) -> None:
        for barrier in command.barriers:
            if isinstance(barrier, AliasingBarrier):
                progress.unordered.aliasing_barrier(barrier.before, barrier.after)
                progress.aliased.aliasing_barrier(barrier.before, barrier.after)
                self._inheritance.barrier(barrier.before, barrier.after)
                if barrier.after is not None:
                    self._check_queues(command, [activation(barrier.after)], progress)
                continue
            if isinstance(barrier, TransitionBarrier):
                begins = barrier.flags & BEGIN_ONLY
                problem = self._splits.transition(barrier, command.recorded)
                if problem:
                    self._report(sync_rules.SPLIT_HALVES, problem, progress)
                problem = (progress.states.begin if begins else progress.states.transition)(barrier)
                if problem:
                    self._report(sync_rules.BEFORE, problem, progress)
                # Of a split barrier it is the second half that waits.
                if begins:
                    continue
            progress.unordered.barrier(barrier.buffer)

    def _check_queues(self, command: Command, accesses: Sequence[Access], progress: Progress) -> None:
        for rule, text in self.happens_before.use(progress.queue, command.title, accesses, command.recorded):
            self._report(rule, text, progress)

    def _check_aliasing(self, command: Command, placed: Sequence[Access], progress: Progress) -> None:
        title = command.title
        for problem in progress.aliased.command(title, placed, command.recorded):
            self._report(sync_rules.ALIASING_BARRIER, problem, progress)
        for access in placed:
            writer = self._inheritance.written_through(access, progress)
            if writer is not None:
                self._report(
                    sync_rules.ALIASING_INHERITED,
                    f"{title} reads {access}, whose contents were written through {writer}; there is no aliasing "
                    "barrier between them",
                    progress,
                )

    def _check_contents(self, title: str, accesses: Iterable[Access], progress: Progress) -> None:
        for access in accesses:
            if access.writes:
                continue
            element = shadow_memory.first_undefined(access)
            if element is not None:
                place = "{" + ",".join(map(str, element)) + "}"
                rule, why = self._inheritance.why_undefined(access) or shadow_memory.why_undefined(access)
                self._report(rule, f"{title} reads {access}, whose element {place} {why}", progress)

    def _report(self, rule: Rule, text: str, progress: Progress) -> None:
        if not progress.muted:
            self.report_diagnostic(Diagnostic(rule.severity, rule.id, "", text))
