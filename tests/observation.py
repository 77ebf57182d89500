"""An observer, as captures and profiles have."""

from __future__ import annotations

from contextlib import contextmanager

from directml_py.runtime.observers import Observer, watchers


class CommandCount(Observer):
    def __init__(self):
        self.count = 0

    def before(self, command):
        self.count += 1


@contextmanager
def observed():
    """An observer that has seen commands run, if any operator has."""
    observer = CommandCount()
    watchers.add(observer)
    try:
        yield observer
    finally:
        watchers.remove(observer)
