"""Custom marshalling: calls whose C form is a protocol of sizes and buffers that parameter types do not express.

Each function takes the Python method or function and the C arguments.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from ..abi.hresult import (
    DXGI_ERROR_MORE_DATA,
    E_INVALIDARG,
    S_FALSE,
    S_OK,
    DMLError,
)
from ..abi.interface import IUnknown
from ..abi.private_data import UTF_16, WKPDID_D3DDebugObjectNameW
from ..api.d3d12_structs import D3D12_MESSAGE
from ..d3d12.blob import ID3DBlob
from .argument_memory import (
    NULL,
    POINTER_SIZE,
    peek,
    peek_guid,
    peek_number,
    poke,
    poke_number,
    poke_pointer,
)
from .marshalling import object_list
from .object_table import Objects


def get_private_data(objects: Objects, get: Any, guid: int, size: int, data: int) -> int:
    """Writes only the size if ``data`` is null; for a buffer that is too small, ``DXGI_ERROR_MORE_DATA`` too."""
    key = peek_guid(guid, "guid")
    if not size:
        raise DMLError(E_INVALIDARG, "dataSize is null; it holds the size of data")
    try:
        stored = get(key)
    except DMLError:
        poke_number(size, 0, 4, "dataSize")
        raise
    if isinstance(stored, bytes) and key == WKPDID_D3DDebugObjectNameW:
        stored = objects.program.encode(stored.decode(UTF_16, "replace"))
    required = POINTER_SIZE if isinstance(stored, IUnknown) else len(stored)
    capacity = peek_number(size, 4, "dataSize")
    poke_number(size, required, 4, "dataSize")
    if not data:
        return S_OK
    if capacity < required:
        raise DMLError(DXGI_ERROR_MORE_DATA, f"dataSize is {capacity}; the data has {required} bytes")
    if isinstance(stored, IUnknown):
        objects.give(stored, data, "data")
    else:
        poke(data, stored, "data")
    return S_OK


def set_private_data(objects: Objects, set: Any, guid: int, size: int, data: int) -> int:
    key = peek_guid(guid, "guid")
    value = peek(data, size, "data") if data else None
    if value is not None and key == WKPDID_D3DDebugObjectNameW:
        value = objects.program.decode(value).encode(UTF_16, "replace")
        size = len(value)
    return int(set(key, size, value))


def set_private_data_interface(objects: Objects, set: Any, guid: int, data: int) -> int:
    """Keeps any COM object, also the program's own."""
    return int(set(peek_guid(guid, "guid"), objects.any_argument(data, "data")))


def get_message(objects: Objects, get: Any, index: int, message: int, length: int) -> int:
    """Writes only the length if ``message`` is null (``S_FALSE``). The text follows the struct in memory."""
    stored = get(index)
    text = stored.pDescription.encode() + b"\0"
    required = ctypes.sizeof(D3D12_MESSAGE) + len(text)
    if not length:
        raise DMLError(E_INVALIDARG, "pMessageByteLength is null; it holds the size of the message")
    capacity = peek_number(length, 8, "pMessageByteLength")
    poke_number(length, required, 8, "pMessageByteLength")
    if not message:
        return S_FALSE
    if capacity < required:
        raise DMLError(E_INVALIDARG, f"pMessageByteLength is {capacity}; the message has {required} bytes")
    head = D3D12_MESSAGE(stored.Category, stored.Severity, stored.ID, None, len(text))
    pointer = ctypes.c_void_p.from_buffer(head, D3D12_MESSAGE.pDescription.offset)
    pointer.value = message + ctypes.sizeof(D3D12_MESSAGE)
    poke(message, bytes(head) + text, "pMessage")
    return S_OK


def set_event_on_multiple_fence_completion(
    objects: Objects, wait: Any, fences: int, values: int, count: int, flags: int, event: int
) -> int:
    """Reads arrays whose count parameter follows them."""
    items = object_list(count, fences, "ppFences", objects)
    data = memoryview(peek(values, 8 * len(items or ()), "pFenceValues")).cast("Q") if values else ()
    wait(items, list(data), count, flags, objects.program.event(event, "hEvent"))
    return S_OK


def allocation_info(objects: Objects, get: Any, mask: int, count: int, descs: int, infos: int) -> Any:
    """Returns the total; the allocation of each resource is written to ``infos`` unless it is null."""
    total, parts = get(mask, count, descs or None)
    if infos and parts:
        poke(infos, b"".join(map(bytes, parts)), "pResourceAllocationInfo1")
    return total


def enumerate_meta_commands(objects: Objects, enumerate: Any, count: int, descs: int) -> int:
    """Writes the count, which is always 0, so that there are no descs to write."""
    poke_number(count, len(enumerate()), 4, "pNumMetaCommands")
    return S_OK


def register_message_callback(
    objects: Objects, register: Any, function: int, flags: int, context: int, cookie: int
) -> int:
    if not function:
        raise DMLError(E_INVALIDARG, "CallbackFunc is null; a function is required")
    poke_number(cookie, 0, 4, "pCallbackCookie")

    def forward(category: int, severity: int, id: int, text: str, context: int) -> None:
        objects.program.report_message(function, category, severity, id, text, context or 0)

    poke_number(cookie, register(forward, flags, context), 4, "pCallbackCookie")
    return S_OK


def create_shared_handle(
    objects: Objects, create: Any, item: int, attributes: int, access: int, name: int, handle: int
) -> int:
    """``name`` may be null, unlike other strings."""
    poke_number(handle, 0, POINTER_SIZE, "pHandle")
    text = objects.program.read_wide(name, "Name") if name else None
    created = create(objects.argument(item, "pObject"), attributes or None, access, text)
    poke_number(handle, created, POINTER_SIZE, "pHandle")
    return S_OK


def open_shared_handle(objects: Objects, open: Any, handle: int, riid: int, ppv: int) -> int:
    """``handle`` is a shared handle, where other methods take events."""
    poke_pointer(ppv, NULL, "ppvObj")
    objects.query(open(handle), riid, ppv)
    return S_OK


def serialize_root_signature(objects: Objects, serialize: Any, *arguments: Any) -> int:
    """Writes the blob, or for a wrong desc another one with the text, if a pointer for that is given."""
    *described, blob, error_blob = arguments
    poke_pointer(blob, NULL, "ppBlob")
    if error_blob:
        poke_pointer(error_blob, NULL, "ppErrorBlob")
    try:
        serialized = serialize(*described)
    except DMLError as error:
        if error_blob:
            text = str(error.args[0]).encode() + b"\0"
            objects.give(ID3DBlob(text), error_blob, "ppErrorBlob")
        raise
    objects.give(serialized, blob, "ppBlob")
    return S_OK


PROTOCOLS: dict[str, Callable[..., Any]] = {
    "CreateSharedHandle": create_shared_handle,
    "D3D12SerializeRootSignature": serialize_root_signature,
    "D3D12SerializeVersionedRootSignature": serialize_root_signature,
    "EnumerateMetaCommands": enumerate_meta_commands,
    "GetResourceAllocationInfo1": allocation_info,
    "GetResourceAllocationInfo2": allocation_info,
    "OpenSharedHandle": open_shared_handle,
    "RegisterMessageCallback": register_message_callback,
    "SetEventOnMultipleFenceCompletion": set_event_on_multiple_fence_completion,
    "GetPrivateData": get_private_data,
    "SetPrivateData": set_private_data,
    "SetPrivateDataInterface": set_private_data_interface,
    "GetMessage": get_message,
}
