# PYTHON_ARGCOMPLETE_OK
"""``python -m directml_py``."""

from __future__ import annotations

import sys

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
