"""Built programs for the tests of the C ABI."""

from __future__ import annotations

import pytest
from sharing import shared_folder

from .building import Builder


@pytest.fixture(scope="session")
def builder(tmp_path_factory: pytest.TempPathFactory) -> Builder:
    return Builder(shared_folder(tmp_path_factory, "com"))
