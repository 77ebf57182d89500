"""Scaling of the debug layer, of file parsing and of pictures: time per item for n items against n / 4.

Linear algorithms stay close to their peer; quadratic ones take four times as long per item.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress

import numpy as np

import directml_py as dml
from directml_py.graph import Graph
from directml_py.session import Session
from directml_py.text.json_reading import JsonError, read_json

from .interleaved_timing import fresh_collector
from .runs import OURS, Row

FLOAT32 = dml.DML_TENSOR_DATA_TYPE_FLOAT32


def rows() -> Iterator[Row]:
    cases: dict[str, tuple[Callable[[int], float], int]] = {
        "a member of a JSON object, one of which is there twice": (duplicate, 30_000),
        "a node of a picture": (picture, 4000),
        "a node of a compiled graph": (compiled, 2000),
        "a dispatch without barriers under the debug layer": (dispatches, 3000),
        "a descriptor heap while the others live": (descriptor_heaps, 10_000),
    }
    for name, (measured, count) in cases.items():
        with fresh_collector():
            few, many = ([measured(size) / size for _ in range(2)] for size in (count // 4, count))
        yield Row(f"scaling {name}, {count:,} of them", {OURS: many, f"{count // 4:,} of them": few})


def seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def duplicate(count: int) -> float:
    names = [*map(str, range(count)), str(count - 1)]
    text = "{" + ", ".join(f"{json.dumps(name)}: 0" for name in names) + "}"

    def refuse() -> None:
        with suppress(JsonError):
            read_json(text.encode())

    return seconds(refuse)


def picture(count: int) -> float:
    """A chain with a branch at every third node, so that layers have several nodes."""
    graph = Graph()
    value = graph.input_tensor("x", FLOAT32, [1, 4])
    before = value
    for index in range(count):
        before, value = value, (value + before if index % 3 == 0 else graph.activation_relu(value))
    graph.outputs = value
    return seconds(graph.to_svg)


def compiled(count: int) -> float:
    """Groups of three element-wise nodes, with a running sum between them."""
    graph = Graph()
    value = graph.input_tensor("x", FLOAT32, [64, 64])
    for index in range(count):
        if index % 4 == 0:
            value = graph.cumulative_summation(
                value,
                axis=1,
                axis_direction=dml.DML_AXIS_DIRECTION_INCREASING,
                has_exclusive_sum=False,
            )
        else:
            value = graph.activation_relu(value)
    return seconds(lambda: graph.compile({"y": value}))


def debug_device() -> dml.IDMLDevice:
    debug = dml.D3D12GetDebugInterface()
    debug.EnableDebugLayer()
    try:
        return dml.DMLCreateDevice(dml.D3D12CreateDevice(), dml.DML_CREATE_DEVICE_FLAG_DEBUG)
    finally:
        debug.DisableDebugLayer()


def dispatches(count: int) -> float:
    """Dispatches that all read one buffer and each write a part of another."""
    session = Session(debug_device())
    tensor = dml.tensor_desc(FLOAT32, [1, 4])
    relu = session.compile(dml.DML_ACTIVATION_RELU_OPERATOR_DESC(tensor, tensor))
    source, target = session.upload(np.ones(4, np.float32)), session.buffer(16 * count)
    session.initialize(relu)
    for index in range(count):
        span = dml.DML_BUFFER_BINDING(target, 16 * index, 16)
        session.dispatch(relu, [source], [dml.DML_BINDING_DESC(dml.DML_BINDING_TYPE_BUFFER, span)])
    return seconds(session.execute)


def descriptor_heaps(count: int) -> float:
    device = dml.D3D12CreateDevice()
    desc = dml.D3D12_DESCRIPTOR_HEAP_DESC(
        Type=dml.D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV,
        NumDescriptors=4,
        Flags=dml.D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE,
    )
    return seconds(lambda: [device.CreateDescriptorHeap(desc) for _ in range(count)])
