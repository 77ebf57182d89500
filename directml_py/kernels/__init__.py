"""Kernels of two back ends, native and blocked NumPy, and the references in naive NumPy that define their results.

Every function here binds its arrays immediately and returns the call that does the work, which may run many times.
"""

from .backend import backend, set_thread_count, thread_count

__all__ = ["backend", "set_thread_count", "thread_count"]
