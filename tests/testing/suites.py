"""Suites of tests that use the package's pytest plugin, in separate processes."""

from __future__ import annotations

from importlib import import_module

import pytest
from children import run_in_child

# What is loaded here is there in each child. The plugins of others take most of the time of so few tests.
import_module("directml_py.testing.plugin")

ARGUMENTS = ("-p", "no:cacheprovider", "-p", "directml_py.testing.pytest_plugin")


def run_suite(pytester, monkeypatch, tests, arguments=()):
    """Run pytest on a file with the text, without the plugins of others and a configuration but the folder's own."""
    pytester.makepyfile(test_suite=tests)
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    command = [*ARGUMENTS, f"--basetemp={pytester.mkdir('basetemp')}", *arguments]
    ran = run_in_child(f"import pytest, sys\nsys.exit(pytest.main({command!r}))")
    return pytest.RunResult(ran.returncode, ran.stdout.splitlines(), ran.stderr.splitlines(), 0.0)
