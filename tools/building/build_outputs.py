"""Files that every build writes and no commit holds: cffi's module of the structs, and alternative spellings of
headers.

On case-insensitive file systems, writing the second spelling changes nothing.
"""

from __future__ import annotations

from pathlib import Path

from generators import cffi_module
from generators.catalog import Catalog

CFFI_PATH = "api/cdefs.py"
# Programs include both spellings, since case does not matter on Windows.
SPELLINGS = {"directml.h": "DirectML.h", "Windows.h": "windows.h"}
# The paths in a clone.
PATHS = frozenset({f"directml_py/{CFFI_PATH}", *(f"include/{name}" for name in SPELLINGS)})


def write(package: Path, include: Path) -> None:
    """Write them into the package, and beside the headers in ``include``."""
    texts = {package / CFFI_PATH: cffi_module.module_text(Catalog())}
    for name, original in SPELLINGS.items():
        texts[include / name] = (include / original).read_text(encoding="utf-8")
    for path, text in texts.items():
        if differs(path, text):
            path.write_text(text, encoding="utf-8")


def differs(path: Path, text: str) -> bool:
    return not path.is_file() or path.read_text(encoding="utf-8") != text
