"""Commands that the cyclic garbage collector does not track.

A Python program that uses ``libdirectml.so`` shares its interpreter, and may count the collector's objects, as
TensorFlow's leak tests do. How many commands are pending at that moment depends on when the program's threads submit
them. Commands are freed by reference counting: they refer to objects that do not refer back to them.
"""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Callable, Iterable
from functools import partial
from types import MethodType

# The types that commands and programs consist of, apart from foreign objects. CPython frees all of these, and instances
# of Python classes, whether they are tracked or not; it crashes on untracked methods.
PARTS = (tuple, partial)

_untrack = ctypes.pythonapi.PyObject_GC_UnTrack
_untrack.argtypes = [ctypes.py_object]
_untrack.restype = None


class Tracking:
    """``commands`` is whether the collector sees recorded commands; the C library switches it off in programs that had
    Python before they loaded it."""

    commands = True


def without_methods(steps: Iterable[Callable[[], None]]) -> tuple[Callable[[], None], ...]:
    """The same steps, with partial functions in place of bound methods, which cannot be hidden."""
    return tuple(
        partial(step.__func__, step.__self__) if isinstance(step, MethodType) else step for step in steps
    )


def untrack(item: object) -> None:
    """Hide ``item``, its attributes, and the tuples and partial functions that they consist of."""
    hidden = [item]
    while hidden:
        one = hidden.pop()
        if gc.is_tracked(one):
            _untrack(one)
            parts = PARTS if isinstance(one, dict) else (dict, *PARTS)
            hidden += [part for part in gc.get_referents(one) if isinstance(part, parts)]
