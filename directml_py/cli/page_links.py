"""URLs of the pages that rules come from."""

from __future__ import annotations

import re

from ..abi.rules import LIBRARY, OWN

LEARN = "https://learn.microsoft.com/windows"
API = re.compile(r"n[esfn]-(?P<header>[a-z0-9]+)-")


def learn(source: str) -> str:
    """The URL of the page that a rule names as its source; empty for a rule that no page states."""
    if source in (OWN, LIBRARY):
        return ""
    match = API.match(source)
    if match:
        return f"{LEARN}/win32/api/{match['header']}/{source}"
    if source.startswith(("dml-", "directml-")):
        return f"{LEARN}/ai/directml/{source}"
    return f"{LEARN}/win32/direct3d12/{source}"
