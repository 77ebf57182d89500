"""The page of profiles has them all."""

from __future__ import annotations

import re

from directml_py.dml.profiles import PROFILES

from .pages import ROOT


def test_every_profile_is_listed() -> None:
    text = (ROOT / "docs" / "debugging" / "profiles.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([\w-]+)` \|", text, re.MULTILINE)) == set(PROFILES)
