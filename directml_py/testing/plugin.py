"""The fixtures of the pytest plugin; ``pytest_plugin`` loads this module when a test uses one of them.

``d3d12_device`` and ``dml_device`` are devices under the debug layer, ``dml`` is a ``PluginSession``. A debug message,
warning or worse, that the test did not expect fails it.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from ..abi.hresult import DMLError
from ..abi.rules import Diagnostic
from ..api.d3d12_enums import D3D12_MESSAGE_SEVERITY, D3D12_MESSAGE_SEVERITY_ERROR
from ..api.enums import DML_CREATE_DEVICE_FLAG_DEBUG, DML_FEATURE_LEVEL
from ..d3d12 import D3D12CreateDevice, D3D12GetDebugInterface, ID3D12Device
from ..d3d12.debug import debug_layer_enabled
from ..dml import DMLCreateDevice, IDMLDevice
from ..dml.profiles import profile_of
from ..runtime.observers import PROFILE_VARIABLE
from . import assertions
from .expectation import Expectation
from .levels import FeatureLevels, feature_levels, parse_level
from .message_watch import Watch, describe, is_page_only, watch
from .valid_descs import HIGHEST

ERROR = D3D12_MESSAGE_SEVERITY_ERROR
DEBUG = DML_CREATE_DEVICE_FLAG_DEBUG


class PluginSession:
    """One test's devices, its expectations, and the assertions about descs at its feature level."""

    assert_same_desc = staticmethod(assertions.assert_same_desc)

    def __init__(self, feature_level: DML_FEATURE_LEVEL, strict: bool = False) -> None:
        self.feature_level = feature_level
        self.strict = strict
        self.checked = False
        # The device that tests share.
        self.device: IDMLDevice | None = None
        self._watches: list[Watch] = []
        self._devices: list[ID3D12Device] = []

    def watch(self, device: ID3D12Device | IDMLDevice) -> None:
        """Fail the test also for unexpected debug messages of another device, and do not limit their storage.

        Devices that the test creates have a debug layer. Raises ``ValueError`` for a device without one.
        """
        new_watch = watch(device)
        if new_watch is None:
            raise ValueError("the device was created without the debug layer, so it reports no messages")
        new_watch.queue.SetMessageCountLimit(-1)
        new_watch.queue.SetBreakOnSeverity(ERROR, False)
        if all(new_watch.queue is not existing.queue for existing in self._watches):
            self._watches.append(new_watch)
            self._devices.append(device if isinstance(device, ID3D12Device) else device.d3d12_device)

    def expect(self, rule: str, path: str | None = None) -> Expectation:
        """As ``directml_py.testing.expect``, with the messages of all devices of the test."""
        return Expectation(rule, path, self._watches)

    def assert_valid(self, desc: Any) -> None:
        """As ``directml_py.testing.assert_valid``, at the test's feature level."""
        __tracebackhide__ = True
        assertions.assert_valid(desc, feature_level=self.feature_level, strict=self.strict)

    def assert_invalid(
        self, desc: Any, rule: str, path: str | None = None, *, only: bool = True
    ) -> list[Diagnostic]:
        """As ``directml_py.testing.assert_invalid``, at the test's feature level."""
        __tracebackhide__ = True
        return assertions.assert_invalid(desc, rule, path, feature_level=self.feature_level, only=only)

    def feature_levels(self, desc: Any) -> FeatureLevels:
        return feature_levels(desc)

    def check(self) -> None:
        """Fail the test for unexpected messages; each is reported once.

        Outstanding GPU work runs first, so that its messages are included.
        """
        __tracebackhide__ = True
        self.checked = True
        for device in self._devices:
            device.flush()
        texts = []
        for each in self._watches:
            pending = each.pending()
            each.excuse(pending)
            texts += [
                f"{_severity(message.Severity)}: {describe(message)}"
                for message in pending
                if self.strict or not is_page_only(message)
            ]
        if texts:
            # Hypothesis repeats a test whose messages are alike.
            counts = Counter(texts)
            lines = "".join(
                f"\n  {text}" + f" ({count} times)" * (count > 1) for text, count in counts.items()
            )
            pytest.fail(f"the debug layer has messages that the test did not expect:{lines}", pytrace=False)

    def forget(self) -> None:
        """Expect all messages until now."""
        for each in self._watches:
            each.excuse(each.pending())


def _severity(value: D3D12_MESSAGE_SEVERITY) -> str:
    return value.name.removeprefix("D3D12_MESSAGE_SEVERITY_").lower()


def requested_level(config: pytest.Config, marker: pytest.Mark | None) -> DML_FEATURE_LEVEL:
    """The level of the marker, else of ``--dml-feature-level``, else the highest.

    Raises ``pytest.UsageError`` for an invalid level.
    """
    value, origin = config.getoption("dml_feature_level"), "--dml-feature-level"
    if marker is not None:
        origin = "@pytest.mark.dml_feature_level"
        if len(marker.args) != 1 or marker.kwargs:
            raise pytest.UsageError(f'{origin} takes one level, as in {origin}("4_1")')
        (value,) = marker.args
    if value is None:
        return HIGHEST
    try:
        return parse_level(value)
    except ValueError as error:
        raise pytest.UsageError(f"{origin}: {error}") from None


def use_profile(name: str) -> Callable[[], None]:
    """Make ``name`` the default profile of all devices, including those of child processes; returns a function that
    undoes it.

    Raises ``pytest.UsageError`` for an unknown profile.
    """
    try:
        profile_of(name)
    except DMLError as error:
        raise pytest.UsageError(f"--dml-profile: {error.diagnostics[0].message}") from None
    before = os.environ.get(PROFILE_VARIABLE)
    os.environ[PROFILE_VARIABLE] = name

    def undo() -> None:
        if before is None:
            os.environ.pop(PROFILE_VARIABLE, None)
        else:
            os.environ[PROFILE_VARIABLE] = before

    return undo


@contextmanager
def session(request: pytest.FixtureRequest) -> Iterator[PluginSession]:
    """The fixture ``dml``. It enables the debug layer for devices that the test creates, and restores the setting."""
    marker = request.node.get_closest_marker("dml_feature_level")
    was_on, debug = debug_layer_enabled(), D3D12GetDebugInterface()
    debug.EnableDebugLayer()
    try:
        strict = bool(request.config.getoption("dml_strict") or request.config.getini("dml_strict"))
        session = PluginSession(requested_level(request.config, marker), strict)
        yield session
        # Messages from the teardown of other fixtures, unless the test has failed already.
        if session.checked:
            session.check()
    finally:
        if not was_on:
            debug.DisableDebugLayer()


def d3d12_device(dml: PluginSession) -> ID3D12Device:
    device = D3D12CreateDevice()
    dml.watch(device)
    return device


def dml_device(dml: PluginSession, device: ID3D12Device) -> IDMLDevice:
    return DMLCreateDevice(device, DEBUG, feature_level=dml.feature_level)
