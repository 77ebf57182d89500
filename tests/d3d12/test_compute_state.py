"""Root arguments of command lists, which are kept as data, and shaders, which are refused by name."""

from __future__ import annotations

import ctypes
import struct

import numpy as np
import pytest

import directml_py as dml
from directml_py.capturing import capture
from directml_py.capturing.parser import read_capture
from directml_py.capturing.replay import replay
from directml_py.d3d12.dxbc import digest_of

from .message_programs import VIEWS, with_root_signature

E_INVALIDARG, E_NOTIMPL = dml.E_INVALIDARG, dml.E_NOTIMPL
TABLE, CONSTANTS, CBV, SRV, UAV = range(5)
REASON = "shaders are not executed, so that no pipeline state can be created"


def visible_heap(bench):
    desc = dml.D3D12_DESCRIPTOR_HEAP_DESC(VIEWS, 4, dml.D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE)
    return bench.device.CreateDescriptorHeap(desc)


def problem(commands):
    with pytest.raises(dml.DMLError) as caught:
        commands.Close()
    assert caught.value.hresult == E_INVALIDARG
    return caught.value.args[0].partition(" is invalid: ")[2]


def test_arguments_are_kept(bench):
    commands, heap, buffer = with_root_signature(bench), visible_heap(bench), bench.buffer(1024)
    commands.SetDescriptorHeaps([heap])
    handle = dml.D3D12_GPU_DESCRIPTOR_HANDLE(
        heap.GetGPUDescriptorHandleForHeapStart().ptr + 2 * heap.increment
    )
    commands.SetComputeRootDescriptorTable(TABLE, handle)
    commands.SetComputeRoot32BitConstants(CONSTANTS, 2, [7, 0xFFFFFFFF], 1)
    memory = (ctypes.c_uint32 * 2)(5, 6)
    commands.SetComputeRoot32BitConstants(CONSTANTS, 1, ctypes.addressof(memory) + 4, 3)
    commands.SetComputeRoot32BitConstants(CONSTANTS, 1, np.array([1.5], np.float32), 0)
    commands.SetComputeRoot32BitConstant(CONSTANTS, 9, 1)
    address = buffer.GetGPUVirtualAddress()
    commands.SetComputeRootConstantBufferView(CBV, address + 256)
    commands.SetComputeRootShaderResourceView(SRV, address + 4)
    commands.SetComputeRootUnorderedAccessView(UAV, address + 8)
    values = commands.compute.values
    assert values.pop(CONSTANTS).tolist() == [0x3FC00000, 9, 0xFFFFFFFF, 6]
    assert values == {TABLE: handle.ptr, CBV: address + 256, SRV: address + 4, UAV: address + 8}
    bench.execute()
    assert bench.device.GetDeviceRemovedReason() == dml.S_OK
    assert commands.compute is None


def test_the_same_root_signature_keeps_its_arguments(bench):
    blob = dml.D3D12SerializeRootSignature(dml.D3D12_ROOT_SIGNATURE_DESC(), 1)
    first, second = (bench.device.CreateRootSignature(0, blob) for _ in range(2))
    bench.list.SetComputeRootSignature(first)
    arguments = bench.list.compute
    bench.list.SetComputeRootSignature(first)
    assert bench.list.compute is arguments
    bench.list.SetComputeRootSignature(second)
    assert bench.list.compute is not arguments
    bench.list.ClearState()
    assert bench.list.compute is None


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda commands, bench: commands.SetComputeRoot32BitConstant(UAV, 1, 0),
            "SetComputeRoot32BitConstant: rootParameterIndex is 4, where the root signature has a "
            "D3D12_ROOT_PARAMETER_TYPE_UAV",
        ),
        (
            lambda commands, bench: commands.SetComputeRoot32BitConstant(5, 1, 0),
            "SetComputeRoot32BitConstant: rootParameterIndex is 5; the root signature has 5 parameters",
        ),
        (
            lambda commands, bench: commands.SetComputeRoot32BitConstants(CONSTANTS, 3, [1, 2, 3], 2),
            "SetComputeRoot32BitConstants: values 2 to 5 are set, but parameter 1 has 4",
        ),
        (
            lambda commands, bench: commands.SetComputeRootConstantBufferView(
                CBV, bench.buffer(512).GetGPUVirtualAddress() + 4
            ),
            "it must be a multiple of 256",
        ),
        (
            lambda commands, bench: commands.SetComputeRootUnorderedAccessView(UAV, 0x1000),
            "SetComputeRootUnorderedAccessView: bufferLocation is 0x1000, where no buffer of this device is",
        ),
        (
            lambda commands, bench: commands.SetComputeRootDescriptorTable(
                TABLE, dml.D3D12_GPU_DESCRIPTOR_HANDLE(7)
            ),
            "SetComputeRootDescriptorTable: baseDescriptor is 0x7, which is no GPU handle of a live heap",
        ),
        (
            lambda commands, bench: commands.SetComputeRootDescriptorTable(
                TABLE, visible_heap(bench).GetGPUDescriptorHandleForHeapStart()
            ),
            "which is no GPU handle of a live heap",
        ),
        (
            lambda commands, bench: commands.Dispatch(1, 1, 1),
            f"Dispatch: no pipeline state is set; {REASON}",
        ),
    ],
)
def test_wrong_arguments_make_the_list_invalid(bench, call, text):
    commands = with_root_signature(bench)
    before = len(commands.compute.values)
    call(commands, bench)
    assert len(commands.compute.values) <= before + 1
    assert text in problem(commands)


def test_constants_that_cannot_be_read(bench):
    commands = with_root_signature(bench)
    for data, text in (
        ([1], "num32BitValuesToSet is 2, but srcData holds 1"),
        (b"1234567", "4 * num32BitValuesToSet is 8, but srcData has 7 bytes"),
        (0x40, "srcData: 8 bytes at 0x40 cannot be read"),
        (None, "srcData is null"),
    ):
        with pytest.raises(dml.DMLError) as caught:
            commands.SetComputeRoot32BitConstants(CONSTANTS, 2, data, 0)
        assert caught.value.args[0] == text
    commands.Close()


def test_arguments_need_a_root_signature(bench):
    bench.list.SetComputeRootUnorderedAccessView(0, bench.buffer(16).GetGPUVirtualAddress())
    assert problem(bench.list) == "SetComputeRootUnorderedAccessView: no compute root signature is set"


def test_objects_of_others(bench):
    other = dml.D3D12CreateDevice()
    blob = dml.D3D12SerializeRootSignature(dml.D3D12_ROOT_SIGNATURE_DESC(), 1)
    with pytest.raises(dml.DMLError, match="rootSignature belongs to another device"):
        bench.list.SetComputeRootSignature(other.CreateRootSignature(0, blob))
    with pytest.raises(TypeError, match="rootSignature must be an ID3D12RootSignature, not None"):
        bench.list.SetComputeRootSignature(None)
    with pytest.raises(TypeError, match="pipelineState must be an ID3D12PipelineState, not None"):
        bench.list.SetPipelineState(None)
    bench.list.Close()


def shader(part, token, padding=0):
    """A signed container with one part, which begins with a version token."""
    content = struct.pack("<2I", token, 2) + bytes(padding)
    body = struct.pack("<4I", 1, 44 + len(content), 1, 36) + part + struct.pack("<I", len(content)) + content
    return b"DXBC" + digest_of(body) + body


def compute(code, signature=None):
    return dml.D3D12_COMPUTE_PIPELINE_STATE_DESC(pRootSignature=signature, CS=dml.D3D12_SHADER_BYTECODE(code))


def refused(call, *arguments, code=E_NOTIMPL):
    with pytest.raises(dml.DMLError) as caught:
        call(*arguments)
    assert caught.value.hresult == code, caught.value
    return caught.value.args[0]


@pytest.mark.parametrize(
    ("part", "token", "name", "language"),
    [
        (b"SHEX", 5 << 16 | 0x50, "cs_5_0", "DXBC"),
        (b"SHDR", 5 << 16 | 0x40, "cs_4_0", "DXBC"),
        (b"DXIL", 5 << 16 | 0x66, "cs_6_6", "DXIL"),
        (b"DXIL", 1 << 16 | 0x60, "vs_6_0", "DXIL"),
    ],
)
def test_a_shader_is_refused_by_name(bench, part, token, name, language):
    code = shader(part, token, 16)
    blob = dml.D3D12SerializeRootSignature(dml.D3D12_ROOT_SIGNATURE_DESC(), 1)
    desc = compute(code, bench.device.CreateRootSignature(0, blob))
    text = refused(bench.device.CreateComputePipelineState, desc)
    digest = code[4:20].hex()
    assert text == f"desc.CS is the {name} shader ({language}, 68 bytes, digest {digest}); {REASON}"


def test_what_is_no_shader(bench):
    text = refused(bench.device.CreateComputePipelineState, compute(b"code" * 9), code=E_INVALIDARG)
    assert text == "desc.CS is no shader: it begins with b'code'; a DXBC container begins with b'DXBC'"
    text = refused(bench.device.CreateComputePipelineState, compute(None), code=E_INVALIDARG)
    assert text == "desc.CS.pShaderBytecode is null"
    data = bytes(dml.D3D12SerializeRootSignature(dml.D3D12_ROOT_SIGNATURE_DESC(), 1))
    text = refused(bench.device.CreateComputePipelineState, compute(data), code=E_INVALIDARG)
    assert text == "desc.CS is no shader: it has a DXBC container without a shader; its parts are RTS0"
    desc = compute(shader(b"SHEX", 5 << 16 | 0x50))
    desc.pRootSignature = bench.buffer(16)
    text = refused(bench.device.CreateComputePipelineState, desc, code=E_INVALIDARG)
    assert "which is not a live ID3D12RootSignature" in text


def test_graphics_pipelines_are_refused_by_their_shaders(bench):
    """The struct begins with the root signature and VS, PS, DS, HS, GS."""
    codes = {0: shader(b"DXIL", 1 << 16 | 0x60), 1: shader(b"DXIL", 0x60)}
    held = [ctypes.create_string_buffer(code, len(code)) for code in codes.values()]
    desc = (ctypes.c_uint64 * 82)()
    for stage, memory in zip(codes, held):
        desc[1 + 2 * stage], desc[2 + 2 * stage] = ctypes.addressof(memory), len(memory)
    text = refused(bench.device.CreateGraphicsPipelineState, ctypes.addressof(desc))
    assert text.startswith("desc.VS is the vs_6_0 shader (DXIL, 52 bytes, digest ")
    assert "; desc.PS is the ps_6_0 shader (DXIL" in text
    assert text.endswith(REASON)


def test_streams_are_refused_by_their_shaders(bench):
    code = shader(b"SHEX", 5 << 16 | 0x50)
    memory = ctypes.create_string_buffer(code, len(code))
    kind = dml.D3D12_PIPELINE_STATE_SUBOBJECT_TYPE
    prefix = "D3D12_PIPELINE_STATE_SUBOBJECT_TYPE_"
    # A root signature, a node mask and the shader, each aligned as a pointer.
    stream = struct.pack("<IxxxxQ", kind[prefix + "ROOT_SIGNATURE"], 0)
    stream += struct.pack("<II", kind[prefix + "NODE_MASK"], 1)
    stream += struct.pack("<IxxxxQQ", kind[prefix + "CS"], ctypes.addressof(memory), len(code))
    desc = dml.D3D12_PIPELINE_STATE_STREAM_DESC(pPipelineStateSubobjectStream=stream)
    text = refused(bench.device.CreatePipelineState, desc)
    assert text.startswith(
        "CS of desc.pPipelineStateSubobjectStream is the cs_5_0 shader (DXBC, 52 bytes, digest "
    )
    # What follows an unknown subobject cannot be found.
    desc = dml.D3D12_PIPELINE_STATE_STREAM_DESC(pPipelineStateSubobjectStream=struct.pack("<Q", 200) + stream)
    assert refused(bench.device.CreatePipelineState, desc) == REASON


def test_captures_have_what_runs(bench, tmp_path):
    """Root arguments have no effect, and are not captured; what else the list does is."""
    source, target = bench.filled(range(16)), bench.readback(16)
    with capture(tmp_path):
        commands = with_root_signature(bench)
        commands.SetComputeRoot32BitConstant(CONSTANTS, 9, 1)
        commands.CopyResource(target, source)
        bench.execute()
    (log,) = read_capture(tmp_path)
    assert [type(command.what).__name__ for _, command in log.ran] == ["CopyEvent"]
    assert [found for _, found in replay(log)] == []
