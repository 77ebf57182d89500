"""Pauses of Python's garbage collector, for work that makes many objects and no garbage in cycles.

The collector is started by the count of new objects. Compiling a graph makes ten thousands of them, nearly all of which
stay, and each collection looks at them again, and at all that the program has besides.
"""

from __future__ import annotations

import gc
import os
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

# How often each thread is inside ``paused``. The collector is one for all threads: the first that enters pauses it, the
# last that leaves restores it. A finalizer may enter while its thread has the lock.
_inside: Counter[int] = Counter()
_lock = threading.RLock()
_was_enabled = False


@contextmanager
def paused() -> Iterator[None]:
    """Pauses the collector for the block, in all threads; a collector that the program has disabled stays so."""
    global _was_enabled
    with _lock:
        if not _inside:
            _was_enabled = gc.isenabled()
            gc.disable()
        _inside[threading.get_ident()] += 1
    try:
        yield
    finally:
        with _lock:
            _leave()


def _leave() -> None:
    thread = threading.get_ident()
    _inside[thread] -= 1
    if not _inside[thread]:
        del _inside[thread]
    _restore()


def _restore() -> None:
    if not _inside and _was_enabled:
        gc.enable()


def _forked() -> None:
    """In the child of a fork, which has no other threads: they will never leave."""
    for thread in [*_inside]:
        if thread != threading.get_ident():
            del _inside[thread]
            _restore()
    _lock.release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_forked)
