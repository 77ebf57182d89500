"""The pytest plugin of directml-py: options, a marker, and the fixtures ``d3d12_device``, ``dml_device``, ``dml``.

``directml_py.testing.plugin`` implements the fixtures; it is imported by the first test that uses one.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from ..d3d12 import ID3D12Device
    from ..dml import IDMLDevice
    from .plugin import PluginSession

MARKER = "dml_feature_level"
_SESSIONS = "_directml_py_session"


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

        try:
            requested_level(item.config, marker)
        except pytest.UsageError as error:
            pytest.fail(str(error), pytrace=False)


@pytest.hookimpl(trylast=True)
def pytest_runtest_call(item: pytest.Item) -> None:
    """Check messages after a test that passed, so that they fail the test itself and not its teardown."""
    session: PluginSession | None = getattr(item, _SESSIONS, None)
    if session is not None:
        session.check()


@pytest.fixture
def dml(request: pytest.FixtureRequest) -> Iterator[PluginSession]:
    """``dml.expect(rule, path=...)``, and the assertions of directml_py.testing at the test's feature level."""
    from . import plugin

    with plugin.session(request) as session:
        setattr(request.node, _SESSIONS, session)
        yield session
        # A test that is rerun needs new devices.
        delattr(request.node, _SESSIONS)


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
