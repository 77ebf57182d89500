"""Built programs for the tests of the C ABI."""

from __future__ import annotations

import pytest

from .building import Builder


@pytest.fixture(scope="session")
def builder(tmp_path_factory: pytest.TempPathFactory) -> Builder:
    return Builder(tmp_path_factory.mktemp("com"))
