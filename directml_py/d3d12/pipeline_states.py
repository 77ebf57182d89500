"""Pipeline states, which no device creates: shaders are not executed. The refusal says which shaders were asked for."""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final, NoReturn

from ..abi.arguments import child, invalid
from ..abi.hresult import E_NOTIMPL, DMLError
from ..abi.memory import MemoryFault, read
from ..abi.pointers import locate, struct_at
from ..api.d3d12_enums import D3D12_PIPELINE_STATE_SUBOBJECT_TYPE
from ..api.d3d12_structs import (
    D3D12_COMPUTE_PIPELINE_STATE_DESC,
    D3D12_PIPELINE_STATE_STREAM_DESC,
    D3D12_SHADER_BYTECODE,
)
from .buffer_rules import check_node_mask
from .compute_state import REASON, ID3D12RootSignature
from .dxbc import NotAContainer, shader_of

if TYPE_CHECKING:
    from .device_child import ParentDevice

# The shaders of D3D12_GRAPHICS_PIPELINE_STATE_DESC follow its root signature. The rest is not in the catalog.
GRAPHICS_STAGES: Final = ("VS", "PS", "DS", "HS", "GS")
BYTECODE_SIZE: Final = ctypes.sizeof(D3D12_SHADER_BYTECODE)
POINTER_SIZE: Final = ctypes.sizeof(ctypes.c_void_p)
# A longer stream is garbage.
MAX_STREAM: Final = 1 << 16
# Of each subobject of a stream after its type: size and alignment of its struct in d3d12.h, which is 64 bits wide.
_BYTECODE, _UINT = (16, 8), (4, 4)
SUBOBJECTS: Final = {
    "ROOT_SIGNATURE": (8, 8),
    **dict.fromkeys(("VS", "PS", "DS", "HS", "GS", "CS", "AS", "MS"), _BYTECODE),
    "STREAM_OUTPUT": (32, 8),
    "BLEND": (328, 4),
    "SAMPLE_MASK": _UINT,
    "RASTERIZER": (44, 4),
    "DEPTH_STENCIL": (52, 4),
    "INPUT_LAYOUT": (16, 8),
    "IB_STRIP_CUT_VALUE": _UINT,
    "PRIMITIVE_TOPOLOGY": _UINT,
    "RENDER_TARGET_FORMATS": (36, 4),
    "DEPTH_STENCIL_FORMAT": _UINT,
    "SAMPLE_DESC": (8, 4),
    "NODE_MASK": _UINT,
    "CACHED_PSO": (16, 8),
    "FLAGS": _UINT,
    "DEPTH_STENCIL1": (56, 4),
    "VIEW_INSTANCING": (24, 8),
    "DEPTH_STENCIL2": (60, 4),
}


def refuse_compute(device: ParentDevice, desc: Any) -> NoReturn:
    """Raises ``E_NOTIMPL``, naming the shader, or ``E_INVALIDARG`` for a desc that is wrong in itself."""
    fields = struct_at(desc, D3D12_COMPUTE_PIPELINE_STATE_DESC, "desc")
    check_node_mask(fields.NodeMask, "desc.NodeMask")
    if fields.pRootSignature:
        signature = ID3D12RootSignature.from_handle(fields.pRootSignature)
        if signature is None:
            raise invalid(
                f"desc.pRootSignature is 0x{fields.pRootSignature:X}, which is not a live ID3D12RootSignature"
            )
        child(signature, ID3D12RootSignature, "desc.pRootSignature", device)
    raise _refusal([_shader(fields.CS, "desc.CS")])


def refuse_graphics(desc: Any) -> NoReturn:
    """As ``refuse_compute``, for a D3D12_GRAPHICS_PIPELINE_STATE_DESC, of which only the shaders are read."""
    data = _read(locate(desc, "desc").address, POINTER_SIZE + len(GRAPHICS_STAGES) * BYTECODE_SIZE, "desc")
    found = []
    for index, stage in enumerate(GRAPHICS_STAGES):
        code = D3D12_SHADER_BYTECODE.from_buffer_copy(data, POINTER_SIZE + index * BYTECODE_SIZE)
        if code.pShaderBytecode:
            found.append(_shader(code, f"desc.{stage}"))
    raise _refusal(found)


def refuse_stream(desc: Any) -> NoReturn:
    """As ``refuse_compute``, for a stream of subobjects, which is read up to one that is not known."""
    stream = struct_at(desc, D3D12_PIPELINE_STATE_STREAM_DESC, "desc")
    name = "desc.pPipelineStateSubobjectStream"
    if stream.SizeInBytes > MAX_STREAM:
        raise invalid(f"desc.SizeInBytes is {stream.SizeInBytes}; more than {MAX_STREAM} are not read")
    data = _read(stream.pPipelineStateSubobjectStream or 0, stream.SizeInBytes, name)
    raise _refusal([_shader(code, f"{stage} of {name}") for stage, code in _shaders_in(data)])


def _shaders_in(stream: bytes) -> Iterator[tuple[str, D3D12_SHADER_BYTECODE]]:
    offset, prefix = 0, "D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_"
    names = {int(each): each.name.removeprefix(prefix) for each in D3D12_PIPELINE_STATE_SUBOBJECT_TYPE}
    while offset + _UINT[0] <= len(stream):
        (kind,) = struct.unpack_from("<I", stream, offset)
        name = names.get(kind, "")
        if name not in SUBOBJECTS:
            return
        size, alignment = SUBOBJECTS[name]
        start = -(-(offset + _UINT[0]) // alignment) * alignment
        if start + size > len(stream):
            return
        if SUBOBJECTS[name] is _BYTECODE:
            code = D3D12_SHADER_BYTECODE.from_buffer_copy(stream, start)
            if code.pShaderBytecode:
                yield name, code
        # Every subobject is aligned as a pointer.
        offset = -(-(start + size) // POINTER_SIZE) * POINTER_SIZE


def _read(address: int, size: int, name: str) -> bytes:
    if not address:
        raise invalid(f"{name} is null")
    try:
        return read(address, size)
    except (MemoryFault, MemoryError) as fault:
        raise invalid(f"{name}: {fault}") from None


def _shader(code: D3D12_SHADER_BYTECODE, name: str) -> str:
    data = _read(code.pShaderBytecode or 0, code.BytecodeLength, f"{name}.pShaderBytecode")
    try:
        return f"{name} is {shader_of(data)}"
    except NotAContainer as error:
        raise invalid(f"{name} is no shader: it {error}") from None


def _refusal(shaders: list[str]) -> DMLError:
    return DMLError(E_NOTIMPL, "; ".join([*shaders, REASON]))
