"""The compute state of command lists: root signature and root arguments, which are checked and kept as data.

No dispatch reads them, as none has a pipeline state. DirectML's dispatches have bindings of their own.
"""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ..abi.arguments import child, invalid, is_series, uint, unsigned
from ..abi.pointers import struct_at
from ..api.d3d12_enums import (
    D3D12_COMMAND_LIST_TYPE,
    D3D12_COMMAND_LIST_TYPE_COPY,
    D3D12_MESSAGE_ID,
    D3D12_MESSAGE_ID_COMMAND_LIST_DISPATCH_ROOT_SIGNATURE_NOT_SET,
    D3D12_MESSAGE_ID_COMMAND_LIST_PIPELINE_STATE_NOT_SET,
    D3D12_MESSAGE_ID_SET_DESCRIPTOR_TABLE_INVALID,
    D3D12_MESSAGE_ID_SET_ROOT_CONSTANT_BUFFER_VIEW_INVALID,
    D3D12_MESSAGE_ID_SET_ROOT_CONSTANT_INVALID,
    D3D12_MESSAGE_ID_SET_ROOT_SHADER_RESOURCE_VIEW_INVALID,
    D3D12_MESSAGE_ID_SET_ROOT_UNORDERED_ACCESS_VIEW_INVALID,
    D3D12_MESSAGE_ID_UNKNOWN,
    D3D12_ROOT_PARAMETER_TYPE,
    D3D12_ROOT_PARAMETER_TYPE_32BIT_CONSTANTS,
    D3D12_ROOT_PARAMETER_TYPE_CBV,
    D3D12_ROOT_PARAMETER_TYPE_DESCRIPTOR_TABLE,
    D3D12_ROOT_PARAMETER_TYPE_SRV,
    D3D12_ROOT_PARAMETER_TYPE_UAV,
)
from ..api.d3d12_structs import D3D12_GPU_DESCRIPTOR_HANDLE
from .blob import bytes_at
from .d3d12_constants import D3D12_CONSTANT_BUFFER_DATA_PLACEMENT_ALIGNMENT
from .descriptors import ID3D12DescriptorHeap
from .pipeline_objects import REASON, ID3D12PipelineState, ID3D12RootSignature

if TYPE_CHECKING:
    from .device_child import ParentDevice
    from .root_signature_layout import RootParameter, RootSignatureLayout

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


class ComputeState:
    """Mixin of command lists. As with all recording methods, an invalid call makes the list invalid."""

    device: ParentDevice
    type: D3D12_COMMAND_LIST_TYPE
    descriptor_heaps: tuple[ID3D12DescriptorHeap, ...]
    compute: ComputeArguments | None

    @abstractmethod
    def fail(self, id: D3D12_MESSAGE_ID, text: str) -> None:
        """Make the list invalid."""

    @abstractmethod
    def _ready(self, call: str) -> bool:
        """Whether ``call`` may record now."""

    def SetComputeRootSignature(self, rootSignature: ID3D12RootSignature) -> None:
        """Arguments for another root signature are forgotten; those for the same one stay (using-a-root-signature)."""
        signature = child(rootSignature, ID3D12RootSignature, "rootSignature", self.device)
        if self._computes("SetComputeRootSignature", D3D12_MESSAGE_ID_UNKNOWN) and (
            self.compute is None or self.compute.layout is not signature.layout
        ):
            self.compute = ComputeArguments(signature.layout)

    def SetPipelineState(self, pipelineState: ID3D12PipelineState) -> None:
        """Raises ``TypeError`` for whatever there is, since no pipeline state is ever created."""
        child(pipelineState, ID3D12PipelineState, "pipelineState", self.device)

    def Dispatch(self, threadGroupCountX: int, threadGroupCountY: int, threadGroupCountZ: int) -> None:
        """Makes the list invalid, as there are no pipeline states, without which nothing is dispatched."""
        for axis, count in zip("XYZ", (threadGroupCountX, threadGroupCountY, threadGroupCountZ)):
            uint(count, f"threadGroupCount{axis}")
        if not self._computes("Dispatch", D3D12_MESSAGE_ID_UNKNOWN):
            return
        if self.compute is None:
            self.fail(
                D3D12_MESSAGE_ID_COMMAND_LIST_DISPATCH_ROOT_SIGNATURE_NOT_SET,
                "Dispatch: no compute root signature is set",
            )
        self.fail(
            D3D12_MESSAGE_ID_COMMAND_LIST_PIPELINE_STATE_NOT_SET,
            f"Dispatch: no pipeline state is set; {REASON}",
        )

    def SetComputeRootDescriptorTable(self, rootParameterIndex: int, baseDescriptor: Any) -> None:
        """``baseDescriptor`` is a GPU handle in a heap that SetDescriptorHeaps has set."""
        handle = struct_at(baseDescriptor, D3D12_GPU_DESCRIPTOR_HANDLE, "baseDescriptor").ptr
        call, message = "SetComputeRootDescriptorTable", D3D12_MESSAGE_ID_SET_DESCRIPTOR_TABLE_INVALID
        kind = D3D12_ROOT_PARAMETER_TYPE_DESCRIPTOR_TABLE
        arguments = self._arguments(call, message, rootParameterIndex, kind)
        if arguments is None:
            return
        found = self.device.find_descriptors(handle)
        if found is None or found[0].has_cpu_handle(handle):
            self.fail(
                message, f"{call}: baseDescriptor is 0x{handle:X}, which is no GPU handle of a live heap"
            )
        elif found[0] not in self.descriptor_heaps:
            self.fail(
                message, f"{call}: baseDescriptor is in {found[0]}, which SetDescriptorHeaps has not set"
            )
        else:
            arguments.values[rootParameterIndex] = handle

    def SetComputeRoot32BitConstant(
        self, rootParameterIndex: int, srcData: int, destOffsetIn32BitValues: int
    ) -> None:
        value = uint(srcData, "srcData")
        self._set_constants(
            "SetComputeRoot32BitConstant",
            rootParameterIndex,
            destOffsetIn32BitValues,
            np.array([value], np.uint32),
        )

    def SetComputeRoot32BitConstants(
        self, rootParameterIndex: int, num32BitValuesToSet: int, srcData: Any, destOffsetIn32BitValues: int
    ) -> None:
        """``srcData`` is a sequence of unsigned numbers, an array or bytes, or the address of so many values."""
        count = uint(num32BitValuesToSet, "num32BitValuesToSet")
        values = _words(count, srcData)
        self._set_constants(
            "SetComputeRoot32BitConstants", rootParameterIndex, destOffsetIn32BitValues, values
        )

    def SetComputeRootConstantBufferView(self, rootParameterIndex: int, bufferLocation: int) -> None:
        self._set_view("SetComputeRootConstantBufferView", CBV, rootParameterIndex, bufferLocation)

    def SetComputeRootShaderResourceView(self, rootParameterIndex: int, bufferLocation: int) -> None:
        self._set_view("SetComputeRootShaderResourceView", SRV, rootParameterIndex, bufferLocation)

    def SetComputeRootUnorderedAccessView(self, rootParameterIndex: int, bufferLocation: int) -> None:
        self._set_view("SetComputeRootUnorderedAccessView", UAV, rootParameterIndex, bufferLocation)

    def _computes(self, call: str, message: D3D12_MESSAGE_ID) -> bool:
        if not self._ready(call):
            return False
        if self.type == D3D12_COMMAND_LIST_TYPE_COPY:
            self.fail(message, f"{call}: a copy command list has no compute state")
            return False
        return True

    def _arguments(
        self, call: str, message: D3D12_MESSAGE_ID, index: Any, kind: D3D12_ROOT_PARAMETER_TYPE
    ) -> ComputeArguments | None:
        """Where to keep the argument at ``index``; None if the root signature has no such parameter there."""
        number = uint(index, "rootParameterIndex")
        if not self._computes(call, message):
            return None
        if self.compute is None:
            self.fail(message, f"{call}: no compute root signature is set")
            return None
        problem = _index_problem(self.compute.layout.parameters, number, kind)
        if problem:
            self.fail(message, f"{call}: rootParameterIndex {problem}")
            return None
        return self.compute

    def _set_constants(self, call: str, index: Any, offset: Any, values: npt.NDArray[np.uint32]) -> None:
        first = uint(offset, "destOffsetIn32BitValues")
        message = D3D12_MESSAGE_ID_SET_ROOT_CONSTANT_INVALID
        arguments = self._arguments(call, message, index, D3D12_ROOT_PARAMETER_TYPE_32BIT_CONSTANTS)
        if arguments is None:
            return
        words = arguments.constants(index)
        if first + len(values) > len(words):
            self.fail(
                message,
                f"{call}: values {first} to {first + len(values)} are set, but parameter {index} has {len(words)}",
            )
        else:
            words[first : first + len(values)] = values

    def _set_view(self, call: str, view: View, index: Any, location: Any) -> None:
        address = unsigned(location, "bufferLocation")
        arguments = self._arguments(call, view.message, index, view.type)
        if arguments is None:
            return
        if address % view.alignment:
            self.fail(
                view.message,
                f"{call}: bufferLocation is 0x{address:X}; it must be a multiple of {view.alignment}",
            )
        elif self.device.buffers.at(address, WORD) is None:
            self.fail(
                view.message,
                f"{call}: bufferLocation is 0x{address:X}, where no buffer of this device is",
            )
        else:
            arguments.values[index] = address


def _index_problem(
    parameters: tuple[RootParameter, ...], index: int, kind: D3D12_ROOT_PARAMETER_TYPE
) -> str | None:
    if index >= len(parameters):
        return f"is {index}; the root signature has {len(parameters)} parameters"
    there = D3D12_ROOT_PARAMETER_TYPE(parameters[index].type)
    return None if there == kind else f"is {index}, where the root signature has a {there.name}"


def _words(count: int, data: Any) -> npt.NDArray[np.uint32]:
    if not is_series(data):
        return np.frombuffer(bytes_at(data, WORD * count, "srcData", "4 * num32BitValuesToSet"), np.uint32)
    if len(data) < count:
        raise invalid(f"num32BitValuesToSet is {count}, but srcData holds {len(data)}")
    return np.array([uint(value, f"srcData[{index}]") for index, value in enumerate(data[:count])], np.uint32)
