"""Where we refuse what Microsoft's library accepts, by rule, and why; ``*`` stands for any operator."""

from __future__ import annotations

from fnmatch import fnmatchcase

STRICTER: dict[str, str] = {
    "DML-Desc-enum": "REDUCE takes the Function -1, which names nothing that could be computed",
    "DML-MULTIHEAD_ATTENTION-key-beside-value": "new values beside the keys of the past alone have no keys",
    "DML-MULTIHEAD_ATTENTION-value-beside-key": "new keys beside the values of the past alone have no values",
}
# Descs that end the library's process; here they are refused, or execute.
CRASHES: dict[str, str] = {
    "GATHER": "IndexDimensions - 1 above Axis overruns its heap",
    "MULTIHEAD_ATTENTION": "HeadCount 0 is a division by zero",
}


def reason(rule: str) -> str:
    """Why ``rule`` is stricter; empty if nothing says so."""
    return next((text for pattern, text in STRICTER.items() if fnmatchcase(rule, pattern)), "")
