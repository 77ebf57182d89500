"""The table of tensor data types, and arrays of other libraries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

import numpy as np

from ..abi.arguments import integer
from ..api.enums import DML_TENSOR_DATA_TYPE
from ..text.similar import did_you_mean

if TYPE_CHECKING:
    import numpy.typing as npt


class TorchType(Protocol):
    """A ``torch.dtype``."""

    @property
    def is_floating_point(self) -> bool:
        """Whether elements are floats."""


# A DML_TENSOR_DATA_TYPE, or the type of its elements to NumPy or PyTorch, or a name of either.
DataTypeLike: TypeAlias = "int | np.dtype[Any] | type[np.generic] | str | TorchType"
PREFIX = "DML_TENSOR_DATA_TYPE_"


class DataType(NamedTuple):
    """A tensor data type: ``bits`` per element in memory, ``dtype`` and ``code`` (of the module ``struct``) of an
    unpacked element, which for 4-bit types is a byte, and ``level``, the feature level that introduced it."""

    name: str
    bits: int
    dtype: np.dtype[Any]
    code: str
    level: int

    @property
    def kind(self) -> str:
        """``F`` for floats, ``I`` for signed, ``U`` for unsigned integers."""
        return self.name[0]


DATA_TYPES: dict[int, DataType] = {
    DML_TENSOR_DATA_TYPE[PREFIX + name]: DataType(name, bits, np.dtype(dtype), code, level)
    for name, bits, dtype, code, level in (
        ("FLOAT64", 64, np.float64, "d", 0x3000),
        ("FLOAT32", 32, np.float32, "f", 0x1000),
        ("FLOAT16", 16, np.float16, "e", 0x1000),
        ("UINT64", 64, np.uint64, "Q", 0x3000),
        ("UINT32", 32, np.uint32, "I", 0x1000),
        ("UINT16", 16, np.uint16, "H", 0x1000),
        ("UINT8", 8, np.uint8, "B", 0x1000),
        ("UINT4", 4, np.uint8, "B", 0x6300),
        ("INT64", 64, np.int64, "q", 0x3000),
        ("INT32", 32, np.int32, "i", 0x1000),
        ("INT16", 16, np.int16, "h", 0x1000),
        ("INT8", 8, np.int8, "b", 0x1000),
        ("INT4", 4, np.int8, "b", 0x6300),
    )
}
BY_NAME = {known.name: data_type for data_type, known in DATA_TYPES.items()}
UNKNOWN = DataType("UNKNOWN", 0, np.dtype(np.void), "", 0x1000)


def data_type_of(data_type: int) -> DataType:
    """The table's entry for a data type; ``UNKNOWN``, with 0 bits, for other numbers."""
    return DATA_TYPES.get(data_type, UNKNOWN)


def data_type_for(dtype: np.dtype[Any]) -> int | None:
    """The data type of at least 8 bits that corresponds to ``dtype``, in any byte order."""
    native = dtype.newbyteorder("=")
    return next(
        (number for number, known in DATA_TYPES.items() if known.bits >= 8 and known.dtype == native), None
    )


def data_type_number(value: Any, name: str) -> int:
    """A DML_TENSOR_DATA_TYPE, which may be passed as a NumPy type, ``np.float32`` or ``np.dtype("int8")``, as one of
    PyTorch, or by name: ``"float32"``, ``"UINT4"``.

    Raises ``TypeError``, which names ``name``, for other values, and for types that DirectML lacks.
    """
    text = value if isinstance(value, str) else _torch_name(value)
    if text is not None:
        known = BY_NAME.get(text.upper().removeprefix(PREFIX))
        if known is not None:
            return known
        raise TypeError(f"{name}: DirectML has no data type {text!r}{did_you_mean(text, BY_NAME)}")
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        data_type = data_type_for(np.dtype(value))
        if data_type is None:
            raise TypeError(f"{name}: DirectML has no data type for {np.dtype(value)} elements")
        return data_type
    if not hasattr(value, "__index__") or isinstance(value, (type, np.ndarray)):
        kind = f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__
        raise TypeError(
            f"{name} must be a DML_TENSOR_DATA_TYPE, a type of NumPy or PyTorch, or a name of one, not {kind}"
        )
    return integer(value, name)


def _torch_name(value: Any) -> str | None:
    """``float32`` for ``torch.float32``; PyTorch need not be imported for that."""
    kind = type(value)
    return (
        str(value).removeprefix("torch.") if (kind.__module__, kind.__name__) == ("torch", "dtype") else None
    )


def type_name(data_type: int) -> str:
    """``FLOAT32`` for DML_TENSOR_DATA_TYPE_FLOAT32; the number itself for unknown data types."""
    if isinstance(data_type, DML_TENSOR_DATA_TYPE):
        return data_type.name.removeprefix(PREFIX)
    return str(data_type)


CPU = 1


def as_array(value: Any, name: str) -> npt.NDArray[Any] | None:
    """``value`` as a NumPy array, without a copy; None if it is not an array, such as a number or a list.

    Raises ``TypeError``, which names ``name``, for an array that NumPy cannot view: one on another device, with element
    types that NumPy lacks, or that requires gradients.
    """
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value)
    if not hasattr(value, "__dlpack__"):
        return None
    kind = type(value).__name__
    if getattr(value, "requires_grad", False):
        raise TypeError(
            f"{name}: the {kind} requires gradients, which are not computed here; pass its detach()"
        )
    try:
        return np.from_dlpack(value)
    except (BufferError, RuntimeError, TypeError, ValueError) as error:
        device = _device_of(value)
        if device not in (CPU, None):
            text = f"{name}: the {kind} is on a device (DLPack type {device}); copy it to CPU memory"
            raise TypeError(text) from None
        raise TypeError(f"{name}: NumPy cannot view the {kind}: {error}") from None


def _device_of(value: Any) -> int | None:
    try:
        kind, _ = value.__dlpack_device__()
        return int(kind)
    except (AttributeError, BufferError, RuntimeError, TypeError, ValueError):
        return None
