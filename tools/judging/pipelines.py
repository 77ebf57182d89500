"""Pipelines that do nothing, so that Microsoft's library compiles and records operators on the emulated device.

The emulated Direct3D 12 runs no shaders, and creates neither root signatures nor pipelines. Here it returns one COM
object in place of all of them, and its command lists take the commands that go with them.
"""

from __future__ import annotations

import ctypes
from typing import Any

import directml_py
from directml_py.com.custom_marshalling import PROTOCOLS
from directml_py.com.foreign_objects import ForeignUnknown
from directml_py.d3d12 import ID3D12Device, ID3D12GraphicsCommandList

METHOD = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p)
SLOTS = 25
BLOB_SIZE = 4096
COMMANDS = (
    "CopyBufferRegion",
    "Dispatch",
    "ResourceBarrier",
    "SetComputeRoot32BitConstant",
    "SetComputeRoot32BitConstants",
    "SetComputeRootDescriptorTable",
    "SetComputeRootSignature",
    "SetPipelineState",
)


class Nothing(ForeignUnknown):
    """A COM object of every interface, whose methods succeed; as an ID3DBlob it holds zeros. It is never released."""

    def __init__(self) -> None:
        self._blob = ctypes.create_string_buffer(BLOB_SIZE)
        content = ctypes.addressof(self._blob)
        methods = [self._query, lambda *_: 2, lambda *_: 1, lambda *_: content, lambda *_: BLOB_SIZE]
        methods += [lambda *_: 0] * (SLOTS - len(methods))
        self._methods = [METHOD(method) for method in methods]
        entries = [ctypes.cast(method, ctypes.c_void_p).value for method in self._methods]
        self._table = (ctypes.c_void_p * SLOTS)(*entries)
        self._object = ctypes.c_void_p(ctypes.addressof(self._table))
        self.address = ctypes.addressof(self._object)

    def __del__(self) -> None:
        pass

    def QueryInterface(self, riid: Any) -> Any:
        return self

    @staticmethod
    def _query(this: int, riid: int, ppv: int) -> int:
        ctypes.c_void_p.from_address(ppv).value = this
        return 0


def enable() -> None:
    """Make the emulated device of this process create pipelines. Its methods must not have been called before."""
    nothing = Nothing()
    module: Any = directml_py
    device: Any = ID3D12Device
    module.D3D12SerializeVersionedRootSignature = lambda *_: (nothing,)
    device.CreateRootSignature = device.CreateComputePipelineState = lambda *_: nothing
    # Pipelines are no objects of the emulated device, and views of 16-bit elements break a rule of Direct3D's pages.
    for name in ("MakeResident", "Evict", "CreateUnorderedAccessView", *COMMANDS):
        PROTOCOLS[name] = lambda *_: 0
    for name in COMMANDS:
        if not hasattr(ID3D12GraphicsCommandList, name):
            setattr(ID3D12GraphicsCommandList, name, lambda *_: None)
