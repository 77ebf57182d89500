"""Options of the whole suite."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
from progress import Progress
from toolchain import NEEDS_PACKAGE, NOT_INSTALLED, tools_are_required

from directml_py import DMLError
from directml_py.dml.profiles import KIND
from directml_py.operators import SCHEMAS
from directml_py.runtime.observers import PROFILE_VARIABLE


def pytest_addoption(parser):
    parser.addoption(
        "--operator",
        action="append",
        default=[],
        metavar="NAME",
        help="run only the tests of this operator (GATHER); may be given several times",
    )
    parser.addoption(
        "--missing-tools",
        type=Path,
        metavar="FILE",
        help="write the tests that were skipped for lack of a tool to FILE, one a line; `pytest @FILE` runs them",
    )


def pytest_configure(config):
    config.addinivalue_line("markers", "operator(name): the operator that a test is about, for --operator")
    config.addinivalue_line("markers", "kind_device: stays on a kind device, also with --dml-profile")
    if config.getoption("numprocesses", None) and config.get_verbosity() == 0:
        config.pluginmanager.register(Progress())
    unknown = [name for name in config.getoption("--operator") if name not in SCHEMAS]
    if unknown:
        raise pytest.UsageError(f"--operator: there is no operator DML_OPERATOR_{unknown[0]}")


def operator_of(item):
    """The operator that a test is about, by its parameter; None if it has none."""
    marker = item.get_closest_marker("operator")
    if marker is not None:
        return marker.args[0]
    parameters = getattr(getattr(item, "callspec", None), "params", {})
    return parameters.get("operator")


def pytest_collection_modifyitems(config, items):
    for item in items:
        # A fixture of all tests would be made for each of them.
        if item.get_closest_marker("kind_device"):
            item.fixturenames = ["kind_device", *item.fixturenames]
    wanted = config.getoption("--operator")
    if not wanted:
        return
    chosen = [item for item in items if operator_of(item) in wanted]
    config.hook.pytest_deselected(items=[item for item in items if item not in set(chosen)])
    items[:] = chosen


def pytest_terminal_summary(terminalreporter, config):
    path = config.getoption("--missing-tools")
    if path is not None:
        skipped = terminalreporter.getreports("skipped")
        reasons = (NOT_INSTALLED, NEEDS_PACKAGE)
        # Of a module that is skipped as a whole each worker reports.
        missing = {
            report.nodeid: None for report in skipped if any(each in str(report.longrepr) for each in reasons)
        }
        path.write_text("".join(f"{name}\n" for name in missing))


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """A module that needs a package fails without it where tools are required."""
    report = yield
    if report.skipped and tools_are_required() and NEEDS_PACKAGE in str(report.longrepr):
        report.outcome = "failed"
    return report


@pytest.fixture
def kind_device(monkeypatch):
    """A test with the marker of this name runs on a device with the mildest requirements."""
    monkeypatch.setenv(PROFILE_VARIABLE, KIND.name)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """With --dml-profile, a test that needs a data type that the device lacks is skipped."""
    try:
        return (yield)
    except DMLError as error:
        rules = {found.rule for found in error.diagnostics}
        if item.config.getoption("dml_profile") is None or rules != {"DML-CompileOperator-data-type"}:
            raise
        pytest.skip("the device denies a type of the test's tensors")


@pytest.hookimpl(wrapper=True)
def pytest_collection(session):
    """Hardly anything of what is imported and collected is garbage."""
    gc.disable()
    try:
        return (yield)
    finally:
        # pytest collects garbage several times when it ends.
        gc.freeze()
        gc.enable()


@pytest.fixture(autouse=True, scope="module")
def frozen_past():
    """Tests that collect garbage need not visit the many objects of test items and of the modules before."""
    gc.collect()
    gc.freeze()
