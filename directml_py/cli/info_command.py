"""``python -m directml_py info``: describes the installation."""

from __future__ import annotations

import argparse
import json
import platform

import numpy as np

from .._version import __version__
from ..abi.memory import memory_probing
from ..api.schema_data import OPERATORS as CATALOG
from ..kernels import backend
from ..validation.support_rules import HIGHEST_FEATURE_LEVEL
from ..wine.loader import DLLS, dll_path
from .catalog_document import API_VERSION
from .config_command import LIBRARY

HELP = "Show versions, the feature level, and the kernels in use."


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
    lines = [f"{name + ':':15}{value}" for name, value in rows.items()]
    print(json.dumps(rows, indent=1) if arguments.json else "\n".join(lines))
    return 0
