"""The error for a catalog and a package that do not match."""

from __future__ import annotations


class Incomplete(Exception):
    """The text has one line per problem: the operator, the file, and what to add."""
