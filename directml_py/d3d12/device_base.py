"""Base class of ``ID3D12Device``: shared state, debug layer messages and device removal."""

from __future__ import annotations

import os
import weakref
from typing import TYPE_CHECKING, cast

from ..abi.hresult import (
    DXGI_ERROR_DEVICE_HUNG,
    DXGI_ERROR_DEVICE_REMOVED,
    DXGI_ERROR_INVALID_CALL,
    E_INVALIDARG,
    NAMES,
    S_OK,
    DMLError,
)
from ..abi.rules import Diagnostic, Rule
from ..api.d3d12_enums import (
    D3D12_DEBUG_FEATURE,
    D3D12_MESSAGE_CATEGORY,
    D3D12_MESSAGE_CATEGORY_EXECUTION,
    D3D12_MESSAGE_ID_DEVICE_REMOVAL_PROCESS_AT_FAULT,
    D3D12_MESSAGE_SEVERITY,
    D3D12_MESSAGE_SEVERITY_ERROR,
)
from ..late import loading
from ..runtime.observers import watchers
from ..runtime.scheduler import Scheduler
from .adapters import HARDWARE, Adapter
from .debug import debug_layer_enabled
from .device_child import ID3D12DeviceChild, ID3D12Object
from .info_queue import ID3D12InfoQueue1, Message
from .live_objects import Buffers, Living
from .rule_messages import message_of

if TYPE_CHECKING:
    from .device import ID3D12Device
    from .sync_validation.validator import SyncValidator


class DeviceBase(ID3D12Object):
    """The state of an ``ID3D12Device``. Without the debug layer ``info_queue``, ``sync_validator``
    and ``children`` are None.
    """

    def __init__(self, adapter: Adapter = HARDWARE) -> None:
        super().__init__()
        self._adapter = adapter
        self.scheduler = Scheduler(self._hang)
        self.info_queue = ID3D12InfoQueue1(self._device) if debug_layer_enabled() else None
        self.debug_features = D3D12_DEBUG_FEATURE(0)
        self.sync_validator: SyncValidator | None = None
        if debug_layer_enabled():
            self._start_validation()
        # Whether CREATE_NOT_ZEROED heaps are filled with garbage even without the debug layer.
        self.leaves_garbage = False
        # Whether commands that no barrier orders run in another order than recorded. Not under the debug layer, which
        # reports code that depends on the order.
        self.reorders = False
        self._removed_reason = S_OK
        self._removed_text = ""
        # The live objects that it has created; tracked under the debug layer only.
        self.children: Living[ID3D12DeviceChild] | None = Living() if debug_layer_enabled() else None
        self.buffers = Buffers()
        devices.add(self)

    @property
    def _device(self) -> ID3D12Device:
        return cast("ID3D12Device", self)

    def _start_validation(self) -> None:
        # Imported with the first device that needs it: programs without the debug layer start faster.
        with loading:
            from .sync_validation.validator import SyncValidator
        self.sync_validator = self.scheduler.layer = SyncValidator(self._device)

    @property
    def removed(self) -> bool:
        return self.scheduler.removed

    def _hang(self, text: str) -> None:
        self.mark_removed(DXGI_ERROR_DEVICE_HUNG, text)

    def report(
        self,
        severity: D3D12_MESSAGE_SEVERITY,
        category: D3D12_MESSAGE_CATEGORY,
        id: int,
        text: str,
        hresult: int = E_INVALIDARG,
    ) -> None:
        """Report a debug layer message; does nothing without the layer. Raises ``DMLError`` with ``hresult`` if the
        info queue breaks on the severity."""
        self.report_message(Message(category, severity, id, text), hresult)

    def refused(
        self, category: D3D12_MESSAGE_CATEGORY, id: int, text: str, hresult: int = E_INVALIDARG
    ) -> DMLError:
        """The exception for a call that fails for a reason that the debug layer has reported."""
        self.report(D3D12_MESSAGE_SEVERITY_ERROR, category, id, text, hresult)
        return DMLError(hresult, text, reported=self.info_queue is not None)

    def report_rule(self, rule: Rule, text: str) -> None:
        """As ``report``, for a violation of a named rule."""
        self.report_diagnostic(Diagnostic(rule.severity, rule.id, "", text))

    def report_diagnostic(self, diagnostic: Diagnostic) -> None:
        if self.info_queue is not None:
            self.report_message(message_of(diagnostic))

    def report_message(self, message: Message, hresult: int = E_INVALIDARG) -> None:
        if self.info_queue is not None:
            self.info_queue.put(message, hresult)

    def check_alive(self) -> None:
        """Raises ``DXGI_ERROR_DEVICE_REMOVED`` on a removed device."""
        if self.scheduler.removed:
            reason = NAMES.get(self._removed_reason, hex(self._removed_reason))
            raise DMLError(
                DXGI_ERROR_DEVICE_REMOVED, f"the device was removed ({reason}): {self._removed_text}"
            )

    def remove(self, reason: int, text: str, id: int) -> None:
        """Remove the device and report the reason as an error with message ``id``."""
        self.mark_removed(reason, text)
        self.report(
            D3D12_MESSAGE_SEVERITY_ERROR,
            D3D12_MESSAGE_CATEGORY_EXECUTION,
            id,
            text,
            reason,
        )

    def refuse(self, call: str, text: str) -> bool:
        """Remove the device because ``call`` did nothing, for C callers, which no exception reaches. Failed queries do
        not remove it. Returns whether the debug layer has reported it."""
        if self.removed or call.startswith("Get"):
            return False
        self.remove(
            DXGI_ERROR_INVALID_CALL, f"{call}: {text}", D3D12_MESSAGE_ID_DEVICE_REMOVAL_PROCESS_AT_FAULT
        )
        return self.info_queue is not None

    def mark_removed(self, reason: int, text: str) -> None:
        """Remove the device: drop all pending work and complete all fences. Only the first reason is kept."""
        with self.scheduler.lock:
            if self.scheduler.removed:
                return
            self._removed_reason = reason
            self._removed_text = text
            dropped = self.scheduler.remove()
        # Released without the lock, with the objects of the program that it refers to.
        del dropped
        for observer in watchers.all:
            observer.removed(text)
        self.scheduler.end_waits()

    def after_fork(self) -> None:
        """In the child process: remove the device if another thread of the parent was using it."""
        if self.scheduler.after_fork():
            return
        self._removed_reason = self._removed_reason or DXGI_ERROR_DEVICE_REMOVED
        self._removed_text = self._removed_text or (
            "the process was forked while another thread used the device; the child must create one of its own"
        )
        self.scheduler.end_after_fork()

    def flush(self) -> None:
        """Under the debug layer, once the program has submitted everything: run the work that was never waited for, so
        that its messages are reported, and report deadlocked queues."""
        self.scheduler.flush()

    def GetDeviceRemovedReason(self) -> int:
        """``S_OK``, or the reason why the device was removed; returned, not raised."""
        return self._removed_reason


devices: weakref.WeakSet[DeviceBase] = weakref.WeakSet()


def _after_fork() -> None:
    for device in list(devices):
        device.after_fork()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
