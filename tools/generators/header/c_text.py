"""The parts of the headers that do not depend on the catalog."""

from __future__ import annotations

from pathlib import Path

PARTS = Path(__file__).with_name("parts")


def part(name: str) -> str:
    return (PARTS / f"{name}.h").read_text(encoding="utf-8").rstrip()
