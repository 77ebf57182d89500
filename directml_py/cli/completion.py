"""What the shell offers behind a word, by argcomplete where that is installed."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable


def completed_by(argument: argparse.Action, words: Callable[[], Iterable[str]]) -> None:
    """The shell offers ``words()`` for the argument."""
    # argcomplete looks for this name, and passes what was typed so far.
    argument.completer = lambda **typed: list(words())  # type: ignore[attr-defined]


def complete(parser: argparse.ArgumentParser) -> None:
    """Answer the shell, which asks what may come next, and end the process; nothing without argcomplete."""
    try:
        import argcomplete
    except ImportError:
        return
    argcomplete.autocomplete(parser)
