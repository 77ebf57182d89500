"""Keyboard interrupts during long commands.

Python handles a signal in the main thread, between two bytecode instructions, so not while a kernel runs. Therefore the
main thread of a program that handles interrupts lets another thread run a long command, and waits for it. An interrupt
ends the wait but not the command, as a GPU keeps running when its program is interrupted. Only the end of the program
waits for it: libraries that lose a thread within a call, such as OpenBLAS, may never let the process end.
"""

from __future__ import annotations

import _thread
import atexit
import contextlib
import os
import signal
import threading
from collections.abc import Callable

# The longest time until a signal is handled, in seconds.
ANSWER = 0.05


class StillRunning:
    """A command that another thread runs, attached to the exception that ended the wait for it."""

    def __init__(self, step: Callable[[], None]) -> None:
        self.error: BaseException | None = None
        self._step = step
        self._has_begun = False
        self._lock = threading.RLock()
        self._finished = threading.Event()
        # After what is called afterwards, which runs other commands.
        self.ended = threading.Event()
        self._afterwards: Callable[[BaseException | None], None] | None = None

    def wait(self) -> None:
        self.join()
        if self.error is not None:
            raise self.error

    def join(self) -> None:
        # A signal that comes before the thread sleeps does not wake it.
        while not self._finished.wait(ANSWER):
            pass

    def afterwards(self, call: Callable[[BaseException | None], None]) -> None:
        """Arrange for ``call`` to be called with the command's exception or None once it has run, possibly at once."""
        with self._lock:
            if not self._finished.is_set():
                self._afterwards = call
                return
        call(self.error)

    def run(self) -> None:
        with self._lock:
            if self._has_begun:
                return
            self._has_begun = True
        try:
            self._step()
        except BaseException as error:  # raised by whoever waits
            self.error = error
        with self._lock:
            self._finished.set()
            call = self._afterwards
        try:
            if call is not None:
                call(self.error)
        finally:
            self.ended.set()


# Those that nobody waits for any more.
_left_behind: list[StillRunning] = []


@atexit.register
def _join_left_behind() -> None:
    """Another interrupt does not end the wait, which lasts as long as the commands that are submitted."""
    for running in _left_behind:
        while not running.ended.is_set():
            with contextlib.suppress(KeyboardInterrupt):
                running.ended.wait(ANSWER)


if hasattr(os, "register_at_fork"):
    # The child has no thread that runs them.
    os.register_at_fork(after_in_child=_left_behind.clear)


def answers_interrupts() -> bool:
    """Whether Python raises interrupts in this thread, and the program has not left them to the system."""
    is_main = threading.get_ident() == threading.main_thread().ident
    return is_main and callable(signal.getsignal(signal.SIGINT))


def run_interruptibly(step: Callable[[], None]) -> None:
    """Make the call. An exception raised meanwhile, such as KeyboardInterrupt, propagates at once; ``still_running``
    then returns the call."""
    if not answers_interrupts():
        step()
        return
    running = StillRunning(step)
    try:
        _start(running)
        running.wait()
    except BaseException as error:
        if error is not running.error:
            # The exception may have come before the thread was started. Only the first of the two runs the call.
            _left_behind[:] = [*(other for other in _left_behind if not other.ended.is_set()), running]
            _start(running)
            error._directml_py_running = running  # type: ignore[attr-defined]
        raise


def _start(running: StillRunning) -> None:
    """Not by threading.Thread, whose ``start`` waits for the thread and may be interrupted meanwhile."""
    try:
        _thread.start_new_thread(running.run, ())
    except RuntimeError:
        running.run()


def still_running(error: BaseException) -> StillRunning | None:
    """The call that still runs after ``error`` ended the wait for it."""
    return getattr(error, "_directml_py_running", None)
