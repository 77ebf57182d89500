from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from toolchain import later

from directml_py.kernels.backend import backend

from .variants import ISA, STREAM_BYTES, use_isa


@pytest.fixture(autouse=True, scope="session")
def _variants() -> None:
    if backend.native is not None:
        use_isa(backend.native)
        backend.native.lib.dml_set_stream_bytes(STREAM_BYTES)


@pytest.fixture(scope="module")
def native() -> Any:
    """The extension module."""
    if backend.native is None:
        pytest.skip("the native kernels are not built")
    return backend.native


@pytest.fixture
def set_threads(native: Any) -> Iterator[Any]:
    before = native.lib.dml_get_threads()
    yield native.lib.dml_set_threads
    native.lib.dml_set_threads(before)


@pytest.fixture(params=[2] if ISA else [*later(1, 2), 3])
def threads(request: pytest.FixtureRequest, set_threads: Any) -> int:
    set_threads(request.param)
    return int(request.param)
