"""Watches over the debug messages of Direct3D 12 devices, and the messages that a test expected."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any
from weakref import WeakKeyDictionary

from ..abi.rules import RULES
from ..api.d3d12_enums import D3D12_MESSAGE_SEVERITY_WARNING
from ..d3d12 import ID3D12Device, ID3D12InfoQueue
from ..d3d12.info_queue import Message
from ..dml import IDMLDevice

WARNING = D3D12_MESSAGE_SEVERITY_WARNING
_RULE = re.compile(r"\[([^\[\]\s]+)\]\s*$")


def rule_of(message: Message) -> str:
    """The identifier of the broken rule; empty for a message without one."""
    match = _RULE.search(message.pDescription)
    return message.rule or (match[1] if match else "")


def describe(message: Message) -> str:
    """The text, with the rule's identifier."""
    rule, text = rule_of(message), message.pDescription
    return text if not rule or f"[{rule}]" in text else f"{text} [{rule}]"


def is_page_only(message: Message) -> bool:
    """Whether the message is about a documentation-only rule, which Microsoft's library does not enforce."""
    rule = RULES.get(rule_of(message))
    return rule is not None and rule.page_only and message.Severity == WARNING


def is_about(message: Message, path: str) -> bool:
    """Whether the message's text starts with ``path``, the field or argument that it is about."""
    if message.diagnostic is not None and message.diagnostic.path:
        return message.diagnostic.path == path
    return message.pDescription.startswith(f"{path} ")


# By identity: of two messages with the same text only one may be expected.
_excused: WeakKeyDictionary[ID3D12InfoQueue, dict[int, Message]] = WeakKeyDictionary()


class Watch:
    """Observes an info queue without changing its storage. All watches over one queue share excused messages."""

    def __init__(self, queue: ID3D12InfoQueue) -> None:
        self.queue = queue
        self._excused = _excused.setdefault(queue, {})

    def pending(self) -> list[Message]:
        """The messages, warnings or worse, that are not excused."""
        stored = [self.queue.GetMessage(index) for index in range(self.queue.GetNumStoredMessages())]
        return [
            message for message in stored if message.Severity <= WARNING and id(message) not in self._excused
        ]

    def excuse(self, messages: Iterable[Message]) -> None:
        self._excused.update((id(message), message) for message in messages)


def watch(device: Any) -> Watch | None:
    """A watch over a Direct3D 12 or DirectML device; None if the device has no debug layer.

    Raises ``TypeError`` for what is not a device.
    """
    parent = device.d3d12_device if isinstance(device, IDMLDevice) else device
    if not isinstance(parent, ID3D12Device):
        raise TypeError(f"device must be an ID3D12Device or an IDMLDevice, not {type(device).__name__}")
    return None if parent.info_queue is None else Watch(parent.info_queue)
