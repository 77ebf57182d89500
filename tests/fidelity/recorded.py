"""What Microsoft's library (DirectML 1.13) computed of random descs, on a software Direct3D 12 device, recorded."""

from __future__ import annotations

from pathlib import Path

from directml_py.hardware import Case, read_cases

FILE = Path(__file__).parent / "directml_1_13_cases.jsonl.gz"
# The recording filled outputs with this byte: it is still there where the library wrote nothing.
UNWRITTEN = 0xCD
# By the name of the case: where that device, not the library, makes the difference, with the reason.
NO_PIPELINE = "the software device builds no pipeline for FLOAT32 gradients of ROI_ALIGN"
BY_ZERO = "its integer divisions by 0 do not give what the Direct3D specification says"
SATURATES = "its INT8 stores saturate"
SOFTWARE_DEVICE: dict[str, str] = {
    **dict.fromkeys(("ROI_ALIGN_GRAD-20260-0", "ROI_ALIGN_GRAD-20260-3"), NO_PIPELINE),
    **{f"ELEMENT_WISE_DIVIDE-20260-{case}": BY_ZERO for case in (0, 2, 4)},
    **{f"ELEMENT_WISE_MODULUS_TRUNCATE-20260-{case}": BY_ZERO for case in (3, 5)},
    "ELEMENT_WISE_NEGATE-20260-5": SATURATES,
}

__all__ = ["SOFTWARE_DEVICE", "UNWRITTEN", "Case", "cases"]


def cases() -> list[Case]:
    return list(read_cases(FILE))
