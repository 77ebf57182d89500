"""The logger ``directml_py``, which the debug layers write to in place of OutputDebugString."""

from __future__ import annotations

from ..abi.rules import Severity
from ..api.d3d12_enums import (
    D3D12_MESSAGE_SEVERITY,
    D3D12_MESSAGE_SEVERITY_CORRUPTION,
    D3D12_MESSAGE_SEVERITY_ERROR,
    D3D12_MESSAGE_SEVERITY_INFO,
    D3D12_MESSAGE_SEVERITY_MESSAGE,
    D3D12_MESSAGE_SEVERITY_WARNING,
)
from ..late import loading

LEVELS = {
    D3D12_MESSAGE_SEVERITY_CORRUPTION: "CRITICAL",
    D3D12_MESSAGE_SEVERITY_ERROR: "ERROR",
    D3D12_MESSAGE_SEVERITY_WARNING: "WARNING",
    D3D12_MESSAGE_SEVERITY_INFO: "INFO",
    D3D12_MESSAGE_SEVERITY_MESSAGE: "DEBUG",
}

SEVERITIES = {
    Severity.ERROR: D3D12_MESSAGE_SEVERITY_ERROR,
    Severity.WARNING: D3D12_MESSAGE_SEVERITY_WARNING,
}


_raising_tells = True


def exceptions_tell_nobody() -> None:
    """For C programs: log raised messages too."""
    global _raising_tells
    _raising_tells = False


def debug_output(severity: D3D12_MESSAGE_SEVERITY, text: str, *, raised: bool = False) -> None:
    """Log ``text`` at the level that corresponds to ``severity``.

    A message that is also ``raised`` would appear twice on a terminal, once in the traceback, so it is logged only if
    the program has configured a handler.
    """
    # Imported here because most programs never log, and importing logging takes a tenth of this package's import time.
    with loading:
        import logging
    logger = logging.getLogger("directml_py")
    if not (raised and _raising_tells) or logger.hasHandlers():
        logger.log(getattr(logging, LEVELS[severity]), "%s", text)
