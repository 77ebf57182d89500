"""Declarations that exist from a DML_TARGET_VERSION on."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

OLDEST = 0x1000


def gated(declarations: Iterable[tuple[int, str]], separator: str = "\n", known: int = OLDEST) -> str:
    """The texts in order, with consecutive declarations of one version under a common ``#if``.

    Each declaration is (since, text). ``known`` is the version that already holds at this point.
    """
    blocks = []
    for since, group in groupby(declarations, key=lambda item: max(item[0], known)):
        text = separator.join(text for _, text in group)
        if since > known:
            text = f"#if DML_TARGET_VERSION >= {since:#06x}\n{text}\n#endif"
        blocks.append(text)
    return separator.join(blocks)
