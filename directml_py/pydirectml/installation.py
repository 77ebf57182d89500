"""``import pydirectml`` and ``import directml`` without either."""

from __future__ import annotations

import sys
from importlib import import_module

NAMES = {"pydirectml": "directml_py.pydirectml", "directml": "directml_py.pydirectml.fork"}


def install() -> None:
    """From here on ``import pydirectml`` and ``import directml`` find this package's, whatever is installed."""
    for name, module in NAMES.items():
        sys.modules[name] = import_module(module)
