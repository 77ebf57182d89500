"""Loops that NumPy alone is slow at, in C, each with a twin in NumPy.

Every function here binds its arrays now and gives the call that does the work, which may run many times.
"""

from .backend import backend, set_thread_count, thread_count

__all__ = ["backend", "set_thread_count", "thread_count"]
