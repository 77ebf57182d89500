"""Arguments from C and Python, messages about invalid ones, and object lifetimes."""

from __future__ import annotations

import pytest

from directml_py.abi.arguments import enumerator
from directml_py.abi.hresult import DMLError
from directml_py.abi.lifetime import Lifetime
from directml_py.api.enums import DML_PADDING_MODE, DML_PADDING_MODE_WRAP


def test_enumerators_come_from_numbers():
    assert enumerator(int(DML_PADDING_MODE_WRAP), DML_PADDING_MODE, "mode") is DML_PADDING_MODE_WRAP


@pytest.mark.parametrize(("number", "shown"), [(255, "255"), (256, "0x100"), (-1, "-1"), (0x6500, "0x6500")])
def test_large_numbers_are_shown_as_headers_have_them(number, shown):
    with pytest.raises(DMLError, match=rf"mode must be a DML_PADDING_MODE, not {shown} "):
        enumerator(number, DML_PADDING_MODE, "mode")


def test_residency_is_counted():
    """Each MakeResident needs an Evict; surplus evictions are ignored."""
    life = Lifetime("a buffer")
    life.make_resident()
    life.evict()
    assert life.is_resident
    life.evict()
    assert not life.is_resident
    life.evict()
    life.make_resident()
    assert life.is_resident
    life.evict()
    assert not life.is_resident
