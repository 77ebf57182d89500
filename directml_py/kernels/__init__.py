"""Native kernels and blocked NumPy kernels, each with a reference in plain NumPy.

Every function here binds its arrays immediately and returns the call that does the work, which may run many times.
"""

from .backend import backend, set_thread_count, thread_count

__all__ = ["backend", "set_thread_count", "thread_count"]
