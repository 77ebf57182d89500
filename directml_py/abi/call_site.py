"""Which line of the program called."""

from __future__ import annotations

import os
import sys
from pathlib import Path

_PACKAGE = str(Path(__file__).parents[1]) + os.sep
# Programs, although they come with the package.
_SAMPLES = _PACKAGE + "samples" + os.sep


def caller() -> str:
    """``file:line`` of the innermost call from outside of this package; empty if there is none, as in C programs."""
    frame = sys._getframe(1)
    while True:
        file = frame.f_code.co_filename
        if not file.startswith(_PACKAGE) or file.startswith(_SAMPLES):
            # What starts modules, and code without a file.
            return "" if file.startswith("<frozen") else f"{file}:{frame.f_lineno}"
        if frame.f_back is None:
            return ""
        frame = frame.f_back
