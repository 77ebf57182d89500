"""Root signatures as bytes and as descs: what serializes, deserializes and creates them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ..abi.arguments import enumerator, invalid, uint
from ..abi.hresult import E_FAIL, DMLError
from ..abi.interface import IUnknown
from ..abi.pointers import struct_at
from ..api.d3d12_enums import D3D_ROOT_SIGNATURE_VERSION
from ..api.d3d12_structs import D3D12_ROOT_SIGNATURE_DESC, D3D12_VERSIONED_ROOT_SIGNATURE_DESC
from ..api.iids import (
    IID_ID3D12RootSignatureDeserializer,
    IID_ID3D12VersionedRootSignatureDeserializer,
)
from .blob import ID3DBlob, bytes_at
from .buffer_rules import check_node_mask
from .compute_state import ID3D12RootSignature
from .dxbc import NotAContainer, container_of, parse
from .root_signature_layout import (
    V1_0,
    VERSIONS,
    NotALayout,
    RootSignatureLayout,
    Version,
    decode,
    desc_of,
    encode,
    read_desc,
)
from .root_signature_rules import problems

if TYPE_CHECKING:
    from .device_child import ParentDevice

PART: Final = "RTS0"
# The member of D3D12_VERSIONED_ROOT_SIGNATURE_DESC that each version uses.
MEMBERS: Final = {version.number: f"Desc_{version.title.replace('.', '_')}" for version in VERSIONS.values()}


class ID3D12RootSignatureDeserializer(IUnknown):
    """A serialized root signature as a desc of version 1.0."""

    IID = IID_ID3D12RootSignatureDeserializer

    def __init__(self, layout: RootSignatureLayout) -> None:
        self._desc = desc_of(layout.converted(V1_0))

    def GetRootSignatureDesc(self) -> D3D12_ROOT_SIGNATURE_DESC:
        """The same desc on every call, which lives as long as this object."""
        desc: D3D12_ROOT_SIGNATURE_DESC = self._desc
        return desc


class ID3D12VersionedRootSignatureDeserializer(IUnknown):
    """A serialized root signature as descs of any version."""

    IID = IID_ID3D12VersionedRootSignatureDeserializer

    def __init__(self, layout: RootSignatureLayout) -> None:
        self._layout = layout
        self._descs: dict[int, D3D12_VERSIONED_ROOT_SIGNATURE_DESC] = {}

    def GetRootSignatureDescAtVersion(self, convertToVersion: int) -> D3D12_VERSIONED_ROOT_SIGNATURE_DESC:
        """The same desc on every call with a version, which lives as long as this object. A conversion to 1.0 drops all
        flags; one from 1.0 makes descriptors and data volatile."""
        return self._at(_version(convertToVersion, "convertToVersion"))

    def GetUnconvertedRootSignatureDesc(self) -> D3D12_VERSIONED_ROOT_SIGNATURE_DESC:
        """The desc in the version that was serialized."""
        return self._at(self._layout.version)

    def _at(self, version: Version) -> D3D12_VERSIONED_ROOT_SIGNATURE_DESC:
        if version.number not in self._descs:
            desc = desc_of(self._layout.converted(version))
            made = D3D12_VERSIONED_ROOT_SIGNATURE_DESC(Version=version.number)
            setattr(made, MEMBERS[version.number], desc)
            # Of two threads, both get the desc of the first.
            self._descs.setdefault(version.number, made)
        return self._descs[version.number]


def _version(value: Any, name: str) -> Version:
    return VERSIONS[enumerator(value, D3D_ROOT_SIGNATURE_VERSION, name)]


def D3D12SerializeRootSignature(rootSignature: Any, version: int) -> ID3DBlob:
    """A root signature of version 1.0, a D3D12_ROOT_SIGNATURE_DESC, as bytes: a DXBC container with one part.

    Raises ``E_INVALIDARG`` with all that is wrong with the desc; in C that is also the text of the error blob.
    """
    desc = struct_at(rootSignature, D3D12_ROOT_SIGNATURE_DESC, "rootSignature")
    kind = _version(version, "version")
    if kind is not V1_0:
        raise invalid(
            f"version is {kind.number.name}, but a D3D12_ROOT_SIGNATURE_DESC is of version {V1_0.title}; "
            "D3D12SerializeVersionedRootSignature takes others"
        )
    return _serialized(desc, V1_0, "rootSignature", V1_0)


def D3D12SerializeVersionedRootSignature(rootSignature: Any) -> ID3DBlob:
    """As D3D12SerializeRootSignature, for a D3D12_VERSIONED_ROOT_SIGNATURE_DESC of version 1.0 or 1.1."""
    desc = struct_at(rootSignature, D3D12_VERSIONED_ROOT_SIGNATURE_DESC, "rootSignature")
    return serialized_at(desc, "rootSignature")


def serialized_at(
    desc: D3D12_VERSIONED_ROOT_SIGNATURE_DESC, name: str, highest: int = max(VERSIONS)
) -> ID3DBlob:
    """The bytes of a root signature in its version, or in the highest one that is allowed."""
    version = _version(desc.Version, f"{name}.Version")
    member = MEMBERS[version.number]
    return _serialized(
        getattr(desc, member), version, f"{name}.{member}", VERSIONS[min(version.number, highest)]
    )


def _serialized(desc: Any, version: Version, name: str, written: Version) -> ID3DBlob:
    layout = read_desc(desc, version, name)
    found = problems(layout, name)
    if found:
        raise invalid("\n".join(found))
    return ID3DBlob(container_of((PART, encode(layout.converted(written)))))


def D3D12CreateRootSignatureDeserializer(
    srcData: Any, srcDataSizeInBytes: int | None = None
) -> ID3D12RootSignatureDeserializer:
    """``srcData`` is an ID3DBlob, bytes, or the address of so many bytes: a root signature of any version, or a shader
    with one. Raises ``E_INVALIDARG`` for other bytes, ``E_FAIL`` for a container without a root signature."""
    return ID3D12RootSignatureDeserializer(_deserialized(srcData, srcDataSizeInBytes))


def D3D12CreateVersionedRootSignatureDeserializer(
    srcData: Any, srcDataSizeInBytes: int | None = None
) -> ID3D12VersionedRootSignatureDeserializer:
    """As D3D12CreateRootSignatureDeserializer."""
    return ID3D12VersionedRootSignatureDeserializer(_deserialized(srcData, srcDataSizeInBytes))


def _deserialized(data: Any, size: int | None) -> RootSignatureLayout:
    return layout_in(bytes_at(data, size, "srcData", "srcDataSizeInBytes"), "srcData")


def layout_in(data: bytes, name: str) -> RootSignatureLayout:
    """The root signature in the bytes of the argument ``name``."""
    try:
        content = parse(data).part(PART)
        if content is None:
            # Microsoft's runtime distinguishes this case by its result.
            raise DMLError(
                E_FAIL, f"{name} has a DXBC container without a root signature, whose part is {PART}"
            )
        layout = decode(content)
    except (NotAContainer, NotALayout) as error:
        raise invalid(f"{name} is no root signature: it {error}") from None
    found = problems(layout, name)
    if found:
        raise invalid("\n".join(found))
    return layout


def create_root_signature(device: ParentDevice, node_mask: Any, blob: Any, size: Any) -> ID3D12RootSignature:
    check_node_mask(uint(node_mask, "nodeMask"), "nodeMask")
    data = bytes_at(blob, size, "blobWithRootSignature", "blobLengthInBytes")
    return ID3D12RootSignature(device, layout_in(data, "blobWithRootSignature"))
