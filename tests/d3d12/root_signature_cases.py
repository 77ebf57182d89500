"""Root signatures with their bytes: the words of each by hand, from the format, and the digest that Wine 8.0's own
d3d12.dll gave them. Microsoft's compiler gives the empty ones the same."""

from __future__ import annotations

import struct
from itertools import chain
from typing import NamedTuple

import directml_py as dml

APPEND = dml.D3D12_DESCRIPTOR_RANGE_OFFSET_APPEND
SRV, UAV, CBV, SAMPLER = (dml.D3D12_DESCRIPTOR_RANGE_TYPE(number) for number in range(4))
PIXEL = dml.D3D12_SHADER_VISIBILITY_PIXEL
MAX_FLOAT = 0x7F7FFFFF


class Case(NamedTuple):
    name: str
    desc: dml.D3D12_VERSIONED_ROOT_SIGNATURE_DESC
    rows: tuple[tuple[int, ...], ...]
    digest: str

    @property
    def words(self) -> list[int]:
        return list(chain(*self.rows))

    @property
    def bytes(self) -> bytes:
        return container(self.words, self.digest)


def container(words, digest="00" * 16):
    """A DXBC container with one part; a digest of zeros is that of compilers that do not sign."""
    part = struct.pack(f"<{len(words)}I", *words)
    head = struct.pack("<4I", 1, 44 + len(part), 1, 36)
    return b"DXBC" + bytes.fromhex(digest) + head + b"RTS0" + struct.pack("<I", len(part)) + part


def uav(register, *arguments, **rest):
    parameter = dml.CD3DX12_ROOT_PARAMETER()
    parameter.InitAsUnorderedAccessView(register, *arguments, **rest)
    return parameter


def uav1(register, *arguments, **rest):
    parameter = dml.CD3DX12_ROOT_PARAMETER1()
    parameter.InitAsUnorderedAccessView(register, *arguments, **rest)
    return parameter


def constants1(count, register, **rest):
    parameter = dml.CD3DX12_ROOT_PARAMETER1()
    parameter.InitAsConstants(count, register, **rest)
    return parameter


def table(*ranges, **rest):
    parameter = dml.CD3DX12_ROOT_PARAMETER()
    parameter.InitAsDescriptorTable(ranges, **rest)
    return parameter


def table1(*ranges, **rest):
    parameter = dml.CD3DX12_ROOT_PARAMETER1()
    parameter.InitAsDescriptorTable(ranges, **rest)
    return parameter


def v1_0(parameters=(), samplers=(), flags=0):
    desc = dml.CD3DX12_VERSIONED_ROOT_SIGNATURE_DESC()
    desc.Init_1_0(list(parameters), None, list(samplers), None, flags)
    return desc


def v1_1(parameters=(), samplers=(), flags=0):
    desc = dml.CD3DX12_VERSIONED_ROOT_SIGNATURE_DESC()
    desc.Init_1_1(list(parameters), None, list(samplers), None, flags)
    return desc


def range1(*arguments, **rest):
    return dml.CD3DX12_DESCRIPTOR_RANGE1(*arguments, **rest)


def range0(*arguments, **rest):
    return dml.CD3DX12_DESCRIPTOR_RANGE(*arguments, **rest)


SAMPLER_DESC = dml.CD3DX12_STATIC_SAMPLER_DESC(
    4, dml.D3D12_FILTER_MIN_MAG_MIP_POINT, mipLODBias=1.5, maxLOD=10, shaderVisibility=PIXEL, registerSpace=3
)
# Filter, three address modes, bias 1.5, anisotropy, comparison, border, LODs 0 and 10, register, space, visibility.
SAMPLER_WORDS = (0, 1, 1, 1, 0x3FC00000, 16, 4, 2, 0, 0x41200000, 4, 3, 5)

CASES = [
    Case("empty", v1_0(), ((1, 0, 24, 0, 24, 0),), "1dfc4ad63577c25d4acbda9efaa7d86b"),
    Case("empty_1_1", v1_1(), ((2, 0, 24, 0, 24, 0),), "cb82187939dbc18393dc7e325b086331"),
    Case(
        # As ONNX Runtime's DirectML provider describes the shader of DFT.
        "views_and_constants",
        v1_1([uav1(0, flags=2), uav1(1, flags=2), uav1(2, flags=2), constants1(9, 0)]),
        (
            (2, 4, 24, 0, 120, 0),
            (4, 0, 72, 4, 0, 84, 4, 0, 96, 1, 0, 108),
            (0, 0, 2, 1, 0, 2, 2, 0, 2, 0, 0, 9),
        ),
        "3624e769d95a64ff9be25eb9656e7bc3",
    ),
    Case(
        "table",
        v1_0([table(range0(CBV, 1, 1, 7), range0(UAV, 0xFFFFFFFF, 3, 0, 44))], [SAMPLER_DESC], 1),
        (
            (1, 1, 24, 1, 84, 1),
            (0, 0, 36),
            (2, 44),
            (2, 1, 1, 7, APPEND, 1, 0xFFFFFFFF, 3, 0, 44),
            SAMPLER_WORDS,
        ),
        "c3a93b5309d12124c0bc8146e22120cd",
    ),
    Case(
        "tables_1_1",
        v1_1(
            [table1(range1(SRV, 8, 16, flags=8)), table1(range1(SAMPLER, 2, 0, 1), visibility=PIXEL)],
            [SAMPLER_DESC],
        ),
        (
            (2, 2, 24, 1, 112, 0),
            (0, 0, 48, 0, 5, 80),
            (1, 56, 0, 8, 16, 0, 8, APPEND),
            (1, 88, 3, 2, 0, 1, 0, APPEND),
            SAMPLER_WORDS,
        ),
        "c08e790d27929614f4c824f394800020",
    ),
    # The digest's last block has no room for the length: 188 bytes follow the digest.
    Case(
        "seven_views",
        v1_0([uav(index) for index in range(7)]),
        (
            (1, 7, 24, 0, 164, 0),
            *((4, 0, 108 + 8 * index) for index in range(7)),
            *((index, 0) for index in range(7)),
        ),
        "bcac3a85385076691723ac98f4f04ab8",
    ),
]
