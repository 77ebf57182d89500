"""A bench under both debug layers, whose messages are distinguishable from exceptions."""

from __future__ import annotations

from contextlib import contextmanager

import directml_py as dml
from directml_py.d3d12.debug import debug_layer_enabled

from ..dml.helpers import DEBUG, Bench


@contextmanager
def debug_layer():
    """Devices that are made inside have the Direct3D 12 debug layer."""
    was_on, switch = debug_layer_enabled(), dml.D3D12GetDebugInterface()
    switch.EnableDebugLayer()
    try:
        yield
    finally:
        if not was_on:
            switch.DisableDebugLayer()


def layer_bench(**options):
    """A bench of debug devices; no message of the info queue is raised."""
    with debug_layer():
        bench = Bench(DEBUG, d3d12=dml.D3D12CreateDevice(), **options)
    queue = bench.d3d12.QueryInterface(dml.ID3D12InfoQueue)
    queue.SetMessageCountLimit(-1)
    queue.SetBreakOnSeverity(dml.D3D12_MESSAGE_SEVERITY_ERROR, False)
    return bench


def messages(bench):
    """The diagnostics behind the messages of the info queue, warnings or worse; None for those of no rule."""
    queue = bench.d3d12.QueryInterface(dml.ID3D12InfoQueue)
    stored = [queue.GetMessage(index) for index in range(queue.GetNumStoredMessages())]
    return [
        message.diagnostic for message in stored if message.Severity <= dml.D3D12_MESSAGE_SEVERITY_WARNING
    ]
