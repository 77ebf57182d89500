"""Closed command lists as programs, and their execution."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from ..abi.hresult import DXGI_ERROR_DEVICE_HUNG
from ..kernels.launch import steps_in_order
from ..runtime.interruptible import still_running
from ..runtime.observers import watchers
from ..runtime.recording import Command, any_order
from .scheduler import Work, WorkQueue

if TYPE_CHECKING:
    from .command_allocator import CommandMemory
    from .device import ID3D12Device
    from .sync_validation.validator import Submission

# Steps in order: calls into C, each of which may launch the kernels of many commands, and Python calls.
Program: TypeAlias = Sequence[Callable[[], None]]


def program_of(commands: Iterable[Command], reorders: bool) -> Program:
    """The program that executes ``commands`` if nothing observes them one by one; ``reorders`` as the device's.

    Barriers, descriptor heaps and markers take no step.
    """
    ordered = any_order(commands) if reorders else commands
    return tuple(steps_in_order([call for command in ordered if (call := command.call())]))


class Execution(Work):
    """Runs a program once, from ``start`` to ``finish``; after an interrupt, the rest of it."""

    __slots__ = ("_begun", "_position", "_steps", "commands", "device", "may_block", "program", "queue")

    def __init__(self, device: ID3D12Device, commands: Sequence[Command] = (), program: Program = ()) -> None:
        self.device = device
        self.commands = commands
        self.program = program
        # The queue in which it is in flight.
        self.queue: WorkQueue | None = None
        # Whether a step continues in another thread, after an interrupt of the thread that waited for it.
        self.may_block = False

    def blocked(self) -> bool:
        return self.may_block

    def start(self, queue: WorkQueue) -> None:
        """Mark it as in flight. Called with the device's lock held."""
        self.queue = queue
        self.done = False
        self._steps: Program | None = None
        # Steps begun and steps completed: if they differ, one was interrupted.
        self._begun = self._position = 0

    def finish(self) -> None:
        self.queue = None

    def run(self) -> None:
        """An exception raised by a command stands for a GPU fault: it removes the device."""
        device, steps, observers = self.device, self._steps, watchers.all
        if steps is None:
            steps = self._steps = self.steps() if observers else self.program
        for observer in observers:
            observer.started(self)
        try:
            try:
                for step in steps[self._position :] if self._position else steps:
                    if device.removed:
                        return
                    self._begun += 1
                    step()
                    self._position += 1
            finally:
                for observer in observers:
                    observer.finished(self)
        except BaseException as error:
            running = still_running(error)
            if running is not None:
                self.may_block = True
                running.afterwards(self._go_on)
            elif self._begun != self._position:
                outcome = "failed" if isinstance(error, Exception) else "was interrupted"
                reason = str(error) or type(error).__name__
                device.mark_removed(DXGI_ERROR_DEVICE_HUNG, f"a command {outcome}: {reason}")
            raise

    def _go_on(self, error: BaseException | None) -> None:
        """Continue after the step that has begun, in the thread that ran it."""
        device = self.device
        if error is not None:
            device.mark_removed(
                DXGI_ERROR_DEVICE_HUNG, f"a command failed: {str(error) or type(error).__name__}"
            )
        with device.lock:
            self._position = self._begun
            self.may_block = False
            for queue in device.queues():
                device.ready[queue] = None
        device.progress()

    def steps(self) -> Program:
        """The program, or a step for each command if there are observers."""
        return [partial(_observed, command) for command in self.commands] if watchers.all else self.program

    @property
    @abstractmethod
    def recordings(self) -> Sequence[Recording]:
        """The recordings whose commands it executes."""


class Recording(Execution):
    """The commands of a list from creation or ``Reset`` to ``Close``. It outlives the next ``Reset`` of the list.

    It is the execution of its list, too, as a list must have finished before it is executed again.
    """

    __slots__ = ("__weakref__", "generation", "memory")

    def __init__(self, device: ID3D12Device, memory: CommandMemory) -> None:
        super().__init__(device)
        self.memory = memory
        self.generation = memory.generation

    @property
    def recordings(self) -> Sequence[Recording]:
        return (self,)

    @property
    def in_flight(self) -> bool:
        return self.queue is not None

    @property
    def stale(self) -> bool:
        """Whether the allocator was reset after the recording began."""
        return self.generation != self.memory.generation


class CallExecution(Execution):
    """All lists of one ExecuteCommandLists call, where running one after the other is not enough: on devices that
    reorder, under the debug layer, and where observers distinguish calls."""

    __slots__ = ("__weakref__", "_recordings", "submission")

    def __init__(
        self, device: ID3D12Device, recordings: Sequence[Recording], submission: Submission | None
    ) -> None:
        commands = [command for recording in recordings for command in recording.commands]
        super().__init__(
            device,
            commands,
            program_of(commands, device.reorders) if submission is None else submission.program(),
        )
        self._recordings = recordings
        self.submission = submission

    @property
    def recordings(self) -> Sequence[Recording]:
        return self._recordings

    def start(self, queue: WorkQueue) -> None:
        super().start(queue)
        for recording in self.recordings:
            recording.queue = queue
            recording.memory.in_flight.add(recording)
        if self.submission is not None:
            self.submission.start()

    def submitted(self) -> None:
        """Called once it is in flight, without the lock."""
        if self.submission is not None:
            self.submission.check_maps()

    def finish(self) -> None:
        if self.queue is None:
            return
        for recording in self.recordings:
            recording.queue = None
            recording.memory.in_flight.discard(recording)
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
