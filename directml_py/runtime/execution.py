"""Recorded commands as programs, and their execution."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Protocol, TypeAlias

from ..abi.lifetime import Lifetime
from ..abi.rules import Diagnostic
from ..kernels.launch import calls_in_order
from .allocation import Allocation
from .buffer import BufferRange
from .interruptible import still_running
from .observers import watchers
from .recording import Command, any_order
from .scheduler import Scheduler, SchedulingLayer, Work, WorkQueue

# Steps in order: calls into C, each of which may launch the kernels of many commands, and Python calls.
Program: TypeAlias = Sequence[Callable[[], None]]
# What was done for a command before it was recorded, and where in the program; empty where it is not known.
CallSites: TypeAlias = Sequence[tuple[str, str]]


def program_of(commands: Iterable[Command], reorders: bool) -> Program:
    """The program that executes ``commands`` if nothing observes them one by one; with ``reorders``, in another order
    that their barriers allow.
    """
    ordered = any_order(commands) if reorders else commands
    return tuple(calls_in_order([command.step() for command in ordered if command.takes_step]))


class CommandMemory(Lifetime):
    """What commands are recorded into, which recordings still refer to after its object is released."""

    __slots__ = ("generation",)

    def __init__(self, kind: str) -> None:
        super().__init__(kind)
        # Incremented when it is reset, which invalidates what was recorded.
        self.generation = 0


class Execution(Work):
    """Runs a program once, from ``start`` to ``finish``."""

    __slots__ = ("_rest", "commands", "may_block", "program", "queue", "scheduler")

    def __init__(self, scheduler: Scheduler, commands: Sequence[Command] = (), program: Program = ()) -> None:
        self.scheduler = scheduler
        self.commands = commands
        self.program = program
        # The queue in which it is in flight.
        self.queue: WorkQueue | None = None
        # Whether a step continues in another thread, after an interrupt of the thread that waited for it.
        self.may_block = False

    def blocked(self) -> bool:
        return self.may_block

    def start(self, queue: WorkQueue) -> bool:
        """Mark it as in flight."""
        self.queue = queue
        # The steps after one that goes on in another thread.
        self._rest: Program | None = None
        return True

    def finish(self) -> None:
        self.queue = None

    def run(self) -> None:
        """An exception raised by a command stands for a GPU fault: it removes the device."""
        scheduler, steps, observers, done = self.scheduler, self._rest, watchers.all, 0
        if steps is None:
            steps = self.steps() if observers else self.program
        for observer in observers:
            observer.started(self)
        try:
            try:
                for step in steps:
                    if scheduler.removed:
                        break
                    step()
                    done += 1
            finally:
                for observer in observers:
                    observer.finished(self)
        except BaseException as error:
            self._fail(error, steps[done + 1 :])
            raise

    def _fail(self, error: BaseException, rest: Program) -> None:
        """A step has raised ``error``; ``rest`` are those behind it."""
        running = still_running(error)
        if running is None:
            outcome = "failed" if isinstance(error, Exception) else "was interrupted"
            self.scheduler.fault(f"a command {outcome}: {str(error) or type(error).__name__}")
        else:
            self._rest = rest
            self.may_block = True
            running.afterwards(self._go_on)

    def _go_on(self, error: BaseException | None) -> None:
        """Continue after the step that has begun, in the thread that ran it."""
        scheduler = self.scheduler
        if error is not None:
            scheduler.fault(f"a command failed: {str(error) or type(error).__name__}")
        with scheduler.lock:
            self.may_block = False
            if self.queue is not None:
                scheduler.ready[self.queue] = None
        scheduler.progress()

    def steps(self) -> Program:
        """The program, or a step for each command if there are observers."""
        return [partial(_observed, command) for command in self.commands] if watchers.all else self.program

    @property
    def recordings(self) -> Sequence[Recording]:
        """The recordings whose commands it executes."""
        return ()


class Recording(Execution):
    """The commands of a list from its opening to its closing. It outlives the next opening of the list.

    It is the execution of its list, too, as a list must have finished before it is executed again.
    """

    __slots__ = ("__weakref__", "generation", "memory")

    def __init__(self, scheduler: Scheduler, memory: CommandMemory) -> None:
        super().__init__(scheduler)
        self.memory = memory
        self.generation = memory.generation

    def start(self, queue: WorkQueue) -> bool:
        """False if it is in flight or stale."""
        if self.queue is not None or self.generation != self.memory.generation:
            return False
        # As in the base class, which ``super`` would take longer to find than all else here.
        self.queue = queue
        self._rest = None
        return True

    @property
    def recordings(self) -> Sequence[Recording]:
        return (self,)

    @property
    def in_flight(self) -> bool:
        return self.queue is not None

    @property
    def stale(self) -> bool:
        """Whether its memory was reset after the recording began."""
        return self.generation != self.memory.generation


def are_free(recordings: Sequence[Recording]) -> bool:
    """Whether they can start together: none is in flight, stale, or among them twice."""
    is_free = not any(recording.in_flight or recording.stale for recording in recordings)
    return is_free and len(set(recordings)) == len(recordings)


class ValidatedSubmission(Protocol):
    """What a validator knows of recordings that are submitted together."""

    def start(self) -> None:
        """They are in flight."""

    def submitted(self) -> None:
        """As ``start``, but called without the lock."""

    def finish(self) -> None:
        """They have run or failed; idempotent."""

    def program(self) -> Program:
        """The steps that execute and validate them."""


class Validator(SchedulingLayer):
    """A layer that checks what commands do while they run."""

    @abstractmethod
    def allocated(self, allocation: Allocation, is_host_visible: bool, is_defined: bool) -> None:
        """Memory was allocated; ``is_defined`` is whether it may be read before it is written."""

    @abstractmethod
    def recorded(self, command: Command) -> None:
        """The program has recorded ``command``, by the call that it is in."""

    @abstractmethod
    def follows(self, command: Command, sites: CallSites) -> None:
        """``command`` depends on what the program has done at ``sites``."""

    @abstractmethod
    def cpu_reads(self, call: str, read: BufferRange, *, is_view: bool = False) -> None:
        """The CPU reads memory by ``call``, or with ``is_view`` from now on. Raises what is to be raised about it."""

    @abstractmethod
    def cpu_writes(self, written: BufferRange) -> None:
        """The CPU has written memory by a call."""

    @abstractmethod
    def cpu_maps(self, read: BufferRange) -> BufferRange:
        """The CPU begins to access a buffer through a pointer, by which it reads ``read``. Raises what is to be raised
        about it. Returns what is to be checked at the end: nothing if commands in flight write it even now."""

    @abstractmethod
    def cpu_unmaps(self, ended: BufferRange, written: BufferRange) -> None:
        """The CPU ends a map for reading ``ended``, during which it says that it wrote ``written``. Raises what is to
        be raised about it."""

    @abstractmethod
    def submit(self, recordings: Sequence[Recording], queue: WorkQueue) -> ValidatedSubmission:
        """Recordings are submitted: note what must not change until they have run."""

    @abstractmethod
    def is_in_flight(self, memory: CommandMemory) -> bool:
        """Whether commands that were recorded into ``memory`` are submitted and have not run."""

    @abstractmethod
    def report_diagnostic(self, diagnostic: Diagnostic) -> None:
        """Report what arises while commands run."""

    @abstractmethod
    def shares_with(self, other: Any) -> None:
        """The devices of both validators share memory from now on."""


class CallExecution(Execution):
    """Recordings that are submitted together, where running one after the other is not enough: on devices that
    reorder, under the debug layer, and where observers distinguish calls."""

    __slots__ = ("__weakref__", "_recordings", "submission")

    def __init__(
        self,
        scheduler: Scheduler,
        recordings: Sequence[Recording],
        submission: ValidatedSubmission | None,
        reorders: bool = False,
    ) -> None:
        commands = [command for recording in recordings for command in recording.commands]
        super().__init__(
            scheduler,
            commands,
            program_of(commands, reorders) if submission is None else submission.program(),
        )
        self._recordings = recordings
        self.submission = submission

    @property
    def recordings(self) -> Sequence[Recording]:
        return self._recordings

    def start(self, queue: WorkQueue) -> bool:
        """False if a recording is in flight, stale, or among them twice."""
        if not are_free(self.recordings):
            return False
        super().start(queue)
        for recording in self.recordings:
            recording.queue = queue
        if self.submission is not None:
            self.submission.start()
        return True

    def finish(self) -> None:
        if self.queue is None:
            return
        for recording in self.recordings:
            recording.queue = None
        if self.submission is not None:
            self.submission.finish()
        super().finish()

    def steps(self) -> Program:
        # Validation notifies observers itself.
        return super().steps() if self.submission is None else self.program


def _observed(command: Command) -> None:
    for observer in watchers.all:
        observer.before(command)
    command.execute()
    for observer in watchers.all:
        observer.after(command)
