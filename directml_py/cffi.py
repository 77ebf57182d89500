"""The API for cffi users: ``ffi`` knows every struct and enum, with the C layout (ABI mode, no compiler).

``ffi.new("DML_JOIN_OPERATOR_DESC *")`` makes a desc; a pointer to it goes wherever this package takes a desc.
"""

from .api.cdefs import ffi

__all__ = ["ffi"]
