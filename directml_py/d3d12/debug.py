"""``ID3D12Debug``: the switch of the emulated debug layer."""

from __future__ import annotations

from ..abi.interface import IUnknown
from ..api.iids import IID_ID3D12Debug

_enabled = False


class ID3D12Debug(IUnknown):
    """Switches the debug layer for devices created afterwards; existing devices stay as they are."""

    IID = IID_ID3D12Debug

    def EnableDebugLayer(self) -> None:
        global _enabled
        _enabled = True

    def DisableDebugLayer(self) -> None:
        """``ID3D12Debug4``'s, here for every caller."""
        global _enabled
        _enabled = False


def D3D12GetDebugInterface() -> ID3D12Debug:
    return ID3D12Debug()


def debug_layer_enabled() -> bool:
    return _enabled
