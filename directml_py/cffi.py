"""The API for cffi users: ``ffi`` declares every struct and enum with the C layout (ABI mode, no compiler needed).

``ffi.new("DML_JOIN_OPERATOR_DESC *")`` creates a desc; a pointer to it is accepted wherever this package takes a desc.
"""

try:
    from .api.cdefs import ffi
except ModuleNotFoundError as missing:
    if missing.name != "directml_py.api.cdefs":
        raise
    raise ImportError(
        "directml_py/api/cdefs.py is missing: it is made when the package is built, so install the package "
        "(in a clone: pip install -e .)"
    ) from None

__all__ = ["ffi"]
