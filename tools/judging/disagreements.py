"""Classification of disagreements, and the figures of a run."""

from __future__ import annotations

from collections import Counter
from typing import Any

from .stricter import CRASHES, reason

UNLISTED = ("false green", "false refusal", "unlisted crash", "other HRESULT")


def kind_of(entry: dict[str, Any]) -> str:
    """``crash``, ``stricter`` (listed), or one of ``UNLISTED``."""
    if entry["theirs"].startswith("signal"):
        return "crash" if entry["operator"] in CRASHES or entry["rules"] else "unlisted crash"
    if entry["theirs"] != "0x00000000":
        return "other HRESULT" if entry["rules"] else "false green"
    return "stricter" if all(map(reason, entry["rules"])) else "false refusal"


class JudgingRun:
    """The counts of a run: ``judged`` and ``listed`` by operator, ``descs`` and ``kinds`` by stream."""

    def __init__(self) -> None:
        self.judged: Counter[str] = Counter()
        self.listed: Counter[str] = Counter()
        self.descs: dict[str, int] = {}
        self.kinds: dict[str, Counter[str]] = {}

    def add(self, stream: str, counts: Counter[str], disagreements: list[dict[str, Any]]) -> None:
        self.judged += counts
        self.descs[stream] = sum(counts.values())
        self.kinds[stream] = Counter(map(kind_of, disagreements))
        self.listed += Counter(entry["operator"] for entry in disagreements if kind_of(entry) not in UNLISTED)

    @property
    def total(self) -> int:
        return sum(self.descs.values())

    @property
    def unlisted(self) -> int:
        return sum(kinds[kind] for kinds in self.kinds.values() for kind in UNLISTED)
