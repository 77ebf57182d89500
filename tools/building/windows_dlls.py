"""The DLLs of Windows programs under Wine, which MinGW compiles: ``directml_py.dll``, and those that forward to it.

Wine runs ``directml_py.dll`` and ``DirectML.dll`` as builtin modules: it recognizes them by a mark, and finds the
library for Linux beside them. The others take the places of modules that Wine has itself, so they must not bear the
mark.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from generators.catalog import Catalog

from building.libdirectml import WINE, Source

COMPILER = "x86_64-w64-mingw32-gcc"
RESOURCES = "x86_64-w64-mingw32-windres"
BRIDGE = "directml_py"
# Where the loader of Wine looks for it: in the part of the DOS header that programs of DOS would have.
MARK, MARK_OFFSET, MARK_SIZE = b"Wine builtin DLL", 0x40, 32
FLAGS = ("-std=gnu11", "-O2", "-s", "-ffreestanding", "-nostdlib", "-shared", "-Wl,--no-insert-timestamp")


class Dll(NamedTuple):
    """A DLL's functions with their ordinals, 0 for those that have none of their own, and its version resource."""

    functions: Mapping[str, int]
    version: str
    is_builtin: bool


# Programs import some functions by ordinals, which are those of the files that Windows has.
DLLS = {
    "directml": Dll({"DMLCreateDevice": 1, "DMLCreateDevice1": 2}, "1.15.4.0", True),
    "d3d12": Dll(
        {
            "D3D12CreateDevice": 101,
            "D3D12GetDebugInterface": 102,
            "D3D12CreateRootSignatureDeserializer": 106,
            "D3D12CreateVersionedRootSignatureDeserializer": 107,
            "D3D12EnableExperimentalFeatures": 108,
            "D3D12SerializeRootSignature": 109,
            "D3D12SerializeVersionedRootSignature": 110,
            "D3D12GetInterface": 0,
        },
        "10.0.22621.0",
        False,
    ),
    "dxgi": Dll(
        dict.fromkeys(("CreateDXGIFactory", "CreateDXGIFactory1", "CreateDXGIFactory2"), 0),
        "10.0.22621.0",
        False,
    ),
    "dxcore": Dll({"DXCoreCreateAdapterFactory": 0}, "10.0.22621.0", False),
}


def compiler() -> str | None:
    """The path of MinGW's compiler; None where it is not installed."""
    return shutil.which(COMPILER) if shutil.which(RESOURCES) else None


def build(folder: Path, work: Path) -> None:
    """Compile all DLLs into ``folder``; ``work`` is for intermediate files.

    Raises ``OSError`` where MinGW is missing, ``subprocess.CalledProcessError`` if it fails.
    """
    for each in (folder, work):
        each.mkdir(parents=True, exist_ok=True)
    bridge = work / f"{BRIDGE}.c"
    bridge.write_text(Source(Catalog()).bridge(), encoding="utf-8")
    _link(folder / f"{BRIDGE}.dll", [str(bridge), f"-I{WINE}", "-lkernel32"], is_builtin=True)
    for name, dll in DLLS.items():
        definitions, version = work / f"{name}.def", work / f"{name}.o"
        definitions.write_text(definition_file(name, dll), encoding="utf-8")
        _run([RESOURCES, "-o", str(version)], version_resource(name, dll))
        _link(folder / f"{name}.dll", [str(definitions), str(version), "-Wl,-e,0"], dll.is_builtin)


def definition_file(name: str, dll: Dll) -> str:
    rows = (
        f"    {function} = {BRIDGE}.{function}{f' @{ordinal}' if ordinal else ''}\n"
        for function, ordinal in dll.functions.items()
    )
    return f"LIBRARY {name}.dll\nEXPORTS\n{''.join(rows)}"


def version_resource(name: str, dll: Dll) -> str:
    """A resource script: some programs read the version of the DirectML that they run on."""
    values = {
        "FileDescription": f"{name}.dll of directml-py",
        "FileVersion": dll.version,
        "OriginalFilename": f"{name}.dll",
        "ProductName": "directml-py",
        "ProductVersion": dll.version,
    }
    lines = "\n".join(f'            VALUE "{key}", "{value}"' for key, value in values.items())
    numbers = dll.version.replace(".", ",")
    return f"""\
1 VERSIONINFO
FILEVERSION {numbers}
PRODUCTVERSION {numbers}
FILEOS 0x40004
FILETYPE 2
BEGIN
    BLOCK "StringFileInfo"
    BEGIN
        BLOCK "040904B0"
        BEGIN
{lines}
        END
    END
    BLOCK "VarFileInfo"
    BEGIN
        VALUE "Translation", 0x0409, 0x04B0
    END
END
"""


def _link(path: Path, arguments: list[str], is_builtin: bool) -> None:
    _run([COMPILER, *FLAGS, "-o", str(path), *arguments])
    if is_builtin:
        with path.open("r+b") as file:
            file.seek(MARK_OFFSET)
            file.write(MARK.ljust(MARK_SIZE, b"\0"))


def _run(command: list[str], text: str | None = None) -> None:
    subprocess.run(command, input=text, check=True, text=True)
