"""Import aliases: ``import pydirectml`` and ``import directml`` without either package."""

from __future__ import annotations

import sys
from importlib import import_module

NAMES = {"pydirectml": "directml_py.pydirectml", "directml": "directml_py.pydirectml.fork"}


def install() -> None:
    """Make ``import pydirectml`` and ``import directml`` find this package's modules, whatever is installed."""
    for name, module in NAMES.items():
        sys.modules[name] = import_module(module)
