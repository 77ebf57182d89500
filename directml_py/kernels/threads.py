"""Python threads that share NumPy work, which releases the GIL."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from threading import Thread
from time import perf_counter

from .backend import backend

# The work that is worth another thread, in seconds: starting one takes about 50 us.
WORTH_A_THREAD = 3e-4


def share(body: Callable[[Iterator[int]], None], count: int) -> None:
    """Run ``body`` for the numbers below ``count``, in as many threads as the duration of the first call suggests.

    Threads take numbers until none are left. They live as long as the call, so that nothing is left over for a fork to
    break; a thread that cannot be started is done without. An exception of ``body`` in any thread is raised when all
    have ended.
    """
    began = perf_counter()
    body(iter(range(min(count, 1))))
    worth = int((perf_counter() - began) * count / WORTH_A_THREAD)
    threads = min(worth, backend.threads, count - 1)
    if threads <= 1:
        body(iter(range(1, count)))
    else:
        Team(body, count).run(threads)


class Team:
    """Threads over the numbers from 1 on."""

    def __init__(self, body: Callable[[Iterator[int]], None], count: int) -> None:
        self.body = body
        # Taking the next number of a range is atomic.
        self.left = iter(range(1, count))
        self.errors: list[BaseException] = []

    def run(self, threads: int) -> None:
        helpers = []
        for _ in range(threads - 1):
            helper = Thread(target=self.work, name="directml_py kernel", daemon=True)
            try:
                helper.start()
            except RuntimeError:
                break
            helpers.append(helper)
        self.work()
        for helper in helpers:
            helper.join()
        if self.errors:
            raise self.errors[0]

    def work(self) -> None:
        try:
            self.body(self.numbers())
        except BaseException as error:  # raised again in the thread that shares
            self.errors.append(error)

    def numbers(self) -> Iterator[int]:
        while not self.errors:
            number = next(self.left, None)
            if number is None:
                return
            yield number
