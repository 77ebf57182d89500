"""What a root signature says, as values: read from a desc or from bytes, in either version, and written as both.

The structs without pointers are the same in memory and in bytes, where offsets take the place of pointers
(DXContainer.rst of LLVM, part RTS0).
"""

from __future__ import annotations

import ctypes
import struct
from typing import Any, Final, NamedTuple

from ..abi.counted_structs import structs_at
from ..abi.structure import Structure
from ..api.d3d12_enums import (
    D3D12_DESCRIPTOR_RANGE_FLAG_DATA_VOLATILE,
    D3D12_DESCRIPTOR_RANGE_FLAG_DESCRIPTORS_VOLATILE,
    D3D12_DESCRIPTOR_RANGE_TYPE_SAMPLER,
    D3D12_ROOT_DESCRIPTOR_FLAG_DATA_VOLATILE,
    D3D12_ROOT_PARAMETER_TYPE_32BIT_CONSTANTS,
    D3D12_ROOT_PARAMETER_TYPE_CBV,
    D3D12_ROOT_PARAMETER_TYPE_DESCRIPTOR_TABLE,
    D3D12_ROOT_PARAMETER_TYPE_SRV,
    D3D12_ROOT_PARAMETER_TYPE_UAV,
    D3D_ROOT_SIGNATURE_VERSION,
)
from ..api.d3d12_structs import (
    D3D12_DESCRIPTOR_RANGE,
    D3D12_DESCRIPTOR_RANGE1,
    D3D12_ROOT_CONSTANTS,
    D3D12_ROOT_DESCRIPTOR,
    D3D12_ROOT_DESCRIPTOR1,
    D3D12_ROOT_DESCRIPTOR_TABLE,
    D3D12_ROOT_DESCRIPTOR_TABLE1,
    D3D12_ROOT_PARAMETER,
    D3D12_ROOT_PARAMETER1,
    D3D12_ROOT_SIGNATURE_DESC,
    D3D12_ROOT_SIGNATURE_DESC1,
    D3D12_STATIC_SAMPLER_DESC,
)

# Version, parameters and their offset, static samplers and their offset, flags.
HEADER: Final = struct.Struct("<6I")
# Type, visibility, offset of what it holds.
PARAMETER: Final = struct.Struct("<3I")
# Ranges and their offset.
TABLE: Final = struct.Struct("<2I")

TABLE_TYPE: Final = D3D12_ROOT_PARAMETER_TYPE_DESCRIPTOR_TABLE
# The member of D3D12_ROOT_PARAMETER that each type uses.
MEMBERS: Final[dict[int, str]] = {
    TABLE_TYPE: "DescriptorTable",
    D3D12_ROOT_PARAMETER_TYPE_32BIT_CONSTANTS: "Constants",
    D3D12_ROOT_PARAMETER_TYPE_CBV: "Descriptor",
    D3D12_ROOT_PARAMETER_TYPE_SRV: "Descriptor",
    D3D12_ROOT_PARAMETER_TYPE_UAV: "Descriptor",
}


class Version(NamedTuple):
    """The structs of one version."""

    number: D3D_ROOT_SIGNATURE_VERSION
    desc: type[Any]
    parameter: type[Any]
    table: type[Any]
    range: type[Any]
    descriptor: type[Any]

    @property
    def title(self) -> str:
        return f"1.{self.number - 1}"

    def held_by(self, parameter_type: int) -> type[Any] | None:
        """The struct of which a parameter holds one, or a table any number; None for a type that does not exist."""
        if parameter_type == TABLE_TYPE:
            return self.range
        if parameter_type == D3D12_ROOT_PARAMETER_TYPE_32BIT_CONSTANTS:
            return D3D12_ROOT_CONSTANTS
        return self.descriptor if parameter_type in MEMBERS else None


V1_0: Final = Version(
    D3D_ROOT_SIGNATURE_VERSION.D3D_ROOT_SIGNATURE_VERSION_1_0,
    D3D12_ROOT_SIGNATURE_DESC,
    D3D12_ROOT_PARAMETER,
    D3D12_ROOT_DESCRIPTOR_TABLE,
    D3D12_DESCRIPTOR_RANGE,
    D3D12_ROOT_DESCRIPTOR,
)
V1_1: Final = Version(
    D3D_ROOT_SIGNATURE_VERSION.D3D_ROOT_SIGNATURE_VERSION_1_1,
    D3D12_ROOT_SIGNATURE_DESC1,
    D3D12_ROOT_PARAMETER1,
    D3D12_ROOT_DESCRIPTOR_TABLE1,
    D3D12_DESCRIPTOR_RANGE1,
    D3D12_ROOT_DESCRIPTOR1,
)
VERSIONS: Final[dict[int, Version]] = {version.number: version for version in (V1_0, V1_1)}


class NotALayout(ValueError):
    """The text says what is wrong with the bytes, as the end of a sentence."""


class RootParameter(NamedTuple):
    """``held`` are the ranges of a table, or the constants or descriptor; nothing for a type that does not exist."""

    type: int
    visibility: int
    held: tuple[Any, ...]

    @property
    def cost(self) -> int:
        """In DWORDs (root-signature-limits)."""
        if self.type == D3D12_ROOT_PARAMETER_TYPE_32BIT_CONSTANTS:
            return int(self.held[0].Num32BitValues)
        return 1 if self.type == TABLE_TYPE else 2


class RootSignatureLayout(NamedTuple):
    version: Version
    flags: int
    parameters: tuple[RootParameter, ...]
    samplers: tuple[D3D12_STATIC_SAMPLER_DESC, ...]

    @property
    def cost(self) -> int:
        return sum(parameter.cost for parameter in self.parameters)

    def converted(self, version: Version) -> RootSignatureLayout:
        """The same root signature in another version. To 1.0 it loses its flags; from 1.0 it gets those that promise
        nothing (nf-d3d12-id3d12versionedrootsignaturedeserializer-getrootsignaturedescatversion)."""
        if version is self.version:
            return self
        parameters = tuple(
            each._replace(held=tuple(_converted(held, version.held_by(each.type)) for held in each.held))
            for each in self.parameters
        )
        return self._replace(version=version, parameters=parameters)


def _converted(held: Structure, kind: Any) -> Any:
    if isinstance(held, kind):
        return held
    names = {name for name, *_ in kind._fields_}
    values = {name: getattr(held, name) for name, *_ in held._fields_ if name in names}
    if kind is D3D12_DESCRIPTOR_RANGE1:
        # Samplers have no data.
        has_data = values["RangeType"] != D3D12_DESCRIPTOR_RANGE_TYPE_SAMPLER
        data = D3D12_DESCRIPTOR_RANGE_FLAG_DATA_VOLATILE if has_data else 0
        values["Flags"] = D3D12_DESCRIPTOR_RANGE_FLAG_DESCRIPTORS_VOLATILE | data
    elif kind is D3D12_ROOT_DESCRIPTOR1:
        values["Flags"] = D3D12_ROOT_DESCRIPTOR_FLAG_DATA_VOLATILE
    return kind(**values)


def read_desc(desc: Any, version: Version, name: str) -> RootSignatureLayout:
    """Read a desc and what it points to. Raises ``E_INVALIDARG`` for null or unreadable arrays."""
    parameters = structs_at(
        desc.NumParameters,
        desc.pParameters,
        version.parameter,
        f"{name}.NumParameters",
        f"{name}.pParameters",
    )
    samplers = structs_at(
        desc.NumStaticSamplers,
        desc.pStaticSamplers,
        D3D12_STATIC_SAMPLER_DESC,
        f"{name}.NumStaticSamplers",
        f"{name}.pStaticSamplers",
    )
    return RootSignatureLayout(
        version,
        desc.Flags,
        tuple(
            RootParameter(
                each.ParameterType,
                each.ShaderVisibility,
                _held_by(each, version, f"{name}.pParameters[{index}]"),
            )
            for index, each in enumerate(parameters)
        ),
        tuple(samplers),
    )


def _held_by(parameter: Any, version: Version, name: str) -> tuple[Any, ...]:
    kind, member = version.held_by(parameter.ParameterType), MEMBERS.get(parameter.ParameterType, "")
    if kind is None:
        return ()
    held = getattr(parameter, member)
    if kind is not version.range:
        return (kind.from_buffer_copy(held),)
    path = f"{name}.{member}"
    return tuple(
        structs_at(
            held.NumDescriptorRanges,
            held.pDescriptorRanges,
            kind,
            f"{path}.NumDescriptorRanges",
            f"{path}.pDescriptorRanges",
        )
    )


def desc_of(layout: RootSignatureLayout) -> Any:
    """A desc of the layout's version, with memory of its own."""
    version = layout.version
    parameters = []
    for each in layout.parameters:
        parameter = version.parameter(ParameterType=each.type, ShaderVisibility=each.visibility)
        held = version.table(pDescriptorRanges=each.held or None) if each.type == TABLE_TYPE else each.held[0]
        setattr(parameter, MEMBERS[each.type], held)
        parameters.append(parameter)
    return version.desc(
        pParameters=parameters or None, pStaticSamplers=layout.samplers or None, Flags=layout.flags
    )


def encode(layout: RootSignatureLayout) -> bytes:
    """The bytes of part RTS0: what each parameter holds follows the parameters, in order, then the samplers."""
    parameters, held = b"", b""
    start = HEADER.size + PARAMETER.size * len(layout.parameters)
    for each in layout.parameters:
        offset = start + len(held)
        parameters += PARAMETER.pack(each.type, each.visibility, offset)
        if each.type == TABLE_TYPE:
            held += TABLE.pack(len(each.held), offset + TABLE.size)
        held += b"".join(map(bytes, each.held))
    samplers = b"".join(map(bytes, layout.samplers))
    header = HEADER.pack(
        layout.version.number,
        len(layout.parameters),
        HEADER.size,
        len(layout.samplers),
        start + len(held),
        layout.flags,
    )
    return header + parameters + held + samplers


def decode(data: bytes) -> RootSignatureLayout:
    """Read part RTS0. Raises ``NotALayout``."""
    if len(data) < HEADER.size:
        raise NotALayout(f"has {len(data)} bytes; a root signature has at least {HEADER.size}")
    number, count, start, sampler_count, sampler_start, flags = HEADER.unpack_from(data)
    version = VERSIONS.get(number)
    if version is None:
        raise NotALayout(f"is of version {number}; there are 1 (1.0) and 2 (1.1)")
    parameters = []
    _check(data, start, PARAMETER.size, count, "parameters")
    for index in range(count):
        kind, visibility, offset = PARAMETER.unpack_from(data, start + PARAMETER.size * index)
        parameters.append(RootParameter(kind, visibility, _decode_held(data, version, kind, offset, index)))
    samplers = _structs(data, sampler_start, D3D12_STATIC_SAMPLER_DESC, sampler_count, "static samplers")
    return RootSignatureLayout(version, flags, tuple(parameters), samplers)


def _decode_held(data: bytes, version: Version, kind: int, offset: int, index: int) -> tuple[Any, ...]:
    struct_kind, what = version.held_by(kind), f"parameter {index}"
    if struct_kind is None:
        return ()
    if kind != TABLE_TYPE:
        return _structs(data, offset, struct_kind, 1, what)
    _check(data, offset, TABLE.size, 1, what)
    count, start = TABLE.unpack_from(data, offset)
    return _structs(data, start, struct_kind, count, f"ranges of {what}")


def _structs(data: bytes, offset: int, kind: Any, count: int, what: str) -> tuple[Any, ...]:
    size = ctypes.sizeof(kind)
    _check(data, offset, size, count, what)
    return tuple(kind.from_buffer_copy(data, offset + size * index) for index in range(count))


def _check(data: bytes, offset: int, size: int, count: int, what: str) -> None:
    if offset + size * count > len(data):
        raise NotALayout(
            f"has {len(data)} bytes, but {what} of {size * count} bytes at offset {offset} of the root signature"
        )
