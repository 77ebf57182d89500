"""What Microsoft's library (DirectML 1.13) computed of random descs, on a software Direct3D 12 device, recorded."""

from __future__ import annotations

from pathlib import Path

from directml_py.hardware import Case, read_cases

FILE = Path(__file__).parent / "directml_1_13_cases.jsonl.gz"
# The recording filled outputs with this byte: it is still there where the library wrote nothing.
UNWRITTEN = 0xCD

__all__ = ["UNWRITTEN", "Case", "cases"]


def cases() -> list[Case]:
    return list(read_cases(FILE))
