"""Handling of devices in the child process after ``fork``."""

from __future__ import annotations

import os
import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .device import ID3D12Device

devices: weakref.WeakSet[ID3D12Device] = weakref.WeakSet()


def _after_fork() -> None:
    for device in list(devices):
        device.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
