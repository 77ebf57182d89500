"""What the generated tables of interfaces and functions are made of."""

from __future__ import annotations

from typing import NamedTuple

# C type and name.
Parameter = tuple[str, str]


class MethodSignature(NamedTuple):
    name: str
    returns: str
    params: tuple[Parameter, ...]


class InterfaceSignature(NamedTuple):
    """``methods`` are its own, in the order of the table, after those of ``base`` (empty for IUnknown)."""

    iid: str
    base: str
    methods: tuple[MethodSignature, ...]


class FunctionSignature(NamedTuple):
    name: str
    returns: str
    params: tuple[Parameter, ...]
