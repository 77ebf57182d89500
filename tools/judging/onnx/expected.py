"""What is meant not to agree with ONNX Runtime's CPU provider, with its reasons."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import Any, NamedTuple

from .sides import SweepVerdict

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

LIST = Path(__file__).with_name("expected.toml")
EXPECTED = "listed"


class ExpectedReason(NamedTuple):
    """Of ``operators`` (all, if there are none), cases of one of ``verdicts`` whose message or title has ``says``, a
    regular expression."""

    why: str
    verdicts: tuple[str, ...]
    says: re.Pattern[str]
    operators: frozenset[str]


def reasons(path: Path = LIST) -> list[ExpectedReason]:
    document: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    return [
        ExpectedReason(
            entry["why"],
            tuple(entry["verdicts"]),
            re.compile(entry["says"]),
            frozenset(entry.get("operators", ())),
        )
        for entry in document.get("reason", ())
    ]


def reason_of(found: SweepVerdict, listed: list[ExpectedReason]) -> ExpectedReason | None:
    operator = found.case.partition("-")[0].removeprefix("ai.onnx.")
    for reason in listed:
        if (
            found.verdict in reason.verdicts
            and (not reason.operators or operator in reason.operators)
            and reason.says.search(f"{found.case}: {found.why}")
        ):
            return reason
    return None
