"""Real compilers for the tests of the header."""

from __future__ import annotations

from pathlib import Path

import pytest
from generators.catalog import Catalog
from programs import Programs
from toolchain import Toolchain


@pytest.fixture
def toolchain(tmp_path: Path) -> Toolchain:
    return Toolchain(tmp_path)


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    return Catalog()


@pytest.fixture(scope="session")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Programs:
    return Programs(tmp_path_factory.mktemp("programs"))
