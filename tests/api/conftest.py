"""A copy of the repository, for tests that generate."""

from __future__ import annotations

import shutil

import pytest

from directml_py.api.schema_data import OPERATORS

from .generating import ROOT

HIDDEN = (".git", ".venv", ".nox", ".hypothesis", ".*_cache")


@pytest.fixture
def copy(tmp_path):
    """The repository, without what tools keep there and what is built."""
    target = tmp_path / "repository"
    ignore = shutil.ignore_patterns(*HIDDEN, "__pycache__", "*.pyc", "build", "dist", "*.egg-info", "*.so")
    shutil.copytree(ROOT, target, ignore=ignore)
    return target


@pytest.fixture
def highest_operator():
    """The value of the newest operator."""
    return max(OPERATORS)
