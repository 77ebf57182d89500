"""The pytest plugin of directml-py: options, a marker, and the fixtures ``d3d12_device``, ``dml_device``, ``dml``,
``session_dml`` and ``session_dml_device``.

``directml_py.testing.plugin`` implements the fixtures; it is imported by the first test that uses one.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ..d3d12 import ID3D12Device
    from ..dml import IDMLDevice
    from .plugin import PluginSession

MARKER = "dml_feature_level"
_SESSIONS = "_directml_py_session"
_SHARED = "session_dml"


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("directml")
    group.addoption(
        "--dml-feature-level",
        metavar="LEVEL",
        default=None,
        help="feature level of the fixture dml_device, such as 4_1 (default: the highest)",
    )
    group.addoption(
        "--dml-profile",
        metavar="NAME",
        default=None,
        help="requirements profile of all DirectML devices of the run, such as demanding (default: kind)",
    )
    text = "also fail tests for violations of documentation-only rules, which Microsoft's library accepts"
    group.addoption("--dml-strict", action="store_true", default=False, help=text)
    parser.addini("dml_strict", text, type="bool", default=False)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", f'{MARKER}(level): feature level of dml_device, such as "4_1"')
    if config.getoption("dml_feature_level") is not None:
        from .plugin import requested_level

        requested_level(config, None)
    if config.getoption("dml_profile") is not None:
        from .plugin import use_profile

        config.add_cleanup(use_profile(config.getoption("dml_profile")))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Check the level of a test's marker, which the test need not use. It fails that test alone: an error while tests
    are collected would end a worker of pytest-xdist, or the whole run."""
    marker = item.get_closest_marker(MARKER)
    if marker is not None:
        from .plugin import requested_level

        if _SHARED in getattr(item, "fixturenames", ()):
            pytest.fail(
                f"{MARKER} does not apply to {_SHARED}, whose level is that of the run", pytrace=False
            )
        try:
            requested_level(item.config, marker)
        except pytest.UsageError as error:
            pytest.fail(str(error), pytrace=False)


@pytest.hookimpl(trylast=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Check messages after a test that passed, so that they fail the test itself and not its teardown."""
    for session in _sessions(item):
        session.check()


def pytest_runtest_teardown(item: pytest.Item) -> None:
    """What a failed test leaves in a session that tests share is not the next one's."""
    for session in _sessions(item):
        session.forget()


def _sessions(item: pytest.Item) -> Iterator[PluginSession]:
    for node in (item, item.session):
        session: PluginSession | None = getattr(node, _SESSIONS, None)
        if session is not None and (node is item or _SHARED in getattr(item, "fixturenames", ())):
            yield session


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> None:
    """End the traceback of a DMLError at the program's own call."""
    module = sys.modules.get("directml_py.abi.hresult")
    if module is not None and call.excinfo is not None and call.excinfo.errisinstance(module.DMLError):
        for name, loaded in list(sys.modules.items()):
            if name.startswith("directml_py.") and not name.startswith("directml_py.samples"):
                loaded.__dict__.setdefault("__tracebackhide__", _is_of_program)


def _is_of_program(excinfo: pytest.ExceptionInfo[BaseException] | None) -> bool:
    """Whether the traceback of an error says what the program did, and not what went wrong in the package."""
    return excinfo is not None and excinfo.errisinstance(sys.modules["directml_py.abi.hresult"].DMLError)


@pytest.fixture
def dml(request: pytest.FixtureRequest) -> Iterator[PluginSession]:
    """``dml.expect(rule, path=...)``, and the assertions of directml_py.testing at the test's feature level."""
    from . import plugin

    with plugin.session(request) as session:
        setattr(request.node, _SESSIONS, session)
        yield session
        # A test that is rerun needs new devices.
        delattr(request.node, _SESSIONS)


@pytest.fixture(scope="session")
def session_dml(request: pytest.FixtureRequest) -> PluginSession:
    """As ``dml``, with one device for all tests: for tests that run many times, as those of Hypothesis."""
    from . import plugin

    with plugin.session(request) as session:
        session.device = plugin.dml_device(session, plugin.d3d12_device(session))
    setattr(request.session, _SESSIONS, session)
    return session


@pytest.fixture(scope="session")
def session_dml_device(session_dml: PluginSession) -> IDMLDevice:
    """As ``dml_device``, the same for all tests."""
    assert session_dml.device is not None
    return session_dml.device


@pytest.fixture
def d3d12_device(dml: PluginSession) -> ID3D12Device:
    """A Direct3D 12 device under the debug layer; messages that the test does not expect fail it."""
    from . import plugin

    return plugin.d3d12_device(dml)


@pytest.fixture
def dml_device(dml: PluginSession, d3d12_device: ID3D12Device) -> IDMLDevice:
    """A DirectML device with the debug flag, at the feature level of the marker or of --dml-feature-level."""
    from . import plugin

    return plugin.dml_device(dml, d3d12_device)
