"""What the tests know about each operator: a record an operator, a module a family.

A record has the reference for its results, the values of its inputs, and how far apart results may be. The reference
is independent of the package's arithmetic: an ONNX operator as ONNX Runtime computes it, or else the formula of the
operator's page in FLOAT64 or in Python's integers. Where a page is silent it follows the operator's docstring.
"""

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from .record import Record

RECORDS: dict[str, Record] = {}
for _module in iter_modules(__path__):
    RECORDS |= getattr(import_module(f"{__name__}.{_module.name}"), "RECORDS", {})


def tolerance(desc: Any, dtype: Any) -> int:
    """How far a result may be from the reference, in ULP; a fused activation adds its own."""
    ulps = RECORDS[desc.name].ulps
    own = (ulps(desc) if callable(ulps) else ulps).get(dtype.name, 0)
    fused = fused_into(desc)
    return own if fused is None else own + tolerance(fused, dtype)


def fused_into(desc: Any) -> Any:
    return desc.FusedActivation if "FusedActivation" in desc.struct.index else None


def zeros_have_signs(desc: Any, dtype: Any) -> bool:
    return not RECORDS[desc.name].either_zero and tolerance(desc, dtype) == 0
