"""Files that every build writes and no commit holds: cffi's module of the structs, and alternative spellings of
headers.

On case-insensitive file systems, writing the second spelling changes nothing.
"""

from __future__ import annotations

from pathlib import Path

from generators import cffi_module
from generators.catalog import Catalog

CFFI_PATH = "api/cdefs.py"
# The headers of Windows' SDK that windows.h stands for, of which programs include some by themselves.
PARTS = """
    debugapi errhandlingapi handleapi libloaderapi memoryapi minwindef processthreadsapi profileapi stringapiset
    synchapi sysinfoapi winbase windef winerror winnt
"""
# Programs include both spellings, since case does not matter on Windows.
SPELLINGS = {"directml.h": "DirectML.h", "Windows.h": "windows.h", "objidl.h": "objbase.h"}
SPELLINGS |= {f"{part}.h": "windows.h" for part in PARTS.split()}
# The paths in a clone.
PATHS = frozenset({f"directml_py/{CFFI_PATH}", *(f"include/{name}" for name in SPELLINGS)})


def write(package: Path, include: Path) -> None:
    """Write them into the package, and beside the headers in ``include``."""
    texts = {package / CFFI_PATH: cffi_module.module_text(Catalog())}
    for name, original in SPELLINGS.items():
        texts[include / name] = spelled(name, (include / original).read_text(encoding="utf-8"), original)
    for path, text in texts.items():
        if differs(path, text):
            path.write_text(text, encoding="utf-8")


def spelled(name: str, text: str, original: str) -> str:
    """The header under another name. It leads compilers for Windows to their own header of that name, in place of which
    they would miss what windows.h takes from it."""
    if name.lower() == original.lower():
        return text
    return text.replace(f"#include_next <{original}>", f"#include_next <{name}>")


def differs(path: Path, text: str) -> bool:
    return not path.is_file() or path.read_text(encoding="utf-8") != text
