"""``directml_py/api/iids.py``: the interface identifiers."""

from __future__ import annotations

from .catalog import Catalog
from .python_text import python_module


def generate(catalog: Catalog) -> dict[str, str]:
    interfaces = [*catalog.interfaces, *catalog.d3d12_interfaces, *catalog.dxgi_interfaces]
    body = [f'IID_{interface.name} = GUID("{interface.iid}")' for interface in interfaces]
    names = [f"IID_{interface.name}" for interface in interfaces]
    text = python_module("Interface identifiers.", "from ..abi.wintypes import GUID", body, names)
    return {"directml_py/api/iids.py": text}
