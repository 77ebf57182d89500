"""All bugs: importing a module registers its own."""

from __future__ import annotations

from . import desc_bugs, dispatch_bugs, silent_bugs
from .bug import BUGS, Bug

__all__ = ["GROUPS"]

# A heading of docs/testing/bugs.md for each module.
TITLES = {
    desc_bugs: "In descs",
    dispatch_bugs: "In what is recorded, bound and waited for",
    silent_bugs: "What no message catches",
}
GROUPS: dict[str, list[Bug]] = {
    title: [found for found in BUGS if found.program.__module__ == module.__name__]
    for module, title in TITLES.items()
}
