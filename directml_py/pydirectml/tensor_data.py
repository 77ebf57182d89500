"""Tensor descs, layout policies and tensor data."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..api import enums as c
from ..descs import tensor as values
from ..descs.data_types import data_type_number
from ..graph import TensorPolicy as Policy
from ..graph import interleaved_channel, packed
from ..graph.graph import tensor
from .enumerations import Enumeration, TensorDataType, TensorFlags
from .pybind_arguments import Signature, UInt, UInt64, checked, overloaded


class Dimensions:
    """Opaque, as in Microsoft's build; sizes are lists."""

    def __init__(self) -> None:
        raise TypeError("pydirectml.Dimensions: No constructor defined!")


class TensorPolicy:
    """The memory layout of tensors. Both properties raise in Microsoft's build."""

    default: ClassVar[TensorPolicy]
    interleaved_channel: ClassVar[TensorPolicy]

    def __init__(self) -> None:
        raise TypeError("pydirectml.TensorPolicy: No constructor defined!")

    @classmethod
    def _of(cls, policy: Policy) -> TensorPolicy:
        result = object.__new__(cls)
        result.__dict__["policy"] = policy
        return result

    def strides(self, data_type: TensorDataType, sizes: list[int]) -> list[int] | None:
        strides = self.__dict__["policy"](int(data_type), 0, sizes).strides
        return None if strides is None else list(strides)


TensorPolicy.default = TensorPolicy._of(packed)
TensorPolicy.interleaved_channel = TensorPolicy._of(interleaved_channel)


def _plain(
    data_type: TensorDataType, sizes: list[UInt], tensor_policy: TensorPolicy = TensorPolicy.default
) -> None: ...


def _flagged(
    data_type: TensorDataType,
    flags: TensorFlags,
    sizes: list[UInt],
    tensor_policy: TensorPolicy = TensorPolicy.default,
) -> None: ...


def _strided(data_type: TensorDataType, sizes: list[UInt], strides: list[UInt] | None) -> None: ...


def _complete(
    data_type: TensorDataType,
    flags: TensorFlags,
    sizes: list[UInt],
    strides: list[UInt] | None,
    total_tensor_size_in_bytes: UInt64,
    guaranteed_base_offset_alignment: UInt,
) -> None: ...


def _by_keyword(
    data_type: TensorDataType,
    sizes: list[UInt],
    *,
    flags: TensorFlags = TensorFlags.NONE,
    strides: list[UInt] | None = None,
    total_tensor_size_in_bytes: UInt64 | None = None,
    guaranteed_base_offset_alignment: UInt = 0,
    tensor_policy: TensorPolicy | None = None,
) -> None: ...


_OVERLOADS = [Signature(one) for one in (_plain, _flagged, _strided, _complete, _by_keyword)]


def _with_member(value: Any) -> Any:
    """A TensorDataType in place of a type of NumPy; numbers do not convert to members."""
    if value is None or isinstance(value, (int, Enumeration)):
        return value
    return TensorDataType(data_type_number(value, "TensorDesc(): data_type"))


class TensorDesc:
    """``(data_type, sizes, tensor_policy=default)``, ``(data_type, flags, sizes, tensor_policy=default)``,
    ``(data_type, sizes, strides)`` or ``(data_type, flags, sizes, strides, total_tensor_size_in_bytes,
    guaranteed_base_offset_alignment)``; as in the fork, all that follows ``data_type`` and ``sizes`` may be keywords.

    ``data_type`` is a TensorDataType or a type of NumPy. Sizes and strides are in elements. Where the total is left
    out, DMLCalcBufferTensorSize computes it. Raises ``TypeError`` for other arguments, ``ValueError`` for unequal
    counts of sizes and strides.
    """

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        if arguments:
            arguments = (_with_member(arguments[0]), *arguments[1:])
        elif "data_type" in keywords:
            keywords["data_type"] = _with_member(keywords["data_type"])
        bound = overloaded("TensorDesc", _OVERLOADS, arguments, keywords)
        strides, policy = bound.get("strides"), bound.get("tensor_policy")
        if policy is not None:
            if strides is not None:
                raise ValueError("TensorDesc(): tensor_policy decides the strides, which are given too")
            strides = policy.strides(bound["data_type"], bound["sizes"])
        self.value: values.TensorDesc = tensor(
            "TensorDesc()",
            bound["data_type"],
            bound["sizes"],
            strides,
            bound.get("flags", c.DML_TENSOR_FLAG_NONE),
            bound.get("total_tensor_size_in_bytes"),
            bound.get("guaranteed_base_offset_alignment", 0),
        )

    @classmethod
    def of(cls, value: values.TensorDesc) -> TensorDesc:
        desc = object.__new__(cls)
        desc.value = value
        return desc

    @property
    def data_type(self) -> TensorDataType:
        return TensorDataType(self.value.data_type)

    @property
    def flags(self) -> TensorFlags:
        return TensorFlags(self.value.flags)

    @property
    def sizes(self) -> list[int]:
        return list(self.value.sizes)

    @property
    def strides(self) -> list[int] | None:
        return None if self.value.strides is None else list(self.value.strides)

    @property
    def total_tensor_size_in_bytes(self) -> int:
        return self.value.total_size

    @property
    def guaranteed_base_offset_alignment(self) -> int:
        return self.value.alignment

    def __repr__(self) -> str:
        shape = ",".join(map(str, self.value.sizes))
        return (
            f"dml.TensorDesc of type {int(self.value.data_type)} and shape [{shape}]"
            f" with flags {int(self.value.flags)}"
        )


class TensorData(np.ndarray[Any, np.dtype[Any]]):
    """The data of a tensor: a copy of an array, or a result of ``compute``, with the tensor's sizes and strides.

    The dtype is FLOAT32, also for other 32-bit elements, whose bits it then has (use ``view``). Elements of other
    widths, for which Microsoft's build reads out of bounds, keep their own dtype.
    """

    def __new__(cls, array: Any) -> TensorData:
        data: TensorData = np.ndarray.__new__(cls, np.shape(array), np.float32)
        data[...] = array
        return data

    @classmethod
    def of(cls, tensor: values.TensorDesc, memory: npt.NDArray[np.uint8], dtype: np.dtype[Any]) -> TensorData:
        """A view of a tensor's memory."""
        strides = [stride * dtype.itemsize for stride in tensor.effective_strides]
        data: TensorData = np.ndarray.__new__(cls, tensor.sizes, dtype, memory.data, strides=strides)
        return data


class Size2D:
    """DML_SIZE_2D."""

    @checked
    def __init__(self, width: UInt, height: UInt, /) -> None:
        self.width = width
        self.height = height
