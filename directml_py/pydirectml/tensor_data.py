"""Tensors: what they are, how they lie in memory, and their data."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from ..api import enums as c
from ..descs import tensor as values
from ..graph import tensor_policies
from ..graph.graph import tensor
from .enumerations import TensorDataType, TensorFlags
from .pybind_arguments import Signature, UInt, UInt64, checked, overloaded


class Dimensions:
    """Opaque: sizes are lists."""

    def __init__(self) -> None:
        raise TypeError("pydirectml.Dimensions: No constructor defined!")


class TensorPolicy:
    """How tensors lie in memory. Both properties raise in Microsoft's build."""

    default: ClassVar[TensorPolicy]
    interleaved_channel: ClassVar[TensorPolicy]

    def __init__(self) -> None:
        raise TypeError("pydirectml.TensorPolicy: No constructor defined!")

    @classmethod
    def _of(cls, policy: tensor_policies.TensorPolicy) -> TensorPolicy:
        made = object.__new__(cls)
        made.__dict__["policy"] = policy
        return made

    def strides(self, data_type: TensorDataType, sizes: list[int]) -> list[int] | None:
        found = self.__dict__["policy"](int(data_type), 0, sizes).strides
        return None if found is None else list(found)


TensorPolicy.default = TensorPolicy._of(tensor_policies.packed)
TensorPolicy.interleaved_channel = TensorPolicy._of(tensor_policies.interleaved_channel)


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


_OVERLOADS = [Signature(one) for one in (_plain, _flagged, _strided, _complete)]


class TensorDesc:
    """``(data_type, sizes, tensor_policy=default)``, ``(data_type, flags, sizes, tensor_policy=default)``,
    ``(data_type, sizes, strides)`` or ``(data_type, flags, sizes, strides, total_tensor_size_in_bytes,
    guaranteed_base_offset_alignment)``.

    Sizes and strides in elements. Where the total is left out it is what DMLCalcBufferTensorSize says. Raises
    ``TypeError`` for other arguments, ``ValueError`` for as many strides as there are no sizes.
    """

    def __init__(self, *arguments: Any, **keywords: Any) -> None:
        given = overloaded("TensorDesc", _OVERLOADS, arguments, keywords)
        strides = given.get("strides")
        if "tensor_policy" in given:
            strides = given["tensor_policy"].strides(given["data_type"], given["sizes"])
        self.value: values.TensorDesc = tensor(
            "TensorDesc()",
            given["data_type"],
            given["sizes"],
            strides,
            given.get("flags", c.DML_TENSOR_FLAG_NONE),
            given.get("total_tensor_size_in_bytes"),
            given.get("guaranteed_base_offset_alignment", 0),
        )

    @classmethod
    def of(cls, value: values.TensorDesc) -> TensorDesc:
        made = object.__new__(cls)
        made.value = value
        return made

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
    """The data of a tensor: a copy of an array, or what ``compute`` gives, in the tensor's sizes and strides.

    FLOAT32, also where a tensor has other elements of 32 bits, whose bits it then shows (``view`` them); elements of
    other widths, which Microsoft's build reads beyond its memory for, as what they are.
    """

    def __new__(cls, array: Any) -> TensorData:
        made: TensorData = np.ndarray.__new__(cls, np.shape(array), np.float32)
        made[...] = array
        return made

    @classmethod
    def of(cls, tensor: values.TensorDesc, memory: npt.NDArray[np.uint8], dtype: np.dtype[Any]) -> TensorData:
        """Views bytes that a tensor lies in."""
        strides = [one * dtype.itemsize for one in tensor.effective_strides]
        made: TensorData = np.ndarray.__new__(cls, tensor.sizes, dtype, memory.data, strides=strides)
        return made


class Size2D:
    """DML_SIZE_2D."""

    @checked
    def __init__(self, width: UInt, height: UInt, /) -> None:
        self.width = width
        self.height = height
