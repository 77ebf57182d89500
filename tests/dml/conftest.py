"""Fixtures for the tests of the object model."""

from __future__ import annotations

import pytest

import directml_py as dml

from .helpers import DEBUG, Bench


@pytest.fixture
def bench():
    """Without DML_CREATE_DEVICE_FLAG_DEBUG: errors in void methods are silent."""
    return Bench()


@pytest.fixture
def debug_bench():
    """With DML_CREATE_DEVICE_FLAG_DEBUG: errors in void methods are raised."""
    return Bench(DEBUG)


@pytest.fixture
def layer_bench():
    """With DML_CREATE_DEVICE_FLAG_DEBUG, on a Direct3D 12 device with the debug layer."""
    switch = dml.D3D12GetDebugInterface()
    switch.EnableDebugLayer()
    yield Bench(DEBUG)
    switch.DisableDebugLayer()
