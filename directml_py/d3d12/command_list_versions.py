"""``ID3D12GraphicsCommandList1`` to ``4``, without their texture, pipeline and ray tracing methods."""

from __future__ import annotations

from typing import Any

from ..abi.counted_structs import structs_at
from ..api.d3d12_structs import D3D12_WRITEBUFFERIMMEDIATE_PARAMETER
from ..api.iids import (
    IID_ID3D12GraphicsCommandList1,
    IID_ID3D12GraphicsCommandList2,
    IID_ID3D12GraphicsCommandList3,
    IID_ID3D12GraphicsCommandList4,
)
from ..runtime.buffer import BufferRange
from .command_list import ID3D12GraphicsCommandList
from .immediate import WriteImmediate, check_modes, destination


class ID3D12GraphicsCommandList1(ID3D12GraphicsCommandList):
    IID = IID_ID3D12GraphicsCommandList1


class ID3D12GraphicsCommandList2(ID3D12GraphicsCommandList1):
    IID = IID_ID3D12GraphicsCommandList2

    def WriteBufferImmediate(self, count: Any, params: Any = None, modes: Any = None) -> None:
        """``(count, params, modes)`` as in C, or ``params`` alone: write 32-bit values to GPU virtual addresses of
        buffers in state COPY_DEST (nf-d3d12-id3d12graphicscommandlist2-writebufferimmediate)."""
        writes = structs_at(count, params, D3D12_WRITEBUFFERIMMEDIATE_PARAMETER, "count", "params")
        check_modes(len(writes), modes)
        if not self._ready("WriteBufferImmediate"):
            return
        parts = [destination(self.device, write, f"params[{index}]") for index, write in enumerate(writes)]
        valid = [part for part in parts if isinstance(part, BufferRange)]
        if len(valid) < len(parts):
            problems = [part for part in parts if not isinstance(part, BufferRange)]
            text = "; ".join(f"WriteBufferImmediate: {problem}" for _, problem in problems)
            self.fail(problems[0][0], text)
            return
        self._append(WriteImmediate(tuple(zip(valid, [write.Value for write in writes]))))


class ID3D12GraphicsCommandList3(ID3D12GraphicsCommandList2):
    IID = IID_ID3D12GraphicsCommandList3


class ID3D12GraphicsCommandList4(ID3D12GraphicsCommandList3):
    IID = IID_ID3D12GraphicsCommandList4
