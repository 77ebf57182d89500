"""What is meant not to agree with ONNX Runtime's CPU provider, with its reasons."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from .. import listed
from .sides import SweepVerdict

LIST = Path(__file__).with_name("expected.toml")
EXPECTED = "listed"


class ExpectedReason(NamedTuple):
    """Of ``operators`` (all, if there are none), cases of one of ``verdicts``: ``says`` and ``node`` are regular
    expressions of which the message and the node in words each have one."""

    why: str
    verdicts: tuple[str, ...]
    says: re.Pattern[str]
    node: re.Pattern[str] = re.compile("")
    operators: frozenset[str] = frozenset()


def reasons(path: Path = LIST) -> list[ExpectedReason]:
    return listed.read(path, ExpectedReason)


def reason_of(found: SweepVerdict, expected: list[ExpectedReason]) -> ExpectedReason | None:
    operator = found.case.partition("-")[0].removeprefix("ai.onnx.")
    for reason in expected:
        if (
            found.verdict in reason.verdicts
            and (not reason.operators or operator in reason.operators)
            and reason.says.search(found.why)
            and reason.node.search(found.node)
        ):
            return reason
    return None
