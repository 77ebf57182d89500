"""A dispatch's accesses to the memory of tensors and resources, for hazard tracking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..api.d3d12_enums import D3D12_RESOURCE_STATE_UNORDERED_ACCESS
from ..api.enums import DML_TENSOR_DATA_TYPE_UINT8
from ..descs.tensor import TensorDesc
from ..operators.operator import OPERATORS
from ..operators.program import Results
from ..runtime.buffer import BufferRange
from ..runtime.recording import Access, AccessKind

if TYPE_CHECKING:
    import numpy.typing as npt

UNORDERED_ACCESS = D3D12_RESOURCE_STATE_UNORDERED_ACCESS

Bytes: TypeAlias = "npt.NDArray[np.uint8]"


def tensor_access(tensor: TensorDesc, view: BufferRange, start: int, use: AccessKind, name: str) -> Access:
    """The access to a tensor that begins ``start`` bytes into ``view``."""
    part = BufferRange(view.buffer, view.offset + start, tensor.total_size)
    return Access(part, use, UNORDERED_ACCESS, name, elements_of(tensor, use))


def results_access(access: Access, results: Results, outputs: Sequence[BufferRange | None]) -> Access:
    """``access`` to one of a program's ``outputs``, restricted to the elements that the operator's page defines, which
    are known only after execution."""
    desc, slots = results.desc, results.desc.outputs
    operator, tensor = OPERATORS[desc.name], slots[results.output].tensor
    assert tensor is not None
    parts = [None if position is None else outputs[position] for position in results.positions]

    def elements(memory: Bytes) -> npt.NDArray[Any]:
        arrays = [
            None if part is None or slot.tensor is None else slot.tensor.view(part.bytes)
            for slot, part in zip(slots, parts)
        ]
        defined: npt.NDArray[Any] = tensor.view(memory)[operator.defined(desc, arrays)[results.output]]
        return defined

    return access._replace(elements=elements)


def resource_access(view: BufferRange, size: int, use: AccessKind, name: str) -> Access:
    """The access to the first ``size`` bytes."""
    return Access(BufferRange(view.buffer, view.offset, size), use, UNORDERED_ACCESS, name)


def elements_of(tensor: TensorDesc, use: AccessKind) -> Callable[[Bytes], npt.NDArray[Any]]:
    """A function from the tensor's bytes, or from a mark per byte, to its elements.

    No view can address half a byte: reads of 4-bit elements get a copy with one byte per element; writes count as
    writing all bytes up to the last.
    """
    if tensor.element_bits >= 8:
        return tensor.view
    if use is AccessKind.READ:
        marks = tensor.replace(data_type=DML_TENSOR_DATA_TYPE_UINT8)
        return lambda memory: marks.view(memory.repeat(2))
    end = (tensor.last_element_offset + 2) // 2
    return lambda memory: memory[:end]


def share_elements(one: TensorDesc, view: BufferRange, other: TensorDesc, other_view: BufferRange) -> bool:
    """Whether two tensors in ranges of one buffer or heap have an element's byte in common."""
    begins = [view.gpu_address, other_view.gpu_address]
    contents = [one.content_size, other.content_size]
    start, end = max(begins), min(begin + size for begin, size in zip(begins, contents))
    if end <= start:
        return False
    # Without strides there are no gaps, and the first elements of both begin their ranges.
    if begins[0] == begins[1] or (one.strides is None and other.strides is None):
        return True
    marked = [
        _marked_bytes(tensor)[start - begin : end - begin] for tensor, begin in zip((one, other), begins)
    ]
    return bool((marked[0] & marked[1]).any())


def _marked_bytes(tensor: TensorDesc) -> Bytes:
    """The bytes of a tensor: 0xFF where elements are, 0 in the gaps between them. 4-bit elements count as without
    gaps."""
    marks = np.zeros(tensor.content_size, np.uint8)
    if tensor.element_bits < 8:
        marks[:] = 0xFF
    else:
        elements = tensor.view(marks)
        unsigned = np.dtype(f"u{elements.itemsize}")
        elements.view(unsigned)[...] = np.iinfo(unsigned).max
    return marks
