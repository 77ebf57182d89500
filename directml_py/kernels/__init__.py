"""Kernels in C or in blocks of NumPy, each with a reference in plain NumPy.

Every function here binds its arrays now and gives the call that does the work, which may run many times.
"""

from .backend import backend, set_thread_count, thread_count

__all__ = ["backend", "set_thread_count", "thread_count"]
