"""``ID3D12RootSignature`` and ``ID3D12PipelineState``: what the state of a command list refers to.

Apart from what makes root signatures, which is imported when a program makes the first: few programs do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from ..api.iids import IID_ID3D12PipelineState, IID_ID3D12RootSignature
from ..text.plural import counted_words
from .device_child import ID3D12DeviceChild, ID3D12Pageable

if TYPE_CHECKING:
    from .device_child import ParentDevice
    from .root_signature_layout import RootSignatureLayout

REASON: Final = "shaders are not executed, so that no pipeline state can be created"


class ID3D12RootSignature(ID3D12DeviceChild):
    IID = IID_ID3D12RootSignature

    def __init__(self, device: ParentDevice, layout: RootSignatureLayout) -> None:
        super().__init__(device)
        self.layout = layout

    def _about(self) -> str:
        count = counted_words(len(self.layout.parameters), "parameter")
        return f"{self.layout.version.title}, {count}, {counted_words(self.layout.cost, 'DWORD')}"


class ID3D12PipelineState(ID3D12Pageable):
    """There is none."""

    IID = IID_ID3D12PipelineState
