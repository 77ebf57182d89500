"""Hazard scenarios: a program that is correct, or has one mistake that only the debug layers detect."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import directml_py as dml

from ..dml.helpers import DEBUG, DEFAULT, READBACK, UPLOAD, Bench, binding
from ..rules.layer import debug_layer, messages
from ..rules.registry import Case, Found, register

ERROR = dml.D3D12_MESSAGE_SEVERITY_ERROR
COMMON = dml.D3D12_RESOURCE_STATE_COMMON
UNORDERED_ACCESS = dml.D3D12_RESOURCE_STATE_UNORDERED_ACCESS
COPY_SOURCE, COPY_DEST = dml.D3D12_RESOURCE_STATE_COPY_SOURCE, dml.D3D12_RESOURCE_STATE_COPY_DEST
Transition = dml.CD3DX12_RESOURCE_BARRIER.Transition


class HazardBench(Bench):
    """A bench with debug devices that keeps its objects alive, with short buffer names."""

    def __init__(self, breaks=False):
        with debug_layer():
            self.kept = []
            super().__init__(DEBUG, d3d12=dml.D3D12CreateDevice())
        self.info = self.d3d12.QueryInterface(dml.ID3D12InfoQueue)
        self.info.SetBreakOnSeverity(ERROR, breaks)

    def keep(self, item):
        self.kept.append(item)
        return item

    def buffer(self, size, heap=DEFAULT, data=None, name=None):
        made = self.keep(super().buffer(size, heap, data))
        if name is not None:
            made.SetName(name)
        return made

    def undefined(self, size, name="fresh", placed=False):
        """A buffer with undefined contents."""
        flags, properties = dml.D3D12_HEAP_FLAG_CREATE_NOT_ZEROED, dml.CD3DX12_HEAP_PROPERTIES(DEFAULT)
        desc = dml.CD3DX12_RESOURCE_DESC.Buffer(size, dml.D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS)
        if placed:
            heap = self.d3d12.CreateHeap(dml.CD3DX12_HEAP_DESC(1 << 17, properties, 0, flags))
            made = self.d3d12.CreatePlacedResource(self.keep(heap), 1 << 16, desc, COMMON)
        else:
            made = self.d3d12.CreateCommittedResource(properties, flags, desc, COMMON)
        made.SetName(name)
        return self.keep(made)

    def ready(self, desc, flags=0):
        """A compiled operator without owned inputs, initialized."""
        op = self.keep(self.compile(desc, flags))
        self.initialize(op)
        return op

    def dispatch(self, op, inputs, outputs, commands=None, **resources):
        """Dispatch, with a temporary resource if the operator needs one and none is given."""
        size = op.GetBindingProperties().TemporaryResourceSize
        if size:
            resources.setdefault("temporary", self.buffer(size))
        table = self.keep(self.table(op, inputs, outputs, **resources))
        self.record(op, table, commands)
        return table

    def transition(self, buffer, before, after, flags=dml.D3D12_RESOURCE_BARRIER_FLAG_NONE):
        self.commands.ResourceBarrier([Transition(buffer, before, after, flags=flags)])

    def submit(self, *lists):
        """Close lists and execute them together."""
        for commands in lists:
            commands.Close()
        self.queue.ExecuteCommandLists(list(lists))

    def signalled(self, value=1):
        """A fence that the queue signals with ``value``."""
        fence = self.keep(self.d3d12.CreateFence(0))
        self.queue.Signal(fence, value)
        return fence

    def messages(self):
        return messages(self)


class Hazard(NamedTuple):
    """``scenario(bench, wrong)`` is correct if ``wrong`` is None, else has that mistake. The message has ``names``."""

    rule: str
    path: str
    names: tuple[str, ...]
    way: Any
    scenario: Callable

    @property
    def id(self):
        return f"{self.rule}-{self.scenario.__name__}" + ("" if self.way is True else f"-{self.way}")


HAZARDS: list[Hazard] = []


def hazard(rule, *names, path="", ways=(True,)):
    """Decorator: register a scenario, also as a case that violates ``rule``."""

    def declare(scenario):
        for way in ways:
            declared = Hazard(rule, path, names, way, scenario)
            HAZARDS.append(declared)
            run_hazard = partial(run, declared)
            register(Case(rule, (path,), None, declared.id, run_hazard, scenario, way, None))
        return scenario

    return declare


def run(hazard, wrong):
    bench = HazardBench()
    hazard.scenario(bench, hazard.way if wrong else None)
    return Found(bench.messages(), None)


__all__ = [
    "COMMON",
    "COPY_DEST",
    "COPY_SOURCE",
    "ERROR",
    "HAZARDS",
    "READBACK",
    "UNORDERED_ACCESS",
    "UPLOAD",
    "Hazard",
    "HazardBench",
    "Transition",
    "binding",
    "hazard",
]
