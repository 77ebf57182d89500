"""``ID3D12GraphicsCommandList1`` to ``4``: what they add is about textures, pipelines and rays, and not emulated."""

from __future__ import annotations

from ..api.iids import (
    IID_ID3D12GraphicsCommandList1,
    IID_ID3D12GraphicsCommandList2,
    IID_ID3D12GraphicsCommandList3,
    IID_ID3D12GraphicsCommandList4,
)
from .command_list import ID3D12GraphicsCommandList


class ID3D12GraphicsCommandList1(ID3D12GraphicsCommandList):
    IID = IID_ID3D12GraphicsCommandList1


class ID3D12GraphicsCommandList2(ID3D12GraphicsCommandList1):
    IID = IID_ID3D12GraphicsCommandList2


class ID3D12GraphicsCommandList3(ID3D12GraphicsCommandList2):
    IID = IID_ID3D12GraphicsCommandList3


class ID3D12GraphicsCommandList4(ID3D12GraphicsCommandList3):
    IID = IID_ID3D12GraphicsCommandList4
