"""Element formats of typed buffers: the DXGI_FORMATs with equal channels, parsed from their names."""

from __future__ import annotations

import re
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..api.d3d12_enums import DXGI_FORMAT

# Three-channel formats have no unordered access.
_NAME = re.compile(r"DXGI_FORMAT_(R(\d+)|R(\d+)G\3|R(\d+)G\4B\4A\4)_(FLOAT|UINT|SINT|UNORM|SNORM)")
_KINDS = {"FLOAT": "f", "UINT": "u", "SINT": "i", "UNORM": "u", "SNORM": "i"}


class Format(NamedTuple):
    """``channels`` channels of ``bits`` bits each; ``kind`` is the last part of the format's name."""

    channels: int
    bits: int
    kind: str

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return self.channels * self.bits // 8

    @property
    def name(self) -> str:
        """The name of its DXGI_FORMAT."""
        return (
            "DXGI_FORMAT_"
            + "".join(f"{channel}{self.bits}" for channel in "RGBA"[: self.channels])
            + f"_{self.kind}"
        )

    @property
    def takes_floats(self) -> bool:
        return self.kind in ("FLOAT", "UNORM", "SNORM")

    def from_bits(self, values: npt.NDArray[np.uint32]) -> npt.NDArray[Any]:
        """One element with the low bits of each value, unconverted."""
        return values[: self.channels].astype(f"u{self.bits // 8}")

    def from_floats(self, values: npt.NDArray[np.float32]) -> npt.NDArray[Any]:
        """One element with the values converted as in Direct3D: to FLOAT by rounding, to UNORM and SNORM by clamping to
        their range, mapping NaN to 0, and rounding halves away from zero."""
        dtype = f"{_KINDS[self.kind]}{self.bits // 8}"
        present = values[: self.channels]
        if self.kind == "FLOAT":
            with np.errstate(over="ignore"):
                return present.astype(dtype)
        signed = self.kind == "SNORM"
        scale = (1 << (self.bits - signed)) - 1
        scaled = np.clip(np.nan_to_num(present.astype(np.float64), nan=0.0), -signed, 1) * scale
        return np.trunc(scaled + np.copysign(0.5, scaled)).astype(dtype)

    def exceeds(self, values: npt.NDArray[np.float32]) -> bool:
        """Whether a value is outside the format's range and gets clamped."""
        if self.kind not in ("UNORM", "SNORM"):
            return False
        lowest = -1 if self.kind == "SNORM" else 0
        present = values[: self.channels]
        return not bool(((present >= lowest) & (present <= 1)).all())


RAW = Format(1, 32, "TYPELESS")


@cache
def format_of(value: DXGI_FORMAT) -> Format | None:
    """The format of a DXGI_FORMAT; None unless its channels are equal and in the order RGBA."""
    match = _NAME.fullmatch(value.name)
    if match is None:
        return None
    count, bits = next((count, int(text)) for count, text in zip((1, 2, 4), match.groups()[1:4]) if text)
    return Format(count, bits, match[5]) if bits in (8, 16, 32) else None


def format_of_name(name: str) -> Format | None:
    """The format with a given DXGI_FORMAT name, including the one of raw views; None if there is none."""
    if name == RAW.name:
        return RAW
    value = DXGI_FORMAT.__members__.get(name)
    return None if value is None else format_of(value)
