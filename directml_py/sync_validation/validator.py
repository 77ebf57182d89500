"""Synchronization validation of a device, at execution time."""

from __future__ import annotations

import atexit
import itertools
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar
from weakref import WeakKeyDictionary

from ..abi.call_site import caller
from ..abi.hresult import E_INVALIDARG, E_OUTOFMEMORY, DMLError
from ..abi.lifetime import Lifetime
from ..abi.rules import Diagnostic, Rule
from ..api.d3d12_enums import (
    D3D12_MESSAGE_CATEGORY,
    D3D12_MESSAGE_CATEGORY_EXECUTION,
    D3D12_MESSAGE_ID_EXECUTECOMMANDLISTS_GPU_WRITTEN_READBACK_RESOURCE_MAPPED,
    D3D12_MESSAGE_SEVERITY,
    D3D12_MESSAGE_SEVERITY_INFO,
)
from ..runtime.allocation import PATTERN, Allocation
from ..runtime.buffer import Buffer, BufferRange
from ..runtime.execution import Validator
from ..runtime.interruptible import run_interruptibly
from ..runtime.observers import watchers
from ..runtime.recording import Access, AliasingBarrier, Barriers, Command, TransitionBarrier
from ..runtime.scheduler import FenceValue, Scheduler, WorkQueue
from . import shadow_memory, sync_rules
from .aliasing import AliasingTracker, activation
from .deadlocks import CPUWait, Polls, deadlocked_queues, watch_event
from .deferred_execution import Deferral
from .happens_before import HappensBefore
from .host_memory import HOSTS, HostMemory, Problem, host_memory
from .resource_states import DecayedStates, ResourceStates
from .shadow_memory import SHADOWS, ShadowMemory
from .split_barriers import BEGIN_ONLY, SplitBarriers
from .uav_barriers import AccessesSinceBarrier
from .unwritten import UnwrittenMaps, unwritten_for_command, unwritten_for_cpu

if TYPE_CHECKING:
    from ..runtime.execution import CallSites, CommandMemory, Program, Recording


T = TypeVar("T")
Check: TypeAlias = Callable[[Any], Iterable[Problem]]


class ValidatedDevice(Protocol):
    """What validation needs of a device: its work, and where messages go."""

    scheduler: Scheduler

    def report(
        self, severity: D3D12_MESSAGE_SEVERITY, category: D3D12_MESSAGE_CATEGORY, id: int, text: str
    ) -> None:
        """Report a message that belongs to no rule."""

    def report_diagnostic(self, diagnostic: Diagnostic) -> None:
        """Report a violation. Raises ``DMLError`` if the info queue breaks on its severity."""

    def report_deadlock(self, diagnostic: Diagnostic, is_over: Callable[[], bool]) -> DMLError | None:
        """Report a wait that never ends. Returns the exception that is to end it, if any."""


class Submission:
    """One ExecuteCommandLists call: its commands, their allocators' memory, and their accesses to memory that the CPU
    can access too."""

    def __init__(self, validator: SyncValidator, recordings: Sequence[Recording], queue: WorkQueue) -> None:
        self._validator = validator
        self._progress = validator.progress(queue)
        self.queue = queue
        self.known = validator.happens_before.submitted()
        self.memories: list[Lifetime] = [recording.memory for recording in recordings]
        self.commands = [
            validator.submitted(command) for recording in recordings for command in recording.commands
        ]
        self.host_accesses = [
            (host, command, access)
            for command in self.commands
            for access in command.accesses()
            if (host := host_memory(access.range)) is not None
        ]

    def submitted(self) -> None:
        """Report bytes that are mapped for reading while commands write them: correct if they are read after a wait, so
        this is only information."""
        for host, _, access in self.host_accesses:
            written = access.range
            if access.writes and host.mapped_for_reading(written):
                self._validator.device.report(
                    D3D12_MESSAGE_SEVERITY_INFO,
                    D3D12_MESSAGE_CATEGORY_EXECUTION,
                    D3D12_MESSAGE_ID_EXECUTECOMMANDLISTS_GPU_WRITTEN_READBACK_RESOURCE_MAPPED,
                    f"ExecuteCommandLists: {written.words} of {written.buffer} are mapped for reading and will be "
                    "written",
                )

    def start(self) -> None:
        """Mark what must not change as in flight."""
        self._validator.in_flight.add(self)
        by_memory: dict[HostMemory, list[Access]] = {}
        for host, _, access in self.host_accesses:
            by_memory.setdefault(host, []).append(access)
        for host, accesses in by_memory.items():
            host.submit(id(self), accesses)

    def finish(self) -> None:
        """Called after the work has run or failed; idempotent."""
        self._validator.in_flight.discard(self)
        for host, _, _ in self.host_accesses:
            host.finish(id(self))

    def program(self) -> Program:
        """The steps that execute it: one that validates its beginning, and one for each command."""
        validator, progress = self._validator, self._progress
        begin = partial(validator.begin, self, progress)
        run, run_long = validator.run, validator.run_interruptibly
        return [
            begin,
            *(partial(run_long if command.is_long else run, command, progress) for command in self.commands),
        ]


def residence(life: Lifetime) -> Lifetime:
    """The object whose residency an object shares: the heap of a placed resource, else the object itself."""
    heap = life.heap if isinstance(life, Buffer) else None
    return life if heap is None else heap


class _Thread(threading.local):
    """Per-thread state: the diagnostics that the info queue broke on in the current call, None outside of a call; and
    the command that is running."""

    breaks: list[Diagnostic] | None = None
    command: Command | None = None


class Progress:
    """The validation state of one submission while its commands run."""

    def __init__(self, queue: WorkQueue, number: int, decayed: DecayedStates) -> None:
        self.queue = queue
        self.number = number
        self.states = ResourceStates(decayed)
        self.dispatches = AccessesSinceBarrier("UAV barrier or transition")
        self.aliased = AccessesSinceBarrier("aliasing barrier", aliased=True)
        self.reported_released: set[Lifetime] = set()
        self.reported_evicted: set[Lifetime] = set()
        self.muted = False


class SyncValidator(Validator):
    """Validates executing commands and reports hazards to the device's info queue.

    Messages that the info queue breaks on are raised when the call that let the commands run returns, after all of them
    have run.
    """

    def __init__(self, device: ValidatedDevice, checks: Mapping[type[Command], Check]) -> None:
        """``checks`` are what else to check of commands of some types before they run."""
        self._checks = checks
        self._device_of = weakref.ref(device)
        self.scheduler = device.scheduler
        self.happens_before = HappensBefore()
        self._deferral = Deferral(device.scheduler)
        # ``file:line`` of the calls that recorded commands.
        self._call_sites: WeakKeyDictionary[Command, str] = WeakKeyDictionary()
        self._earlier_sites: WeakKeyDictionary[Command, CallSites] = WeakKeyDictionary()
        self._aliasing = AliasingTracker()
        self._splits = SplitBarriers()
        self._decayed = DecayedStates()
        self._unwritten_maps = UnwrittenMaps(lambda *message: self.report_unwritten(*message))
        self._polls = Polls()
        self._submissions = itertools.count(1)
        # The submissions that have not finished.
        self.in_flight: weakref.WeakSet[Submission] = weakref.WeakSet()
        # Commands run in the thread whose call lets them run; that call raises.
        self._of_thread = _Thread()
        _validators.add(self)

    @property
    def device(self) -> ValidatedDevice:
        device = self._device_of()
        assert device is not None
        return device

    def report_diagnostic(self, diagnostic: Diagnostic) -> None:
        """Report a message that arises while commands execute."""
        command = self._of_thread.command
        if command is not None and not diagnostic.origin:
            diagnostic = diagnostic._replace(origin=self._origin(command))
        try:
            self.device.report_diagnostic(diagnostic)
        except DMLError:
            if self._of_thread.breaks is not None:
                self._of_thread.breaks.append(diagnostic)

    def recorded(self, command: Command) -> None:
        self._polls.begin()
        self._call_sites[command] = caller()

    def follows(self, command: Command, sites: CallSites) -> None:
        self._earlier_sites[command] = sites

    def submitted(self, command: Command) -> Command:
        """The command that runs in the place of one that is submitted now."""
        runs = command.submitted()
        if runs is not command:
            self._call_sites[runs] = self._call_sites.get(command, "")
            self._earlier_sites[runs] = self._earlier_sites.get(command, ())
        return runs

    def _origin(self, command: Command) -> str:
        """The call sites in the program that a command originates from, as far as they are known."""
        recorded = self._call_sites.get(command, "")
        lines = {recorded: "recorded"}
        for role, line in self._earlier_sites.get(command, ()):
            lines.setdefault(line, role)
        return ", ".join([f"{role} at {line}" for line, role in lines.items() if line])

    def around(self, call: Callable[[], T]) -> T:
        """Make a call that lets commands run, then raise everything that the info queue broke on as one error.

        Nested calls made by commands do not raise: that would look like a GPU fault.
        """
        thread = self._of_thread
        if thread.breaks is not None:
            return call()
        try:
            breaks = thread.breaks = []
            result = call()
        finally:
            thread.breaks = None
        if breaks:
            raise DMLError(E_INVALIDARG, "\n".join(map(str, breaks)), breaks, reported=True)
        return result

    def advance(self) -> Sequence[Exception]:
        self._polls.begin()
        return self.around(self._deferral.run)

    def poll(self, fence: FenceValue) -> Sequence[Exception]:
        failures = self.around(partial(self._deferral.poll, fence))
        self._polls.add(self, fence)
        return failures

    def flush(self) -> Sequence[Exception]:
        """Also reports deadlocked queues and split barriers that do not end."""

        def run_all() -> Sequence[Exception]:
            failures = self._deferral.flush()
            self.report_deadlocks()
            self.report_begun_splits()
            self.report_unwritten_maps()
            return failures

        return self.around(run_all)

    def thread(self) -> int | None:
        return self._deferral.runner

    def allocated(self, allocation: Allocation, is_host_visible: bool, is_defined: bool) -> None:
        self._polls.begin()
        # What is undefined is not tracked where the CPU may write through a pointer.
        if is_host_visible:
            HOSTS[allocation] = HostMemory(allocation.bytes)
            if not is_defined:
                allocation.bytes[:] = PATTERN
            return
        try:
            SHADOWS[allocation] = ShadowMemory(allocation.bytes, is_defined)
        except MemoryError:
            size = allocation.bytes.size
            raise DMLError(
                E_OUTOFMEMORY, f"there is no memory for the debug layer's shadow of {size} bytes"
            ) from None

    def cpu_reads(self, call: str, read: BufferRange, *, is_view: bool = False) -> None:
        host = host_memory(read)
        if host is not None and not self._report_at_call(host.reads(call, read)):
            self._check_unwritten(call, read, is_over=not is_view)
            if is_view:
                self._unwritten_maps.begin(read)
        if host is not None and is_view:
            host.reach(read)

    def _check_unwritten(self, call: str, read: BufferRange, is_over: bool) -> None:
        problem = unwritten_for_cpu(read, is_over=is_over)
        if problem is not None:
            self.around(partial(self.report_unwritten, f"{call}: {read.buffer} is read, {problem}"))

    def cpu_writes(self, written: BufferRange) -> None:
        host = host_memory(written)
        if host is not None:
            host.account_for(written)

    def cpu_maps(self, read: BufferRange) -> BufferRange:
        host = host_memory(read)
        if host is None:
            return read
        broken = self._report_at_call(host.reads("Map", read))
        if sync_rules.READBACK_READ in broken:
            read = read._replace(size=0)
        if not broken:
            self._check_unwritten("Map", read, is_over=False)
        host.map(read.buffer)
        self._unwritten_maps.begin(read)
        return read

    def cpu_unmaps(self, ended: BufferRange, written: BufferRange) -> None:
        host = host_memory(ended)
        if host is not None:
            self._report_at_call(host.unmap(ended, written))
            self.around(partial(self._unwritten_maps.end, ended.buffer))

    def _report_at_call(self, problems: Iterable[Problem]) -> list[Rule]:
        """Report what is wrong with a call, which raises what the info queue breaks on. Returns the broken rules."""
        broken = []
        for rule, text in problems:
            self.device.report_diagnostic(rule.violated(text))
            broken.append(rule)
        return broken

    def shares_with(self, other: SyncValidator) -> None:
        self.happens_before.shares_with(other.happens_before)

    def submit(self, recordings: Sequence[Recording], queue: WorkQueue) -> Submission:
        """Called by ExecuteCommandLists: snapshot what must not change until the commands have run."""
        return Submission(self, recordings, queue)

    def is_in_flight(self, memory: CommandMemory) -> bool:
        return any(memory in submission.memories for submission in list(self.in_flight))

    def progress(self, queue: WorkQueue) -> Progress:
        return Progress(queue, next(self._submissions), self._decayed)

    def signaled(self, fence: FenceValue, value: int, queue: WorkQueue | None) -> None:
        """``queue``, or the CPU, is about to set ``fence``."""
        self._polls.begin()
        self.happens_before.signaled(fence, value, queue)
        self._check_fence(fence, "Signal")
        before = fence.value
        if value < before:
            who = "the CPU" if queue is None else str(queue.owner)
            text = f"{fence} goes back from {before} to {value}, signaled by {who}"
            self.report_diagnostic(sync_rules.FENCE_BACKWARDS.violated(text))

    def waited(self, fence: FenceValue, value: int, queue: WorkQueue | None) -> None:
        """``queue`` is about to continue because ``fence`` has reached ``value``, or the CPU has seen that."""
        self.happens_before.waited(fence, value, queue)
        if queue is not None:
            self._check_fence(fence, "Wait")

    def report_deadlocks(self) -> None:
        """Report deadlocked queues, when nothing more is submitted and all runnable work has run."""
        for owner, text in () if self.scheduler.removed else deadlocked_queues(self.scheduler.queues()):
            self.report_diagnostic(sync_rules.DEADLOCK.violated(f"{owner} {text}"))

    def report_begun_splits(self) -> None:
        """Report split barriers that no second half ends, when nothing more is submitted."""
        for text in () if self.scheduler.removed else self._splits.begun():
            self.report_diagnostic(sync_rules.SPLIT_BEGUN.violated(text))

    def report_cpu_deadlock(self, text: str, is_over: Callable[[], bool]) -> DMLError | None:
        """Report a thread whose wait, as far as is known, never ends. In a Python program every thread is known, so
        that the wait ends with an exception, unless a filter denies the message."""
        diagnostic = sync_rules.CPU_DEADLOCK.violated(f"the CPU waits forever: {text}")
        return self.device.report_deadlock(diagnostic, is_over)

    def cpu_waits(
        self, event: Event, targets: Iterable[tuple[FenceValue, int]], any_of_them: bool = False
    ) -> AbstractContextManager[None]:
        """Context in which the calling thread waits for ``event``, which fences set."""
        return CPUWait(self, event, targets, any_of_them)

    def gives_event(self, event: Any, fence: FenceValue, target: int) -> None:
        """The program will wait for ``event``, which ``fence`` sets."""
        watch_event(self, event, fence, target)

    def _check_fence(self, fence: FenceValue, call: str) -> None:
        if fence.released:
            text = f"{fence} was released before the {call} of a queue that names it ran"
            self.report_diagnostic(sync_rules.RELEASED.violated(text))

    def begin(self, submission: Submission, progress: Progress) -> None:
        """Validate a submission that is about to run."""
        self.happens_before.begin(submission.queue, submission.known)
        self._check_host_writes(submission, progress)
        self._check_lifetimes(submission.memories, "the commands recorded into it", progress)
        self._check_lifetimes([submission.queue.owner], "the commands submitted to it", progress)

    def _check_host_writes(self, submission: Submission, progress: Progress) -> None:
        for host, command, access in submission.host_accesses:
            if host.written_by_cpu(access.range):
                verb = "write" if access.writes else "read"
                with self._running(command):
                    self._report(
                        sync_rules.UPLOAD_WRITTEN,
                        f"{access} was written by the CPU after the commands that {verb} it were submitted and before "
                        "they ran",
                        progress,
                    )

    @contextmanager
    def _running(self, command: Command) -> Iterator[None]:
        """Context in which messages are attributed to ``command``."""
        self._of_thread.command = command
        try:
            yield
        finally:
            self._of_thread.command = None

    def run(self, command: Command, progress: Progress) -> None:
        """Validate and run a command."""
        observers = watchers.all
        for observer in observers:
            observer.before(command)
        progress.muted = command.muted
        with self._running(command):
            accesses = self._check(command, progress)
            command.execute()
        shadow_memory.after_command(command)
        for access in accesses:
            host = host_memory(access.range)
            if host is not None and access.writes:
                host.written_by_command(access.range)
        for observer in observers:
            observer.after(command)

    def run_interruptibly(self, command: Command, progress: Progress) -> None:
        """As ``run``, maybe in another thread, whose messages are raised in this one."""
        breaks = self._of_thread.breaks

        def run() -> None:
            self._of_thread.breaks = breaks
            self.run(command, progress)

        run_interruptibly(run)

    def _check(self, command: Command, progress: Progress) -> Sequence[Access]:
        """Validate a command that is about to run. Returns its accesses."""
        self._check_lifetimes(command.lives(), command.title, progress)
        if isinstance(command, Barriers):
            self._barriers(command, progress)
        check = self._checks.get(type(command))
        for rule, text in () if check is None else check(command):
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
        placed = [access for access in accesses if access.range.buffer.heap is not None]
        if placed:
            self._check_aliasing(command, placed, progress)
        if command.is_dispatch:
            for problem in progress.dispatches.command(
                command.title, accesses, self._call_sites.get(command, "")
            ):
                self._report(sync_rules.UAV_BARRIER, problem, progress)
            self._check_contents(command.title, accesses, progress)
        for access in placed:
            self._aliasing.touched(access, progress)
        return accesses

    def _check_lifetimes(self, lives: Iterable[Lifetime], user: str, progress: Progress) -> None:
        """Report released or evicted objects, each once per submission."""
        for life in lives:
            if life.released and life not in progress.reported_released:
                progress.reported_released.add(life)
                self._report(sync_rules.RELEASED, f"{life} was released before {user} ran", progress)
            owner = residence(life)
            description = str(life) if owner is life else f"{owner}, the heap of {life},"
            if owner is not life and owner.released and owner not in progress.reported_released:
                progress.reported_released.add(owner)
                self._report(sync_rules.RELEASED, f"{description} was released before {user} ran", progress)
            # DirectML has a rule of its own for the residency of its objects.
            if (
                not owner.is_resident
                and owner.kind.startswith("ID3D12")
                and owner not in progress.reported_evicted
            ):
                progress.reported_evicted.add(owner)
                self._report(
                    sync_rules.EVICTED,
                    f"{description} is not resident: it was evicted before {user} ran",
                    progress,
                )

    def _barriers(self, command: Barriers, progress: Progress) -> None:
        for barrier in command.barriers:
            if isinstance(barrier, AliasingBarrier):
                progress.dispatches.aliasing_barrier(barrier.before, barrier.after)
                progress.aliased.aliasing_barrier(barrier.before, barrier.after)
                self._aliasing.barrier(barrier.before, barrier.after)
                if barrier.after is not None:
                    self._check_queues(command, [activation(barrier.after)], progress)
                continue
            if isinstance(barrier, TransitionBarrier):
                begins = barrier.flags & BEGIN_ONLY
                for problem in (
                    self._splits.transition(barrier, self._call_sites.get(command, ""), progress.number),
                    (progress.states.begin if begins else progress.states.transition)(barrier),
                ):
                    if problem:
                        self._report(*problem, progress)
                # Only the second half of a split barrier synchronizes.
                if begins:
                    continue
            progress.dispatches.barrier(barrier.buffer)

    def _check_queues(self, command: Command, accesses: Sequence[Access], progress: Progress) -> None:
        for rule, text in self.happens_before.use(
            progress.queue, command.title, accesses, self._call_sites.get(command, "")
        ):
            self._report(rule, text, progress)

    def _check_aliasing(self, command: Command, placed: Sequence[Access], progress: Progress) -> None:
        title = command.title
        for problem in progress.aliased.command(title, placed, self._call_sites.get(command, "")):
            self._report(sync_rules.ALIASING_BARRIER, problem, progress)
        for access in placed:
            writer = self._aliasing.written_through(access, progress)
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
                coordinates = "{" + ",".join(map(str, element)) + "}"
                rule, why = self._aliasing.why_undefined(access) or shadow_memory.why_undefined(access)
                self._report(rule, f"{title} reads {access}, whose element {coordinates} {why}", progress)
                continue
            problem = unwritten_for_command(access.range)
            if problem is not None and not progress.muted:
                self.report_unwritten(f"{title} reads {access}, {problem}")

    def report_unwritten_maps(self) -> None:
        """Report maps that have shown nothing, when nothing more is submitted."""
        self._unwritten_maps.end()

    def report_unwritten(self, text: str, origin: str = "") -> None:
        """Report a read of memory that nothing has written. A map may end after its device."""
        rule = sync_rules.UNWRITTEN
        if self._device_of() is not None and not self.scheduler.removed:
            self.report_diagnostic(Diagnostic(rule.severity, rule.id, "", text, origin))

    def _report(self, rule: Rule, text: str, progress: Progress) -> None:
        if not progress.muted:
            self.report_diagnostic(rule.violated(text))


_validators: weakref.WeakSet[SyncValidator] = weakref.WeakSet()


@atexit.register
def _at_exit() -> None:
    for validator in list(_validators):
        validator.report_deadlocks()
        validator.report_begun_splits()
        validator.report_unwritten_maps()
