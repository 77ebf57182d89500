"""Shell completion, by argcomplete where that is installed."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable


def completed_by(argument: argparse.Action, words: Callable[[], Iterable[str]]) -> None:
    """Complete the argument with ``words()``."""
    # argcomplete looks for this attribute, and passes the text typed so far.
    argument.completer = lambda **typed: list(words())  # type: ignore[attr-defined]


def complete(parser: argparse.ArgumentParser) -> None:
    """Answer a completion request of the shell and exit; does nothing without argcomplete."""
    try:
        import argcomplete
    except ImportError:
        return
    argcomplete.autocomplete(parser)
