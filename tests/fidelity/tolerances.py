"""How far we may be from what Microsoft's library computed on its software device, in ULP, by operator.

``FUNCTIONS`` are ULP of each element: that device's exp, log and tanh are coarse, ours are not. ``SUMS`` are ULP of the
largest element of the output (of its largest input where it cancels): sums are added in another order. Every operator
without an entry gives the same bits.
"""

from __future__ import annotations

# By the name of the case: where that device, not the library, makes the difference, with the reason.
SOFTWARE_DEVICE: dict[str, str] = {}

FUNCTIONS: dict[str, int] = {}
SUMS: dict[str, int] = {
    **dict.fromkeys(("RESAMPLE", "RESAMPLE1", "RESAMPLE2", "RESAMPLE_GRAD", "RESAMPLE_GRAD1"), 2),
}
