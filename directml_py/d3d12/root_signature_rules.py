"""The rules that a root signature must obey to be serialized, as Direct3D's runtime checks them.

They are those of the pages of the structs, of "Root Signature Limits", and of the validator that DirectXShaderCompiler
shares with the runtime, which also compares registers. A problem names the field in the caller's desc.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from enum import IntEnum, IntFlag
from typing import Any, Final, NamedTuple

from ..abi.arguments import known_bits
from ..api.d3d12_enums import (
    D3D12_COMPARISON_FUNC,
    D3D12_DESCRIPTOR_RANGE_FLAG_DATA_STATIC,
    D3D12_DESCRIPTOR_RANGE_FLAG_DATA_STATIC_WHILE_SET_AT_EXECUTE,
    D3D12_DESCRIPTOR_RANGE_FLAG_DATA_VOLATILE,
    D3D12_DESCRIPTOR_RANGE_FLAG_DESCRIPTORS_VOLATILE,
    D3D12_DESCRIPTOR_RANGE_FLAGS,
    D3D12_DESCRIPTOR_RANGE_TYPE,
    D3D12_DESCRIPTOR_RANGE_TYPE_CBV,
    D3D12_DESCRIPTOR_RANGE_TYPE_SAMPLER,
    D3D12_DESCRIPTOR_RANGE_TYPE_SRV,
    D3D12_DESCRIPTOR_RANGE_TYPE_UAV,
    D3D12_FILTER,
    D3D12_ROOT_DESCRIPTOR_FLAGS,
    D3D12_ROOT_PARAMETER_TYPE,
    D3D12_ROOT_PARAMETER_TYPE_32BIT_CONSTANTS,
    D3D12_ROOT_PARAMETER_TYPE_CBV,
    D3D12_ROOT_PARAMETER_TYPE_SRV,
    D3D12_ROOT_PARAMETER_TYPE_UAV,
    D3D12_ROOT_SIGNATURE_FLAG_LOCAL_ROOT_SIGNATURE,
    D3D12_ROOT_SIGNATURE_FLAGS,
    D3D12_SHADER_VISIBILITY,
    D3D12_SHADER_VISIBILITY_ALL,
    D3D12_TEXTURE_ADDRESS_MODE,
)
from .d3d12_constants import D3D12_DESCRIPTOR_RANGE_OFFSET_APPEND, D3D12_MAX_ROOT_COST, UINT_MAX
from .root_signature_layout import MEMBERS, TABLE_TYPE, V1_1, RootParameter, RootSignatureLayout

# As flags of ranges and of root descriptors, whose values are the same.
DATA_FLAGS: Final = (
    D3D12_DESCRIPTOR_RANGE_FLAG_DATA_VOLATILE,
    D3D12_DESCRIPTOR_RANGE_FLAG_DATA_STATIC_WHILE_SET_AT_EXECUTE,
    D3D12_DESCRIPTOR_RANGE_FLAG_DATA_STATIC,
)
ANY_DATA: Final = sum(DATA_FLAGS)
SAMPLER: Final = D3D12_DESCRIPTOR_RANGE_TYPE_SAMPLER
# The registers that a parameter other than a table occupies, and the letters of registers in HLSL.
REGISTERS: Final = {
    D3D12_ROOT_PARAMETER_TYPE_32BIT_CONSTANTS: D3D12_DESCRIPTOR_RANGE_TYPE_CBV,
    D3D12_ROOT_PARAMETER_TYPE_CBV: D3D12_DESCRIPTOR_RANGE_TYPE_CBV,
    D3D12_ROOT_PARAMETER_TYPE_SRV: D3D12_DESCRIPTOR_RANGE_TYPE_SRV,
    D3D12_ROOT_PARAMETER_TYPE_UAV: D3D12_DESCRIPTOR_RANGE_TYPE_UAV,
}
LETTERS: Final = {
    D3D12_DESCRIPTOR_RANGE_TYPE_CBV: "b",
    D3D12_DESCRIPTOR_RANGE_TYPE_SRV: "t",
    D3D12_DESCRIPTOR_RANGE_TYPE_UAV: "u",
    SAMPLER: "s",
}
FIRST_RESERVED_SPACE: Final = 0xFFFFFFF0
UNBOUNDED: Final = UINT_MAX
MIN_LOD_BIAS, MAX_LOD_BIAS, MAX_ANISOTROPY = -16.0, 15.99, 16
# The bits of a filter that make it a comparison and nothing else (ne-d3d12-d3d12_filter).
REDUCTION, COMPARISON = 0x180, 0x80
COMPARISONS: Final = tuple(each for each in D3D12_COMPARISON_FUNC if each)


class Registers(NamedTuple):
    """The registers, ``last`` included, that one field occupies."""

    type: int
    space: int
    first: int
    last: int
    visibility: int
    path: str

    def __str__(self) -> str:
        letter = LETTERS[D3D12_DESCRIPTOR_RANGE_TYPE(self.type)]
        if self.first == self.last:
            return f"{letter}{self.first} in space {self.space}"
        end = "all that follow" if self.last == UINT_MAX else f"{letter}{self.last}"
        return f"{letter}{self.first} to {end} in space {self.space}"

    def clashes(self, other: Registers) -> bool:
        """Whether a shader would see both, if they overlap."""
        everyone = D3D12_SHADER_VISIBILITY_ALL in (self.visibility, other.visibility)
        return everyone or self.visibility == other.visibility


def problems(layout: RootSignatureLayout, name: str) -> list[str]:
    """What is wrong with the desc ``name`` that ``layout`` was read from; empty if nothing is."""
    checked = layout.converted(V1_1)
    found = [*_unknown_bits(checked.flags, D3D12_ROOT_SIGNATURE_FLAGS, f"{name}.Flags")]
    registers: list[Registers] = []
    for index, parameter in enumerate(checked.parameters):
        path = f"{name}.pParameters[{index}]"
        found += _parameter_problems(parameter, path)
        registers += _registers_of(parameter, path)
    for index, sampler in enumerate(checked.samplers):
        path = f"{name}.pStaticSamplers[{index}]"
        found += _sampler_problems(sampler, path)
        number = sampler.ShaderRegister
        registers.append(
            Registers(SAMPLER, sampler.RegisterSpace, number, number, sampler.ShaderVisibility, path)
        )
    found += _reserved(registers)
    found += _overlaps(registers)
    if all(parameter.held or parameter.type == TABLE_TYPE for parameter in checked.parameters):
        found += _cost_problems(checked, name)
    return found


def _cost_problems(layout: RootSignatureLayout, name: str) -> Iterator[str]:
    """A local root signature lies in a shader's record, which has another limit."""
    if (
        layout.cost > D3D12_MAX_ROOT_COST
        and not layout.flags & D3D12_ROOT_SIGNATURE_FLAG_LOCAL_ROOT_SIGNATURE
    ):
        yield (
            f"{name}.pParameters needs {layout.cost} DWORDs; at most {D3D12_MAX_ROOT_COST} are available, of which a "
            "table takes 1, a descriptor 2 and a 32-bit constant 1"
        )


def _unknown_bits(value: int, kind: type[IntFlag], path: str) -> Iterator[str]:
    unknown = value & ~known_bits(kind) & UINT_MAX
    if unknown:
        yield f"{path} has bits that are not {kind.__name__}: 0x{unknown:X}"


def _unknown_value(value: int, kind: type[IntEnum], path: str) -> Iterator[str]:
    if value not in kind._value2member_map_:
        yield f"{path} must be a {kind.__name__}, not {value}"


def _parameter_problems(parameter: RootParameter, path: str) -> Iterator[str]:
    yield from _unknown_value(parameter.type, D3D12_ROOT_PARAMETER_TYPE, f"{path}.ParameterType")
    yield from _unknown_value(parameter.visibility, D3D12_SHADER_VISIBILITY, f"{path}.ShaderVisibility")
    if parameter.type == TABLE_TYPE:
        yield from _table_problems(parameter.held, f"{path}.DescriptorTable.pDescriptorRanges")
    elif parameter.held and hasattr(parameter.held[0], "Flags"):
        flags, flags_path = parameter.held[0].Flags, f"{path}.Descriptor.Flags"
        yield from _unknown_bits(flags, D3D12_ROOT_DESCRIPTOR_FLAGS, flags_path)
        yield from _data_problems(flags, flags_path)


def _data_problems(flags: int, path: str) -> Iterator[str]:
    names = [str(flag.name).partition("_FLAG_")[2] for flag in DATA_FLAGS if flags & flag]
    if len(names) > 1:
        yield f"{path} has {' and '.join(names)}; at most one DATA_ flag is possible"


def _table_problems(ranges: tuple[Any, ...], path: str) -> Iterator[str]:
    following = 0
    for index, each in enumerate(ranges):
        where = f"{path}[{index}]"
        yield from _unknown_value(each.RangeType, D3D12_DESCRIPTOR_RANGE_TYPE, f"{where}.RangeType")
        yield from _range_flag_problems(each, f"{where}.Flags")
        if (each.RangeType == SAMPLER) != (ranges[0].RangeType == SAMPLER):
            yield (
                f"{where}.RangeType is {_name_of(each)}, but that of {path}[0] is {_name_of(ranges[0])}; a table holds "
                "either samplers or other descriptors"
            )
        if not each.NumDescriptors:
            yield f"{where}.NumDescriptors must not be 0"
        start = each.OffsetInDescriptorsFromTableStart
        if start == D3D12_DESCRIPTOR_RANGE_OFFSET_APPEND:
            start = following
            if start > UINT_MAX:
                yield (
                    f"{where}.OffsetInDescriptorsFromTableStart is D3D12_DESCRIPTOR_RANGE_OFFSET_APPEND, but the range "
                    "before it has no end"
                )
        following = start + each.NumDescriptors
        if each.NumDescriptors == UNBOUNDED:
            following = UINT_MAX + 1
        elif each.NumDescriptors:
            yield from _range_end_problems(each, start, where)


def _range_end_problems(each: Any, start: int, path: str) -> Iterator[str]:
    for field, first in (
        ("BaseShaderRegister", each.BaseShaderRegister),
        ("OffsetInDescriptorsFromTableStart", start),
    ):
        last = first + each.NumDescriptors - 1
        if first <= UINT_MAX < last:
            yield (
                f"{path}.NumDescriptors is {each.NumDescriptors}; from {field} {first} on it ends at {last}, beyond "
                f"{UINT_MAX}"
            )


def _name_of(each: Any) -> str:
    kind = D3D12_DESCRIPTOR_RANGE_TYPE._value2member_map_.get(each.RangeType)
    return str(each.RangeType) if kind is None else str(kind.name)


def _range_flag_problems(each: Any, path: str) -> Iterator[str]:
    flags = each.Flags
    yield from _unknown_bits(flags, D3D12_DESCRIPTOR_RANGE_FLAGS, path)
    if each.RangeType == SAMPLER:
        if flags & ANY_DATA:
            yield f"{path} must have no DATA_ flag for {SAMPLER.name}: samplers have no data"
        return
    yield from _data_problems(flags, path)
    static, volatile = (
        D3D12_DESCRIPTOR_RANGE_FLAG_DATA_STATIC,
        D3D12_DESCRIPTOR_RANGE_FLAG_DESCRIPTORS_VOLATILE,
    )
    if flags & static and flags & volatile:
        yield (
            f"{path} has DATA_STATIC and DESCRIPTORS_VOLATILE; data can be static only if the descriptors are, and "
            "DATA_STATIC_WHILE_SET_AT_EXECUTE goes with volatile ones"
        )


def _sampler_problems(sampler: Any, path: str) -> Iterator[str]:
    yield from _unknown_value(sampler.ShaderVisibility, D3D12_SHADER_VISIBILITY, f"{path}.ShaderVisibility")
    yield from _unknown_value(sampler.Filter, D3D12_FILTER, f"{path}.Filter")
    for name in ("AddressU", "AddressV", "AddressW"):
        yield from _unknown_value(getattr(sampler, name), D3D12_TEXTURE_ADDRESS_MODE, f"{path}.{name}")
    bias = sampler.MipLODBias
    if not MIN_LOD_BIAS <= bias <= MAX_LOD_BIAS:
        yield f"{path}.MipLODBias must be from {MIN_LOD_BIAS} to {MAX_LOD_BIAS}, not {bias:g}"
    if sampler.MaxAnisotropy > MAX_ANISOTROPY:
        yield f"{path}.MaxAnisotropy must be at most {MAX_ANISOTROPY}, not {sampler.MaxAnisotropy}"
    if sampler.Filter & REDUCTION == COMPARISON and sampler.ComparisonFunc not in COMPARISONS:
        yield (
            f"{path}.ComparisonFunc is {sampler.ComparisonFunc}; a comparison filter needs one of "
            f"{COMPARISONS[0].name} to {COMPARISONS[-1].name}"
        )
    for name in ("MinLOD", "MaxLOD"):
        if math.isnan(getattr(sampler, name)):
            yield f"{path}.{name} must be a number, not NaN"


def _registers_of(parameter: RootParameter, path: str) -> Iterator[Registers]:
    if parameter.type == TABLE_TYPE:
        for index, each in enumerate(parameter.held):
            if each.RangeType in LETTERS and each.NumDescriptors:
                first = each.BaseShaderRegister
                end = UINT_MAX if each.NumDescriptors == UNBOUNDED else first + each.NumDescriptors - 1
                register_path = f"{path}.DescriptorTable.pDescriptorRanges[{index}]"
                yield Registers(
                    each.RangeType, each.RegisterSpace, first, end, parameter.visibility, register_path
                )
    elif parameter.held:
        (held,) = parameter.held
        number, register_path = held.ShaderRegister, f"{path}.{MEMBERS[parameter.type]}"
        kind = REGISTERS[D3D12_ROOT_PARAMETER_TYPE(parameter.type)]
        yield Registers(kind, held.RegisterSpace, number, number, parameter.visibility, register_path)


def _reserved(registers: Iterable[Registers]) -> Iterator[str]:
    for each in registers:
        if each.space >= FIRST_RESERVED_SPACE:
            yield (
                f"{each.path}.RegisterSpace is 0x{each.space:X}; spaces from 0x{FIRST_RESERVED_SPACE:X} on are "
                "reserved for the system"
            )


def _overlaps(registers: list[Registers]) -> Iterator[str]:
    """One problem for each of the registers that meet others with lower numbers."""
    current: list[int] = []
    for number in sorted(range(len(registers)), key=lambda number: registers[number][:4]):
        each = registers[number]
        current = [
            other
            for other in current
            if registers[other][:2] == each[:2] and registers[other].last >= each.first
        ]
        clash = next((other for other in current if registers[other].clashes(each)), None)
        if clash is None:
            current.append(number)
            continue
        first, second = registers[min(clash, number)], registers[max(clash, number)]
        shaders = D3D12_SHADER_VISIBILITY._value2member_map_.get(max(first.visibility, second.visibility))
        yield (
            f"{second.path} has {second}, and {first.path} has {first}; "
            f"{'shaders' if shaders is None else shaders.name} would see both"
        )
