"""``ID3D12RootSignature``, and the compute state of a command list: root arguments, which are kept as data.

No dispatch reads them, as none has a pipeline state. DirectML's dispatches have bindings of their own. What makes root
signatures is imported when a program makes the first: few programs do.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from ..abi.arguments import invalid, is_series, uint
from ..api.d3d12_enums import (
    D3D12_MESSAGE_ID,
    D3D12_MESSAGE_ID_SET_ROOT_CONSTANT_BUFFER_VIEW_INVALID,
    D3D12_MESSAGE_ID_SET_ROOT_SHADER_RESOURCE_VIEW_INVALID,
    D3D12_MESSAGE_ID_SET_ROOT_UNORDERED_ACCESS_VIEW_INVALID,
    D3D12_ROOT_PARAMETER_TYPE,
    D3D12_ROOT_PARAMETER_TYPE_CBV,
    D3D12_ROOT_PARAMETER_TYPE_SRV,
    D3D12_ROOT_PARAMETER_TYPE_UAV,
)
from ..api.iids import IID_ID3D12PipelineState, IID_ID3D12RootSignature
from ..text.plural import counted_words
from .blob import bytes_at
from .d3d12_constants import D3D12_CONSTANT_BUFFER_DATA_PLACEMENT_ALIGNMENT
from .device_child import ID3D12DeviceChild, ID3D12Pageable, ParentDevice

if TYPE_CHECKING:
    import numpy.typing as npt

    from .root_signature_layout import RootParameter, RootSignatureLayout


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


WORD: Final = 4


class View(NamedTuple):
    """A kind of root descriptor: the message about a wrong one, and what its address must be a multiple of."""

    type: D3D12_ROOT_PARAMETER_TYPE
    message: D3D12_MESSAGE_ID
    alignment: int


CBV: Final = View(
    D3D12_ROOT_PARAMETER_TYPE_CBV,
    D3D12_MESSAGE_ID_SET_ROOT_CONSTANT_BUFFER_VIEW_INVALID,
    D3D12_CONSTANT_BUFFER_DATA_PLACEMENT_ALIGNMENT,
)
SRV: Final = View(D3D12_ROOT_PARAMETER_TYPE_SRV, D3D12_MESSAGE_ID_SET_ROOT_SHADER_RESOURCE_VIEW_INVALID, WORD)
UAV: Final = View(
    D3D12_ROOT_PARAMETER_TYPE_UAV, D3D12_MESSAGE_ID_SET_ROOT_UNORDERED_ACCESS_VIEW_INVALID, WORD
)


class ComputeArguments:
    """A root signature and what was set for its parameters, by index: the words of constants (zero until they are set),
    the address of a root descriptor, the handle of a table."""

    def __init__(self, layout: RootSignatureLayout) -> None:
        self.layout = layout
        self.values: dict[int, Any] = {}

    def constants(self, index: int) -> npt.NDArray[np.uint32]:
        count = self.layout.parameters[index].held[0].Num32BitValues
        words: npt.NDArray[np.uint32] = self.values.setdefault(index, np.zeros(count, np.uint32))
        return words


def index_problem(
    parameters: tuple[RootParameter, ...], index: int, kind: D3D12_ROOT_PARAMETER_TYPE
) -> str | None:
    if index >= len(parameters):
        return f"is {index}; the root signature has {len(parameters)} parameters"
    there = D3D12_ROOT_PARAMETER_TYPE(parameters[index].type)
    return None if there == kind else f"is {index}, where the root signature has a {there.name}"


def words_at(count: int, data: Any) -> npt.NDArray[np.uint32]:
    if not is_series(data):
        return np.frombuffer(bytes_at(data, WORD * count, "srcData", "4 * num32BitValuesToSet"), np.uint32)
    if len(data) < count:
        raise invalid(f"num32BitValuesToSet is {count}, but srcData holds {len(data)}")
    return np.array([uint(value, f"srcData[{index}]") for index, value in enumerate(data[:count])], np.uint32)
