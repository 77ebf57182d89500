"""Signatures of interfaces, methods and functions, for the generated tables."""

from __future__ import annotations

from typing import NamedTuple

# C type and name.
Parameter = tuple[str, str]


class MethodSignature(NamedTuple):
    name: str
    returns: str
    params: tuple[Parameter, ...]


class InterfaceSignature(NamedTuple):
    """``methods`` are the interface's own, in vtable order, following those of ``base`` (empty for IUnknown)."""

    iid: str
    base: str
    methods: tuple[MethodSignature, ...]


class FunctionSignature(NamedTuple):
    name: str
    returns: str
    params: tuple[Parameter, ...]
