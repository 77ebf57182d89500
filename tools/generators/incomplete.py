"""What is missing where the catalog and the package must agree, for ``tools/generate.py`` to say."""

from __future__ import annotations


class Incomplete(Exception):
    """The text says, a line each, of which operator something is missing, in which file, and what to add."""
