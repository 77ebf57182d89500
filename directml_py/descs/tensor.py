"""DML_BUFFER_TENSOR_DESC as an immutable value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..api.enums import DML_TENSOR_FLAG_NONE, DML_TENSOR_FLAG_OWNED_BY_DML, DML_TENSOR_FLAGS
from ..late import lazy, loading
from .data_types import data_type_number, data_type_of, type_name
from .format import braces
from .tensor_size import bytes_for, last_element_offset, packed_strides, unsigned_numbers

if TYPE_CHECKING:
    import numpy.typing as npt

# Plain numbers: arithmetic on enumeration members looks up the result.
OWNED_BY_DML = int(DML_TENSOR_FLAG_OWNED_BY_DML)


class TensorDesc:
    """The content of a DML_TENSOR_DESC of type BUFFER, immutable.

    ``sizes`` and ``strides`` are in elements (``strides`` None means packed), ``total_size`` and ``alignment`` in
    bytes. ``total_size`` defaults to the minimum. ``data_type`` may be a type of NumPy or PyTorch, or a name. The order
    of DirectMLX, ``TensorDesc(data_type, flags, sizes)``, is taken as well. The value need not be valid: validation is
    separate.
    """

    data_type: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...] | None
    flags: DML_TENSOR_FLAGS
    total_size: int
    alignment: int

    # Not a dataclass: Python takes longer to make one than to load the modules that this one imports.
    def __init__(
        self,
        data_type: int,
        sizes: tuple[int, ...],
        strides: tuple[int, ...] | None = None,
        flags: DML_TENSOR_FLAGS = DML_TENSOR_FLAG_NONE,
        total_size: int = -1,
        alignment: int = 0,
    ) -> None:
        if not isinstance(data_type, int):
            data_type = data_type_number(data_type, "TensorDesc: data_type")
        if type(sizes) is not tuple or type(strides) not in (tuple, type(None)):
            sizes, strides, flags = _arrays(sizes, strides, flags)
        fields = self.__dict__
        fields["data_type"], fields["sizes"], fields["strides"] = data_type, sizes, strides
        fields["flags"], fields["alignment"] = flags, alignment
        fields["total_size"] = self.minimum_size if total_size < 0 else total_size

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"TensorDesc is immutable; replace({name}=...) makes another")

    def __delattr__(self, name: str) -> None:
        raise AttributeError("TensorDesc is immutable")

    @property
    def _values(self) -> tuple[Any, ...]:
        return self.data_type, self.sizes, self.strides, self.flags, self.total_size, self.alignment

    def __eq__(self, other: object) -> bool:
        return self._values == other._values if isinstance(other, TensorDesc) else NotImplemented

    def __hash__(self) -> int:
        return self._hash

    @lazy
    def _hash(self) -> int:
        return hash(self._values)

    def __reduce__(self) -> tuple[Any, ...]:
        # Excludes cached properties, as hashes differ between processes.
        return TensorDesc, self._values

    def replace(self, **changes: Any) -> TensorDesc:
        """A copy with some fields replaced; ``total_size=-1`` makes that the minimum again."""
        return TensorDesc(**{**dict(zip(FIELDS, self._values)), **changes})

    __replace__ = replace

    @lazy
    def dimension_count(self) -> int:
        return len(self.sizes)

    @lazy
    def element_count(self) -> int:
        """The count of logical elements."""
        return math.prod(self.sizes)

    @lazy
    def element_bits(self) -> int:
        """Bits of one element; 0 for an unknown data type."""
        return data_type_of(self.data_type).bits

    @lazy
    def effective_strides(self) -> tuple[int, ...]:
        """The strides in elements, computed if the tensor is packed."""
        return packed_strides(self.sizes) if self.strides is None else self.strides

    @lazy
    def last_element_offset(self) -> int:
        """The offset, in elements, of the element with the highest coordinates."""
        return (
            self.element_count - 1 if self.strides is None else last_element_offset(self.sizes, self.strides)
        )

    @lazy
    def minimum_size(self) -> int:
        """DMLCalcBufferTensorSize's result, in bytes."""
        return bytes_for(self.data_type, self.last_element_offset + 1) if self.element_count else 0

    @lazy
    def content_size(self) -> int:
        """The bytes up to the end of the last element, not rounded up."""
        return ((self.last_element_offset + 1) * self.element_bits + 7) // 8 if self.element_count else 0

    @lazy
    def is_packed(self) -> bool:
        """Whether the elements are in row-major order without gaps (dimensions of size 1 may have any stride)."""
        packed = packed_strides(self.sizes)
        return all(
            size == 1 or stride == packed_stride
            for size, stride, packed_stride in zip(self.sizes, self.effective_strides, packed)
        )

    @lazy
    def layout(self) -> tuple[tuple[int, int], ...]:
        """Sizes and strides, without dimensions of size 1, whose strides lead nowhere."""
        return tuple(pair for pair in zip(self.sizes, self.effective_strides) if pair[0] != 1)

    def lies_like(self, other: TensorDesc) -> bool:
        """Whether the elements of both have the same size and the same offsets, in the same order."""
        return self.element_bits == other.element_bits and self.layout == other.layout

    def is_same_view(self, other: TensorDesc) -> bool:
        """Whether both are the same array over the same memory: of one data type and shape, at the same offsets."""
        return (self.data_type, self.sizes) == (other.data_type, other.sizes) and self.lies_like(other)

    @lazy
    def overlaps(self) -> bool:
        """Whether two elements share an address, as with broadcasting strides."""
        return self.strides is not None and elements_overlap(self.sizes, self.strides)

    @lazy
    def is_owned_by_dml(self) -> bool:
        return bool(int(self.flags) & OWNED_BY_DML)

    @lazy
    def dtype(self) -> np.dtype[Any]:
        """The NumPy type of an element; an 8-bit type for 4-bit elements. Raises ``TypeError`` for unknown types."""
        entry = data_type_of(self.data_type)
        if not entry.bits:
            raise TypeError(f"NumPy has no type for {type_name(self.data_type)} elements")
        return entry.dtype

    @lazy
    def is_nibbles(self) -> bool:
        """Whether elements have 4 bits, which no view can address."""
        return self.element_bits == 4

    def view(self, buffer: npt.NDArray[np.uint8]) -> npt.NDArray[Any]:
        """A strided view of the tensor over ``buffer`` (one-dimensional bytes).

        For 4-bit elements it is a read-only copy with one byte per element. Raises ``ValueError`` if the last element
        lies outside ``buffer``, ``TypeError`` as ``dtype`` does.
        """
        dtype = self.dtype
        if buffer.nbytes < self.content_size:
            raise ValueError(f"the tensor needs {self.content_size} bytes; the buffer has {buffer.nbytes}")
        if self.is_nibbles:
            elements = unpacked(buffer, self._element_offsets, dtype)
            elements.flags.writeable = False
            return elements
        if self.strides is None:
            return np.frombuffer(buffer, dtype, self.element_count).reshape(self.sizes)
        view: npt.NDArray[Any] = np.ndarray(self.sizes, dtype, buffer, strides=self._byte_strides)
        return view

    @lazy
    def _byte_strides(self) -> tuple[int, ...]:
        return tuple([stride * self.dtype.itemsize for stride in self.effective_strides])

    @property
    def _element_offsets(self) -> npt.NDArray[np.int64]:
        return offsets(self.sizes, self.effective_strides)

    def load(self, buffer: npt.NDArray[np.uint8]) -> npt.NDArray[Any]:
        """A packed copy of the elements in ``buffer``; raises as ``view`` does."""
        return np.array(self.view(buffer), order="C")

    def store(self, buffer: npt.NDArray[np.uint8], array: npt.NDArray[Any]) -> None:
        """Write the elements of ``array`` to the tensor in ``buffer``, leaving other bytes unchanged."""
        if self.is_nibbles:
            pack(buffer, self._element_offsets, np.broadcast_to(array, self.sizes))
        else:
            np.copyto(self.view(buffer), array)

    def _repr_html_(self) -> str:
        """The fields of the DML_BUFFER_TENSOR_DESC, and derived values."""
        with loading:
            from ..text.html import FIELD_VALUE, table
        strides = "none: packed" if self.strides is None else braces(self.strides)
        least = (
            "" if self.total_size == self.minimum_size else f" (at least {self.minimum_size:,} are needed)"
        )
        rows = [
            ("DataType", type_name(self.data_type)),
            ("Sizes", f"{braces(self.sizes)}: {self.element_count:,} elements"),
            ("Strides", strides),
            ("Flags", getattr(self.flags, "name", None) or str(int(self.flags))),
            ("TotalTensorSizeInBytes", f"{self.total_size:,}{least}"),
            ("GuaranteedBaseOffsetAlignment", f"{self.alignment:,}"),
        ]
        return table("DML_BUFFER_TENSOR_DESC", rows, FIELD_VALUE)

    def __repr__(self) -> str:
        text = f"{type_name(self.data_type)} {braces(self.sizes)}"
        if self.strides is not None:
            text += f" strides {braces(self.strides)}"
        if self.flags:
            text += f" {DML_TENSOR_FLAGS(self.flags).name or int(self.flags)}"
        if self.total_size != self.minimum_size:
            text += f" in {self.total_size} bytes"
        if self.alignment:
            text += f" aligned to {self.alignment}"
        return text


FIELDS = tuple(TensorDesc.__annotations__)


def _arrays(
    sizes: Any, strides: Any, flags: Any
) -> tuple[tuple[int, ...], tuple[int, ...] | None, DML_TENSOR_FLAGS]:
    """Tuples for lists, also in the order of DirectMLX's constructor, whose flags precede the sizes."""
    if isinstance(sizes, int):
        typed_flags = DML_TENSOR_FLAGS(sizes)
        sizes, strides, flags = strides, None if isinstance(flags, int) else flags, typed_flags
    if sizes is None:
        raise TypeError("TensorDesc: sizes are missing")
    return (
        tuple(unsigned_numbers(sizes, "TensorDesc: sizes")),
        None if strides is None else tuple(unsigned_numbers(strides, "TensorDesc: strides")),
        flags,
    )


# Programs create descs of the same few tensors repeatedly, so that caching them pays.
shared_tensor = lru_cache(maxsize=4096)(TensorDesc)


SEARCH_LIMIT = 200_000


def elements_overlap(sizes: Sequence[int], strides: Sequence[int]) -> bool:
    """True if two different coordinates have the same offset. Sizes and strides are in elements.

    Exact: searches for a nonzero difference of coordinates whose offset is zero. Strides for which the search reaches
    its limit count as overlapping.
    """
    dims = sorted(((stride, size - 1) for size, stride in zip(sizes, strides) if size > 1), reverse=True)
    if any(stride == 0 for stride, _ in dims):
        return True
    reach = [0] * (len(dims) + 1)
    divisor = [0] * (len(dims) + 1)
    for i in range(len(dims) - 1, -1, -1):
        stride, extent = dims[i]
        reach[i] = reach[i + 1] + stride * extent
        divisor[i] = math.gcd(divisor[i + 1], stride)
    if all(dims[i][0] > reach[i + 1] for i in range(len(dims))):
        return False
    if math.prod(extent + 1 for _, extent in dims) > reach[0] + 1:
        return True
    budget = SEARCH_LIMIT

    def reachable(i: int, target: int) -> bool:
        """Whether differences in dimensions ``i`` and later can give the offset ``target``."""
        nonlocal budget
        if target == 0:
            return True
        if abs(target) > reach[i] or target % divisor[i]:
            return False
        stride, extent = dims[i]
        low = max(-extent, -((reach[i + 1] - target) // stride))
        high = min(extent, (reach[i + 1] + target) // stride)
        for difference in range(low, high + 1):
            budget -= 1
            if budget < 0 or reachable(i + 1, target - difference * stride):
                return True
        return False

    for i, (stride, extent) in enumerate(dims):
        for difference in range(1, min(extent, reach[i + 1] // stride) + 1):
            budget -= 1
            if budget < 0 or reachable(i + 1, -difference * stride):
                return True
    return False


Bytes: TypeAlias = "npt.NDArray[np.uint8]"


def offsets(sizes: Sequence[int], strides: Sequence[int]) -> npt.NDArray[np.int64]:
    """The offset, in elements, of every element of a tensor."""
    offset = np.zeros(tuple(sizes), np.int64)
    for dimension, (size, stride) in enumerate(zip(sizes, strides)):
        along = np.arange(size, dtype=np.int64) * stride
        offset += along.reshape((-1,) + (1,) * (len(sizes) - dimension - 1))
    return offset


def unpacked(memory: Bytes, element_offsets: npt.NDArray[np.int64], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """The elements at ``element_offsets``, one byte each, as uint8 or, sign-extended, int8."""
    halves: Bytes
    shifts = ((element_offsets & 1) << 2).astype(np.uint8)
    halves = np.bitwise_and(memory[element_offsets >> 1] >> shifts, np.uint8(15))
    return halves if dtype.kind == "u" else np.subtract((halves ^ np.uint8(8)).view(np.int8), np.int8(8))


def pack(memory: Bytes, element_offsets: npt.NDArray[np.int64], values: npt.NDArray[Any]) -> None:
    """Write the low halves of ``values`` to ``element_offsets``; the other halves of the bytes are unchanged."""
    halves = values.astype(np.uint8) & np.uint8(15)
    for half in (0, 1):
        mine = (element_offsets & 1) == half
        at = element_offsets[mine] >> 1
        kept = memory[at] & np.uint8(0xF0 if half == 0 else 0x0F)
        memory[at] = kept | (halves[mine] << np.uint8(4 * half))
