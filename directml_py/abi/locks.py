"""Locks in the child of a fork: a thread of the parent, which does not exist there, may have held them."""

from __future__ import annotations

import os
import threading
import weakref

_owners: weakref.WeakKeyDictionary[object, str] = weakref.WeakKeyDictionary()


def renew_after_fork(owner: object, attribute: str) -> None:
    """Replace the reentrant lock ``attribute`` of ``owner`` in every child."""
    _owners[owner] = attribute


def _renew() -> None:
    for owner, attribute in list(_owners.items()):
        setattr(owner, attribute, threading.RLock())


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
