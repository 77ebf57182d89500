"""``directml_py/com/interfaces.py``: every interface that has a vtable, and every exported function; and the IIDs."""

from __future__ import annotations

from .catalog import Catalog, Function, Interface, Method
from .header.interface_vtables import IUNKNOWN
from .python_text import python_module

IMPORTS = "from .signatures import FunctionSignature, InterfaceSignature, MethodSignature"


def vtable_interfaces(catalog: Catalog) -> dict[str, Interface]:
    """The interfaces by name, each after its base."""
    every = [
        IUNKNOWN,
        *catalog.d3d12_interfaces,
        *catalog.dxgi_interfaces,
        *catalog.interfaces,
    ]
    return {interface.name: interface for interface in every}


def call_text(kind: str, call: Method | Function) -> str:
    return f"{kind}({call.name!r}, {call.returns!r}, {call.params!r})"


def interface_text(interface: Interface) -> str:
    methods = "".join(f"{call_text('MethodSignature', method)}, " for method in interface.methods)
    return f"{interface.name!r}: InterfaceSignature({interface.iid!r}, {interface.base!r}, ({methods})),"


def generate(catalog: Catalog) -> dict[str, str]:
    interfaces = vtable_interfaces(catalog).values()
    functions = [*catalog.functions, *catalog.d3d12_functions]
    body = [
        "INTERFACES: dict[str, InterfaceSignature] = {",
        *(interface_text(interface) for interface in interfaces),
        "}",
        "FUNCTIONS: tuple[FunctionSignature, ...] = (",
        *(f"{call_text('FunctionSignature', function)}," for function in functions),
        ")",
    ]
    text = python_module("The COM interfaces and the exported functions, as C declares them.", IMPORTS, body)
    return {"directml_py/com/interfaces.py": text, "directml_py/api/iids.py": iids(catalog)}


def iids(catalog: Catalog) -> str:
    interfaces = [*catalog.interfaces, *catalog.d3d12_interfaces, *catalog.dxgi_interfaces]
    body = [f'IID_{interface.name} = GUID("{interface.iid}")' for interface in interfaces]
    names = [f"IID_{interface.name}" for interface in interfaces]
    return python_module("Interface identifiers.", "from ..abi.wintypes import GUID", body, names)
