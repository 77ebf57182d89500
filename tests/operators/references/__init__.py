"""Reference results of operators, independent of the package's arithmetic: a row per operator, a module per family.

A row's reference is an ONNX operator as ONNX Runtime computes it, or else the formula of the operator's page in FLOAT64
or in Python's integers. Where a page is silent the reference follows the operator's docstring.
"""

from importlib import import_module
from pkgutil import iter_modules

from .row import Row

ROWS: dict[str, Row] = {}
for _module in iter_modules(__path__):
    ROWS |= getattr(import_module(f"{__name__}.{_module.name}"), "ROWS", {})
