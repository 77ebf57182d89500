"""``python -m directml_py info``: describes the installation."""

from __future__ import annotations

import argparse
import json
import platform

import numpy as np

from .._version import __version__
from ..abi.memory import memory_probing
from ..api.schema_data import OPERATORS as CATALOG
from ..dml.dml_device import HIGHEST_FEATURE_LEVEL
from ..kernels import backend
from ..testing.known_rules import every_rule
from ..wine.loader import DLLS, dll_path
from .catalog_document import API_VERSION
from .config_command import LIBRARY

HELP = (
    "Show versions, feature level, kernels, and what the debug layers check beyond the rules of every call."
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--json", action="store_true", help="print a JSON object")


def run(arguments: argparse.Namespace) -> int:
    """Print one ``name: value`` per line."""
    rows = {
        "directml-py": __version__,
        "DirectML API": API_VERSION,
        "feature level": HIGHEST_FEATURE_LEVEL.name,
        "operators": str(len(CATALOG)),
        "kernels": backend.title,
        "memory": f"probed by {memory_probing()}" if memory_probing() != "not at all" else "not probed",
        "C library": "built" if LIBRARY.exists() else "not built",
        "Windows DLLs": "built" if all(dll_path(name).exists() for name in DLLS) else "not built",
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        "platform": platform.platform(),
    }
    debug_checks = [rule.id for rule in every_rule() if rule.debug]
    if arguments.json:
        print(json.dumps({**rows, "debug checks": debug_checks}, indent=1))
        return 0
    checks = [("debug check", identifier) for identifier in debug_checks]
    for name, value in [*rows.items(), *checks]:
        print(f"{name + ':':15}{value}")
    return 0
