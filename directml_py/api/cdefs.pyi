"""The module itself is made when the package is built (see tools/building/build_outputs.py)."""

from typing import Any

ffi: Any
