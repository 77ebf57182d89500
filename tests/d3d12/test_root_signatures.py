"""Root signatures: their bytes, what reads them back, what refuses them, and the objects of them."""

from __future__ import annotations

import contextlib
import copy
import ctypes
import gc
import math
import pickle
import struct

import numpy as np
import pytest

import directml_py as dml
from directml_py.d3d12.dxbc import digest_of, parse

from . import root_signature_cases as cases
from .root_signature_cases import CASES, CBV, PIXEL, SAMPLER, SAMPLER_DESC, SRV, UAV, v1_0, v1_1

V1_0 = dml.D3D_ROOT_SIGNATURE_VERSION_1_0
V1_1 = dml.D3D_ROOT_SIGNATURE_VERSION_1_1
E_INVALIDARG, E_FAIL = dml.E_INVALIDARG, dml.E_FAIL


def refused(call, *arguments, code=E_INVALIDARG):
    with pytest.raises(dml.DMLError) as caught:
        call(*arguments)
    assert caught.value.hresult == code, caught.value
    return caught.value.args[0]


def serialized(desc):
    return bytes(dml.D3D12SerializeVersionedRootSignature(desc))


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_bytes(case):
    assert serialized(case.desc) == case.bytes


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_they_are_read_back(case):
    deserializer = dml.D3D12CreateVersionedRootSignatureDeserializer(case.bytes)
    found = deserializer.GetUnconvertedRootSignatureDesc()
    assert found.Version == case.desc.Version
    # Serialized by another code path than that which has read it, which test_bytes has tested.
    assert serialized(found) == case.bytes
    assert deserializer.GetRootSignatureDescAtVersion(found.Version) is found


def test_an_unversioned_desc_has_the_bytes_of_version_1_0():
    case = next(case for case in CASES if case.name == "table")
    assert bytes(dml.D3D12SerializeRootSignature(case.desc.Desc_1_0, V1_0)) == case.bytes
    text = refused(dml.D3D12SerializeRootSignature, case.desc.Desc_1_0, V1_1)
    assert text.startswith("version is D3D_ROOT_SIGNATURE_VERSION_1_1, but")


def test_the_fields_are_read_back():
    case = next(case for case in CASES if case.name == "tables_1_1")
    found = (
        dml.D3D12CreateVersionedRootSignatureDeserializer(case.bytes)
        .GetUnconvertedRootSignatureDesc()
        .Desc_1_1
    )
    assert (found.NumParameters, found.NumStaticSamplers, found.Flags) == (2, 1, 0)
    first, second = found.pParameters[:2]
    assert first.ParameterType == dml.D3D12_ROOT_PARAMETER_TYPE_DESCRIPTOR_TABLE
    assert (first.ShaderVisibility, second.ShaderVisibility) == (0, PIXEL)
    there = first.DescriptorTable.pDescriptorRanges[0]
    assert [getattr(there, name) for name, _ in there._fields_] == [SRV, 8, 16, 0, 8, 0xFFFFFFFF]
    assert found.pStaticSamplers[0] == SAMPLER_DESC


@pytest.mark.parametrize("case", [pytest.param(case, id=case.name) for case in CASES])
def test_descs_are_values(case):
    """The type of a parameter, and the version, say which member of a union the value is."""
    found = dml.D3D12CreateVersionedRootSignatureDeserializer(case.bytes).GetUnconvertedRootSignatureDesc()
    assert found == dml.D3D12_VERSIONED_ROOT_SIGNATURE_DESC(case.desc)
    for copied in (copy.deepcopy(found), pickle.loads(pickle.dumps(found))):
        assert copied == found
        assert serialized(copied) == case.bytes


def test_what_descs_show():
    parameter = cases.uav1(3, 1, 8)
    expected = "Descriptor=D3D12_ROOT_DESCRIPTOR1(ShaderRegister=3, RegisterSpace=1, Flags="
    assert f"D3D12_ROOT_PARAMETER1(ParameterType=D3D12_ROOT_PARAMETER_TYPE_UAV, {expected}" in repr(parameter)
    assert parameter != cases.uav1(3, 2, 8)
    parameter.ParameterType = 9
    assert "Parameter=b'" in repr(parameter)


def test_conversion_to_1_0_drops_flags():
    case = next(case for case in CASES if case.name == "tables_1_1")
    older = dml.D3D12CreateVersionedRootSignatureDeserializer(case.bytes).GetRootSignatureDescAtVersion(V1_0)
    plain = dml.D3D12CreateRootSignatureDeserializer(case.bytes).GetRootSignatureDesc()
    ranges = (
        cases.table(cases.range0(SRV, 8, 16)),
        cases.table(cases.range0(SAMPLER, 2, 0, 1), visibility=PIXEL),
    )
    expected = serialized(v1_0(ranges, [SAMPLER_DESC]))
    assert serialized(older) == expected
    assert bytes(dml.D3D12SerializeRootSignature(plain, V1_0)) == expected


def test_conversion_from_1_0_promises_nothing():
    """Microsoft's converter gives samplers no flag about data; vkd3d does."""
    parameters = [
        cases.uav(1, registerSpace=2),
        cases.table(cases.range0(UAV, 2, 3)),
        cases.table(cases.range0(SAMPLER, 2, 3)),
    ]
    data = serialized(v1_0(parameters))
    newer = dml.D3D12CreateVersionedRootSignatureDeserializer(data).GetRootSignatureDescAtVersion(V1_1)
    descriptors, volatile = 1, 2
    expected = [
        cases.uav1(1, 2, volatile),
        cases.table1(cases.range1(UAV, 2, 3, flags=descriptors | volatile)),
        cases.table1(cases.range1(SAMPLER, 2, 3, flags=descriptors)),
    ]
    assert serialized(newer) == serialized(v1_1(expected))


def test_a_desc_for_older_devices():
    desc = v1_1([cases.uav1(3, flags=8)])
    assert bytes(dml.D3DX12SerializeVersionedRootSignature(desc, V1_0)) == serialized(v1_0([cases.uav(3)]))
    assert bytes(dml.D3DX12SerializeVersionedRootSignature(desc, V1_1)) == serialized(desc)


def test_descs_live_as_long_as_what_owns_them():
    case = next(case for case in CASES if case.name == "table")
    deserializer = dml.D3D12CreateRootSignatureDeserializer(case.bytes)
    address = ctypes.addressof(deserializer.GetRootSignatureDesc())
    gc.collect()
    found = dml.D3D12_ROOT_SIGNATURE_DESC.from_address(address)
    assert found.pParameters[0].DescriptorTable.pDescriptorRanges[1].OffsetInDescriptorsFromTableStart == 44


def sampler(**rest):
    return dml.CD3DX12_STATIC_SAMPLER_DESC(0, **rest)


def of_type(kind):
    return dml.D3D12_ROOT_PARAMETER1(ParameterType=kind)


IN_TABLE = "pParameters[0].DescriptorTable.pDescriptorRanges"

WRONG = {
    "flags": (v1_1(flags=1 << 20), "Flags has bits that are not D3D12_ROOT_SIGNATURE_FLAGS: 0x100000"),
    "parameter_type": (
        v1_1([of_type(7)]),
        "pParameters[0].ParameterType must be a D3D12_ROOT_PARAMETER_TYPE, not 7",
    ),
    "visibility": (
        v1_1([cases.uav1(0, visibility=9)]),
        "pParameters[0].ShaderVisibility must be a D3D12_SHADER_VISIBILITY, not 9",
    ),
    "descriptor_flags": (
        v1_1([cases.uav1(0, flags=1)]),
        "pParameters[0].Descriptor.Flags has bits that are not D3D12_ROOT_DESCRIPTOR_FLAGS: 0x1",
    ),
    "two_data_flags": (
        v1_1([cases.uav1(0, flags=2 | 8)]),
        "pParameters[0].Descriptor.Flags has DATA_VOLATILE and DATA_STATIC; at most one DATA_ flag is possible",
    ),
    "range_type": (
        v1_1([cases.table1(cases.range1(9, 1, 0))]),
        f"{IN_TABLE}[0].RangeType must be a D3D12_DESCRIPTOR_RANGE_TYPE, not 9",
    ),
    "range_flags": (
        v1_1([cases.table1(cases.range1(SRV, 1, 0, flags=32))]),
        f"{IN_TABLE}[0].Flags has bits that are not D3D12_DESCRIPTOR_RANGE_FLAGS: 0x20",
    ),
    "data_of_samplers": (
        v1_1([cases.table1(cases.range1(SAMPLER, 1, 0, flags=2))]),
        f"{IN_TABLE}[0].Flags must have no DATA_ flag for D3D12_DESCRIPTOR_RANGE_TYPE_SAMPLER: samplers have no data",
    ),
    "static_data_of_volatile_descriptors": (
        v1_1([cases.table1(cases.range1(SRV, 1, 0, flags=1 | 8))]),
        f"{IN_TABLE}[0].Flags has DATA_STATIC and DESCRIPTORS_VOLATILE; data can be static only if the descriptors "
        "are, and DATA_STATIC_WHILE_SET_AT_EXECUTE goes with volatile ones",
    ),
    "samplers_with_others": (
        v1_1([cases.table1(cases.range1(SRV, 1, 0), cases.range1(SAMPLER, 1, 0))]),
        f"{IN_TABLE}[1].RangeType is D3D12_DESCRIPTOR_RANGE_TYPE_SAMPLER, but that of "
        f"rootSignature.Desc_1_1.{IN_TABLE}[0] is D3D12_DESCRIPTOR_RANGE_TYPE_SRV; a table holds either samplers or "
        "other descriptors",
    ),
    "no_descriptors": (
        v1_1([cases.table1(cases.range1(SRV, 0, 0))]),
        f"{IN_TABLE}[0].NumDescriptors must not be 0",
    ),
    "after_no_end": (
        v1_1([cases.table1(cases.range1(SRV, 0xFFFFFFFF, 0), cases.range1(UAV, 1, 0))]),
        f"{IN_TABLE}[1].OffsetInDescriptorsFromTableStart is D3D12_DESCRIPTOR_RANGE_OFFSET_APPEND, but the range "
        "before it has no end",
    ),
    "register_overflow": (
        v1_1([cases.table1(cases.range1(SRV, 2, 0xFFFFFFFF))]),
        f"{IN_TABLE}[0].NumDescriptors is 2; from BaseShaderRegister 4294967295 on it ends at 4294967296, beyond "
        "4294967295",
    ),
    "offset_overflow": (
        v1_1([cases.table1(cases.range1(SRV, 4, 0, offsetInDescriptorsFromTableStart=0xFFFFFFFE))]),
        f"{IN_TABLE}[0].NumDescriptors is 4; from OffsetInDescriptorsFromTableStart 4294967294 on it ends at "
        "4294967297, beyond 4294967295",
    ),
    "reserved_space": (
        v1_1([cases.uav1(0, 0xFFFFFFF0)]),
        "pParameters[0].Descriptor.RegisterSpace is 0xFFFFFFF0; spaces from 0xFFFFFFF0 on are reserved for the system",
    ),
    "overlap_for_all": (
        v1_1([cases.uav1(2, visibility=PIXEL), cases.table1(cases.range1(UAV, 3, 0))]),
        "pParameters[1].DescriptorTable.pDescriptorRanges[0] has u0 to u2 in space 0, and "
        "rootSignature.Desc_1_1.pParameters[0].Descriptor has u2 in space 0; D3D12_SHADER_VISIBILITY_PIXEL would see "
        "both",
    ),
    "constants_are_a_buffer": (
        v1_1([cases.constants1(1, 5), cases.table1(cases.range1(CBV, 0xFFFFFFFF, 3))]),
        "pParameters[1].DescriptorTable.pDescriptorRanges[0] has b3 to all that follow in space 0, and "
        "rootSignature.Desc_1_1.pParameters[0].Constants has b5 in space 0; D3D12_SHADER_VISIBILITY_ALL would see both",
    ),
    "overlap_of_samplers": (
        v1_1([cases.table1(cases.range1(SAMPLER, 2, 0))], [sampler()]),
        "pStaticSamplers[0] has s0 in space 0, and "
        f"rootSignature.Desc_1_1.{IN_TABLE}[0] has s0 to s1 in space 0; D3D12_SHADER_VISIBILITY_ALL would see both",
    ),
    "size": (
        v1_1([cases.constants1(60, 0), cases.uav1(0), cases.uav1(1), cases.table1(cases.range1(SRV, 1, 0))]),
        "pParameters needs 65 DWORDs; at most 64 are available, of which a table takes 1, a descriptor 2 and a 32-bit "
        "constant 1",
    ),
    "filter": (v1_1((), [sampler(filter=2)]), "pStaticSamplers[0].Filter must be a D3D12_FILTER, not 2"),
    "address_mode": (
        v1_1((), [sampler(addressV=0)]),
        "pStaticSamplers[0].AddressV must be a D3D12_TEXTURE_ADDRESS_MODE, not 0",
    ),
    "bias": (
        v1_1((), [sampler(mipLODBias=16)]),
        "pStaticSamplers[0].MipLODBias must be from -16.0 to 15.99, not 16",
    ),
    "anisotropy": (
        v1_1((), [sampler(maxAnisotropy=17)]),
        "pStaticSamplers[0].MaxAnisotropy must be at most 16, not 17",
    ),
    "comparison": (
        v1_1((), [sampler(filter=dml.D3D12_FILTER_COMPARISON_MIN_MAG_MIP_POINT, comparisonFunc=0)]),
        "pStaticSamplers[0].ComparisonFunc is 0; a comparison filter needs one of D3D12_COMPARISON_FUNC_NEVER to "
        "D3D12_COMPARISON_FUNC_ALWAYS",
    ),
    "lod": (v1_1((), [sampler(maxLOD=math.nan)]), "pStaticSamplers[0].MaxLOD must be a number, not NaN"),
    "sampler_visibility": (
        v1_1((), [sampler(shaderVisibility=8)]),
        "pStaticSamplers[0].ShaderVisibility must be a D3D12_SHADER_VISIBILITY, not 8",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_one_wrong_field(name):
    desc, text = WRONG[name]
    assert refused(dml.D3D12SerializeVersionedRootSignature, desc) == f"rootSignature.Desc_1_1.{text}"


@pytest.mark.parametrize(
    "desc",
    [
        v1_1([cases.uav1(0, visibility=PIXEL), cases.uav1(0, visibility=PIXEL + 1)]),
        v1_1([cases.uav1(0), cases.uav1(0, 1), cases.constants1(1, 0)]),
        v1_1([cases.constants1(64, 0)]),
        v1_1([cases.constants1(900, 0)], flags=dml.D3D12_ROOT_SIGNATURE_FLAG_LOCAL_ROOT_SIGNATURE),
        v1_1([cases.table1(cases.range1(SRV, 4, 0, offsetInDescriptorsFromTableStart=0xFFFFFFFC))]),
        v1_1([cases.table1(cases.range1(SRV, 1, 0, flags=1 | 4))]),
        v1_1([cases.table1()]),
        v1_1((), [sampler(mipLODBias=15.99, comparisonFunc=0, minLOD=-math.inf, maxLOD=math.inf)]),
        v1_0([cases.table(cases.range0(SAMPLER, 1, 0))]),
    ],
)
def test_limits_that_hold(desc):
    assert parse(serialized(desc)).parts[0][0] == "RTS0"


def test_all_that_is_wrong_is_told_at_once():
    desc = v1_0([cases.uav(0, visibility=9), cases.table(cases.range0(SRV, 0, 0))], flags=1 << 20)
    lines = refused(dml.D3D12SerializeVersionedRootSignature, desc).split("\n")
    fields = (
        "Flags",
        "pParameters[0].ShaderVisibility",
        "pParameters[1].DescriptorTable.pDescriptorRanges[0].NumDesc",
    )
    assert len(lines) == len(fields)
    for line, field in zip(lines, fields):
        assert line.startswith(f"rootSignature.Desc_1_0.{field}")


def test_null_and_unreadable_memory():
    assert refused(dml.D3D12SerializeVersionedRootSignature, None).startswith("rootSignature is null")
    desc = dml.D3D12_ROOT_SIGNATURE_DESC(NumParameters=2)
    assert refused(dml.D3D12SerializeRootSignature, desc, V1_0).startswith(
        "rootSignature.pParameters[0] is null"
    )
    desc = dml.D3D12_ROOT_SIGNATURE_DESC(NumStaticSamplers=1, pStaticSamplers=0x40)
    assert "rootSignature.pStaticSamplers[0]" in refused(dml.D3D12SerializeRootSignature, desc, V1_0)
    versioned = dml.D3D12_VERSIONED_ROOT_SIGNATURE_DESC(Version=3)
    text = refused(dml.D3D12SerializeVersionedRootSignature, versioned)
    assert text == "rootSignature.Version must be a D3D_ROOT_SIGNATURE_VERSION, not 3"


DATA = CASES[3].bytes


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "has 0 bytes; the header of a DXBC container alone has 32"),
        (b"blob" * 8, "begins with b'blob'; a DXBC container begins with b'DXBC'"),
        (DATA[:-4], "has 176 bytes, but the DXBC container in it has 180"),
        (DATA[:-1] + b"\1", "has a DXBC container whose digest is not that of its bytes, which were changed"),
        (cases.container([1, 0, 24, 0, 24]), "has 20 bytes; a root signature has at least 24"),
        (cases.container([3, 0, 24, 0, 24, 0]), "is of version 3; there are 1 (1.0) and 2 (1.1)"),
        (
            cases.container([1, 2, 24, 0, 24, 0, 4, 0, 36]),
            "has 36 bytes, but parameters of 24 bytes at offset 24 of the root signature",
        ),
        (
            cases.container([1, 1, 24, 0, 36, 0, 4, 0, 40]),
            "has 36 bytes, but parameter 0 of 8 bytes at offset 40 of the root signature",
        ),
        (
            cases.container([1, 1, 24, 0, 36, 0, 0, 0, 36, 0xFFFFFFFF, 44]),
            "has 44 bytes, but ranges of parameter 0 of 85899345900 bytes at offset 44 of the root signature",
        ),
    ],
)
def test_bytes_that_are_none(bench, data, text):
    expected = f"blobWithRootSignature is no root signature: it {text}"
    assert refused(bench.device.CreateRootSignature, 0, data) == expected
    assert refused(dml.D3D12CreateRootSignatureDeserializer, data) == expected.replace(
        "blobWithRootSignature", "srcData"
    )


def test_bytes_of_a_wrong_root_signature(bench):
    data = cases.container([1, 1, 24, 0, 44, 0, 4, 77, 36, 0, 0])
    text = "blobWithRootSignature.pParameters[0].ShaderVisibility must be a D3D12_SHADER_VISIBILITY, not 77"
    assert refused(bench.device.CreateRootSignature, 0, data) == text


@pytest.mark.parametrize("size", range(0, len(DATA), 7))
def test_no_part_of_the_bytes_is_one(size):
    refused(dml.D3D12CreateRootSignatureDeserializer, DATA[:size])


def test_no_word_breaks_the_reader():
    """Whatever stands in the words of an unsigned root signature, it is read or refused."""
    for index in range(len(CASES[3].words)):
        for word in (0, 1, 0x7FFFFFFF, 0xFFFFFFFF):
            words = list(CASES[3].words)
            words[index] = word
            with contextlib.suppress(dml.DMLError):
                dml.D3D12CreateVersionedRootSignatureDeserializer(cases.container(words))


def test_containers_have_their_parts_anywhere(bench):
    """A shader of Microsoft's compiler has its root signature after other parts; without one, E_FAIL."""
    signature = CASES[0].bytes[44:]
    for part, code in ((b"RTS0", None), (b"PRIV", E_FAIL)):
        parts = (
            b"SHEX"
            + struct.pack("<I2I", 8, 5 << 16 | 0x50, 2)
            + part
            + struct.pack("<I", len(signature))
            + signature
        )
        body = struct.pack("<5I", 1, 40 + len(parts), 2, 40, 56) + parts
        data = b"DXBC" + digest_of(body) + body
        if code is None:
            assert bench.device.CreateRootSignature(0, data).layout.parameters == ()
        else:
            text = refused(bench.device.CreateRootSignature, 0, data, code=code)
            assert (
                text
                == "blobWithRootSignature has a DXBC container without a root signature, whose part is RTS0"
            )


def test_the_object(bench):
    case = next(case for case in CASES if case.name == "views_and_constants")
    signature = bench.device.CreateRootSignature(0, dml.D3D12SerializeVersionedRootSignature(case.desc))
    assert repr(signature) == "<ID3D12RootSignature: 1.1, 4 parameters, 15 DWORDs>"
    assert signature.GetDevice() is bench.device
    signature.SetName("dft")
    assert str(signature) == "ID3D12RootSignature 'dft'"
    assert signature.QueryInterface(dml.ID3D12DeviceChild) is signature
    refused(signature.QueryInterface, dml.ID3D12Pageable, code=dml.E_NOINTERFACE)
    refused(bench.device.CreateRootSignature, 2, case.bytes)
    bench.device.RemoveDevice()
    refused(bench.device.CreateRootSignature, 0, case.bytes, code=dml.DXGI_ERROR_DEVICE_REMOVED)


@pytest.mark.parametrize("given", [bytes, bytearray, memoryview, lambda data: np.frombuffer(data, np.uint8)])
def test_bytes_of_any_kind(bench, given):
    assert bench.device.CreateRootSignature(0, given(DATA)).layout.flags == 1


def test_bytes_at_an_address(bench):
    memory = ctypes.create_string_buffer(DATA, len(DATA))
    assert bench.device.CreateRootSignature(0, ctypes.addressof(memory), len(DATA)).layout.flags == 1
    text = refused(bench.device.CreateRootSignature, 0, 0x40, 8)
    assert text == "blobWithRootSignature: 8 bytes at 0x40 cannot be read"
    assert refused(bench.device.CreateRootSignature, 0, None, 8) == "blobWithRootSignature is null"
    assert "has 180 bytes" in refused(bench.device.CreateRootSignature, 0, DATA, 181)
    with pytest.raises(TypeError, match="blobLengthInBytes"):
        bench.device.CreateRootSignature(0, ctypes.addressof(memory))
    with pytest.raises(TypeError, match="blobWithRootSignature"):
        bench.device.CreateRootSignature(0, "blob")


def test_a_blob():
    blob = dml.D3D12SerializeRootSignature(dml.D3D12_ROOT_SIGNATURE_DESC(), V1_0)
    assert blob.GetBufferSize() == 68
    assert repr(blob) == "<ID3DBlob: 68 bytes>"
    assert bytes(blob) == bytes(blob.GetBufferPointer()) == bytes(np.asarray(blob)) == CASES[0].bytes
    blob.GetBufferPointer()[0] = 0
    assert bytes(blob)[:4] == b"\0XBC"
    assert blob.QueryInterface(dml.ID3DBlob) is blob


def test_a_copy_list_has_no_compute_state(bench):
    allocator = bench.device.CreateCommandAllocator(dml.D3D12_COMMAND_LIST_TYPE_COPY)
    commands = bench.device.CreateCommandList(0, dml.D3D12_COMMAND_LIST_TYPE_COPY, allocator)
    commands.SetComputeRootSignature(bench.device.CreateRootSignature(0, CASES[0].bytes))
    text = refused(commands.Close)
    assert "SetComputeRootSignature: a copy command list has no compute state" in text
