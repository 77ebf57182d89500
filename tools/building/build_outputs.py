"""What every build makes and no commit holds: cffi's module of the structs, and headers' second spellings.

Where the file system takes two spellings for one name, writing the second changes nothing.
"""

from __future__ import annotations

from pathlib import Path

from generators import cffi_module
from generators.catalog import Catalog

CFFI_PATH = "api/cdefs.py"
# Programs include both; those that were written on Windows mind no capitals.
SPELLINGS = {"directml.h": "DirectML.h", "Windows.h": "windows.h"}
# As they lie in a clone.
PATHS = frozenset({f"directml_py/{CFFI_PATH}", *(f"include/{name}" for name in SPELLINGS)})


def write(package: Path, include: Path) -> None:
    """Write them into the package and beside the headers that are in ``include``."""
    texts = {package / CFFI_PATH: cffi_module.module_text(Catalog())}
    for name, original in SPELLINGS.items():
        texts[include / name] = (include / original).read_text(encoding="utf-8")
    for path, text in texts.items():
        if differs(path, text):
            path.write_text(text, encoding="utf-8")


def differs(path: Path, text: str) -> bool:
    return not path.is_file() or path.read_text(encoding="utf-8") != text
