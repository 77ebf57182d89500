"""Device removal, and its effect on methods with and without an HRESULT."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from itertools import count
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast

from ..abi.arguments import WrongObject, instance
from ..abi.call_site import caller
from ..abi.hresult import (
    DXGI_ERROR_DEVICE_REMOVED,
    DXGI_ERROR_DEVICE_RESET,
    E_INVALIDARG,
    E_OUTOFMEMORY,
    S_OK,
    DMLError,
)
from ..abi.rules import Diagnostic, Rule, Severity
from ..api.enums import DML_CREATE_DEVICE_FLAG_DEBUG, DML_CREATE_DEVICE_FLAGS
from ..d3d12.debug_output import SEVERITIES, debug_output
from ..late import loading
from ..runtime.observers import watchers
from ..validation.decode_rules import FAULT_RULES
from ..validation.report import Report, failure

if TYPE_CHECKING:
    from ..d3d12 import ID3D12Device
    from .profiles import Profile

M = TypeVar("M", bound=Callable[..., Any])


# For messages that do not remove the device.
BREAKS = "The debug layer breaks at a call that took effect:"


class Removal:
    """Whether one DirectML device is removed, and why (the page "Handling errors and device-removal in DirectML").

    An error in a void method removes the device; so does the removal of its Direct3D 12 device. ``fail`` is for methods
    that return an HRESULT, ``remove`` for void ones, ``report`` for commands that run.
    """

    def __init__(
        self, d3d12_device: ID3D12Device, flags: DML_CREATE_DEVICE_FLAGS, strict: bool = False
    ) -> None:
        self._d3d12_device = d3d12_device
        self._error: DMLError | None = None
        self.debug = bool(flags & DML_CREATE_DEVICE_FLAG_DEBUG)
        self.strict = strict
        self.muted = False

    @property
    def reason(self) -> int:
        """S_OK, or the HRESULT that removed the device."""
        if self._error is not None:
            return self._error.hresult
        return self._d3d12_device.GetDeviceRemovedReason()

    def alive(self) -> bool:
        """Whether a call may proceed; queried at the start of each."""
        return self._error is None and not self._d3d12_device.scheduler.removed

    def check(self) -> None:
        """Raise ``DMLError`` ``DXGI_ERROR_DEVICE_REMOVED`` if the device is removed."""
        if self.reason == S_OK:
            return
        why = self._error.args[0] if self._error is not None else "its Direct3D 12 device was removed"
        diagnostics = self._error.diagnostics if self._error is not None else ()
        raise DMLError(DXGI_ERROR_DEVICE_REMOVED, f"the DirectML device was removed: {why}", diagnostics)

    def new_report(self) -> Report:
        """A report in which, on a strict device, violations of rules that only a page states are errors."""
        report = Report()
        if self.strict:
            report.make_strict()
        return report

    def fail(self, what: str, report: Report, hresult: int = E_INVALIDARG) -> None:
        """For methods that return an HRESULT: raise ``DMLError`` if ``report`` holds an error, or a warning that the
        debug layer breaks on."""
        if not report.diagnostics:
            return
        if self.strict:
            report.make_strict()
        report.raise_errors(what, hresult)
        if self.announce(report.diagnostics):
            raise failure(what, report.diagnostics, hresult, reported=True)

    def remove(self, what: str, report: Report, at_call: bool = True) -> None:
        """For void methods: remove the device if ``report`` holds an error.

        On a debug device the error is raised as well, as a debugger would break there; if it comes up while commands
        execute (``at_call`` False), by the call that let them run. So is an error of a rule that only the debug layers
        check, which neither removes the device nor undoes the call: ID3D12InfoQueue's SetBreakOnSeverity decides about
        both.
        """
        if not report.diagnostics:
            return
        if self.strict:
            report.make_strict()
        errors = report.errors
        if not errors:
            what = BREAKS
        if errors and self._error is None:
            # Not the instance that is raised, whose traceback would keep the callers' objects alive. Microsoft's
            # library has a single reason for every error.
            self._error = failure(what, report.diagnostics, DXGI_ERROR_DEVICE_REMOVED)
            if not self.debug:
                # No exception says so, unless a later call returns an HRESULT.
                where = caller()
                text = f"the DirectML device was removed{where and f' at {where}'}: {self._error.args[0]}"
                debug_output(SEVERITIES[Severity.ERROR], text)
            for observer in watchers.all:
                observer.removed(str(self._error))
        if not at_call:
            self.report(report)
        elif self.announce(report.diagnostics):
            raise failure(what, report.diagnostics, E_INVALIDARG, reported=True)

    def fail_call(self, what: str, error: WrongObject) -> None:
        """Remove the device for C callers, which can pass any pointer; Python callers get the error."""
        report = Report()
        report.add(FAULT_RULES["interface"], error.name, error.text)
        self.remove(what, report, at_call=False)

    def report(self, report: Report) -> None:
        """For executing commands: report messages, which neither remove the device nor stop the commands."""
        if not self.debug:
            return
        validator = self._d3d12_device.sync_validator
        if validator is None or self.muted:
            self.announce(report.diagnostics, at_call=False)
            return
        for diagnostic in report.diagnostics:
            validator.report_diagnostic(diagnostic)

    def announce(self, diagnostics: Sequence[Diagnostic], at_call: bool = True) -> bool:
        """Send the diagnostics to the debug layer's outputs; True if it breaks on one of them.

        Muting suppresses messages (nf-directml-idmldebugdevice-setmutedebugoutput), not breaks.
        """
        if not self.debug or not diagnostics:
            return False
        queue = self._d3d12_device.info_queue
        if queue is not None and self.muted:
            return any(
                queue.GetBreakOnSeverity(SEVERITIES[diagnostic.severity]) for diagnostic in diagnostics
            )
        if queue is None:
            if not self.muted:
                for diagnostic in diagnostics:
                    report_to_observers(diagnostic)
                    raised = at_call and diagnostic.severity is Severity.ERROR
                    debug_output(SEVERITIES[diagnostic.severity], str(diagnostic), raised=raised)
            return any(diagnostic.severity is Severity.ERROR for diagnostic in diagnostics)
        breaks = False
        for diagnostic in diagnostics:
            try:
                self._d3d12_device.report_diagnostic(diagnostic)
            except DMLError:
                breaks = True
        return breaks


class Removable(Protocol):
    """An object of a device that may be removed."""

    removal: Removal


class CountedRemoval(Removal):
    """Removes the Direct3D 12 device, and so the DirectML device, at the nth call, like a driver update."""

    def __init__(
        self, d3d12_device: ID3D12Device, flags: DML_CREATE_DEVICE_FLAGS, strict: bool, calls: int
    ) -> None:
        super().__init__(d3d12_device, flags, strict)
        self._last = calls
        self._calls = count(1)

    def alive(self) -> bool:
        if next(self._calls) == self._last:
            text = f"its profile has removal_after={self._last}, and this was that call"
            self._error = DMLError(DXGI_ERROR_DEVICE_RESET, text)
            self._d3d12_device.remove(DXGI_ERROR_DEVICE_RESET, text)
        return super().alive()


def make_removal(d3d12_device: ID3D12Device, flags: DML_CREATE_DEVICE_FLAGS, profile: Profile) -> Removal:
    if profile.removal_after is None:
        return Removal(d3d12_device, flags, profile.strict)
    return CountedRemoval(d3d12_device, flags, profile.strict, profile.removal_after)


def report_to_observers(found: Diagnostic) -> None:
    """Report a diagnostic to the observers, where there is no info queue."""
    if watchers.all:
        with loading:
            from ..d3d12.rule_messages import message_of
        message = message_of(found)
        for observer in watchers.all:
            observer.reported(message)


def hresult_method(method: M) -> M:
    """A method that returns an HRESULT: on a removed device it raises ``DXGI_ERROR_DEVICE_REMOVED``.

    Its own errors also go to the debug layer. ``MemoryError`` becomes ``E_OUTOFMEMORY``.
    """

    @functools.wraps(method)
    def call(self: Removable, *args: Any, **kwargs: Any) -> Any:
        if not self.removal.alive():
            self.removal.check()
        try:
            return method(self, *args, **kwargs)
        except DMLError as error:
            _report_failure(self.removal, error)
            raise
        except MemoryError:
            failed = DMLError(E_OUTOFMEMORY, f"{method.__name__}: there is not enough memory")
            _report_failure(self.removal, failed)
            raise failed from None

    return cast(M, call)


def _report_failure(removal: Removal, error: DMLError) -> None:
    """Report an error to the debug layer.

    HRESULTs that mean not found or not supported are answers to a query, not errors of the program.
    """
    if error.hresult == E_INVALIDARG and removal.debug and error.diagnostics:
        removal.announce(error.diagnostics)
        error.reported = True


def void_method(method: M) -> M:
    """A method that returns nothing: on a removed device it does nothing."""

    @functools.wraps(method)
    def call(self: Removable, *args: Any, **kwargs: Any) -> None:
        if self.removal.alive():
            method(self, *args, **kwargs)

    return cast(M, call)


def same_device(kind: type[Any], value: Any, name: str, device: Any, report: Report, rule: Rule) -> None:
    """Raise ``TypeError`` if ``value`` is not a ``kind``; report it if it belongs to another DirectML device."""
    if instance(value, kind, name).device is not device:
        report.add(rule, name, "belongs to another DirectML device")
