from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from directml_py.kernels.backend import backend

from .loops import IS_BASELINE, use_loops


@pytest.fixture(scope="module")
def native() -> Any:
    """The extension module, with the loops that this process is for."""
    if backend.native is None:
        pytest.skip("the native loops are not built")
    use_loops(backend.native)
    return backend.native


@pytest.fixture
def set_threads(native: Any) -> Iterator[Any]:
    before = native.lib.dml_get_threads()
    yield native.lib.dml_set_threads
    native.lib.dml_set_threads(before)


@pytest.fixture(params=[2] if IS_BASELINE else [1, 2, 3])
def threads(request: pytest.FixtureRequest, set_threads: Any) -> int:
    set_threads(request.param)
    return int(request.param)
