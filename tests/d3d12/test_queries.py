"""Timestamps: query heaps, and resolving results to buffers."""

from __future__ import annotations

import time

import numpy as np
import pytest

from directml_py import d3d12
from directml_py.abi.hresult import E_INVALIDARG, E_NOTIMPL, DMLError
from directml_py.api import d3d12_enums as e
from directml_py.api import d3d12_structs as s
from directml_py.d3d12.queries import MAX_QUERIES, check_query_heap_desc
from directml_py.runtime.recording import Command

from .conftest import Bench

TIMESTAMP = e.D3D12_QUERY_TYPE_TIMESTAMP


def query_heap(bench, count=4, kind=e.D3D12_QUERY_HEAP_TYPE_TIMESTAMP):
    return bench.device.CreateQueryHeap(s.D3D12_QUERY_HEAP_DESC(kind, count))


def close_error(commands):
    with pytest.raises(DMLError) as caught:
        commands.Close()
    assert caught.value.hresult == E_INVALIDARG
    return str(caught.value)


class Sleep(Command):
    def execute(self):
        time.sleep(0.02)


def test_they_measure_what_runs_between_them(bench):
    heap, target = query_heap(bench), bench.readback(32)
    before = bench.queue.GetClockCalibration()[0]
    for index in (1, 2):
        bench.list.EndQuery(heap, TIMESTAMP, index)
        bench.list.record(Sleep())
    bench.list.ResolveQueryData(heap, TIMESTAMP, 1, 2, target, 8)
    time.sleep(0.02)
    recorded = bench.queue.GetClockCalibration()[0]
    bench.execute()
    untouched, start, end, also_untouched = target.array(np.uint64).tolist()
    assert before < recorded <= start < end
    assert 0.02 <= (end - start) / bench.queue.GetTimestampFrequency() < 2
    assert untouched == also_untouched == 0


def test_the_clock_is_that_of_the_cpu(bench):
    earlier = time.monotonic_ns()
    gpu, cpu = bench.queue.GetClockCalibration()
    assert earlier <= gpu == cpu <= time.monotonic_ns()
    assert bench.queue.GetTimestampFrequency() == 10**9


def test_copy_queues_have_heaps_of_their_own():
    bench = Bench(e.D3D12_COMMAND_LIST_TYPE_COPY)
    heap, target = query_heap(bench, kind=e.D3D12_QUERY_HEAP_TYPE_COPY_QUEUE_TIMESTAMP), bench.readback(8)
    bench.list.EndQuery(heap, TIMESTAMP, 0)
    bench.list.ResolveQueryData(heap, TIMESTAMP, 0, 1, target, 0)
    bench.execute()
    assert target.array(np.uint64)[0] > 0
    bench.list.EndQuery(query_heap(bench), TIMESTAMP, 0)
    assert "a list of type D3D12_COMMAND_LIST_TYPE_COPY cannot use" in close_error(bench.list)


@pytest.mark.parametrize(
    ("record", "said"),
    [
        (
            lambda c, heap, bench: c.BeginQuery(heap, TIMESTAMP, 0),
            "BeginQuery: a timestamp query has no beginning",
        ),
        (lambda c, heap, bench: c.EndQuery(heap, TIMESTAMP, 4), "EndQuery: needs queries 4 to 5"),
        (lambda c, heap, bench: c.EndQuery(heap, e.D3D12_QUERY_TYPE_OCCLUSION, 0), "EndQuery: type is"),
        (
            lambda c, heap, bench: c.ResolveQueryData(heap, TIMESTAMP, 3, 2, bench.readback(64), 0),
            "ResolveQueryData: needs queries 3 to 5",
        ),
        (
            lambda c, heap, bench: c.ResolveQueryData(heap, TIMESTAMP, 0, 2, bench.readback(16), 8),
            "destinationBuffer needs bytes 8 to 24",
        ),
        (
            lambda c, heap, bench: c.ResolveQueryData(heap, TIMESTAMP, 0, 1, bench.readback(16), 4),
            "must be a multiple of 8",
        ),
        (
            lambda c, heap, bench: c.ResolveQueryData(heap, TIMESTAMP, 0, 1, bench.upload(16), 0),
            "must not be in a heap of type D3D12_HEAP_TYPE_UPLOAD",
        ),
    ],
)
def test_what_makes_a_list_invalid(bench, record, said):
    record(bench.list, query_heap(bench), bench)
    assert said in close_error(bench.list)


def test_wrong_arguments(bench):
    with pytest.raises(TypeError, match="queryHeap"):
        bench.list.EndQuery(None, TIMESTAMP, 0)
    foreign = query_heap(Bench())
    with pytest.raises(DMLError, match="another device"):
        bench.list.EndQuery(foreign, TIMESTAMP, 0)
    with pytest.raises(DMLError, match="D3D12_QUERY_TYPE"):
        bench.list.EndQuery(query_heap(bench), 99, 0)
    with pytest.raises(DMLError, match=r"^index must be"):
        bench.list.EndQuery(query_heap(bench), TIMESTAMP, -1)
    with pytest.raises(DMLError, match=r"^startIndex must be"):
        bench.list.ResolveQueryData(query_heap(bench), TIMESTAMP, -1, 1, bench.readback(16), 0)
    for kind, count, hresult in (
        (e.D3D12_QUERY_HEAP_TYPE_OCCLUSION, 1, E_NOTIMPL),
        (e.D3D12_QUERY_HEAP_TYPE_TIMESTAMP, 0, E_INVALIDARG),
        (e.D3D12_QUERY_HEAP_TYPE_TIMESTAMP, 0xFFFFFFFF, E_INVALIDARG),
        (99, 1, E_INVALIDARG),
    ):
        with pytest.raises(DMLError, match="desc") as caught:
            query_heap(bench, count, kind)
        assert caught.value.hresult == hresult


def test_as_many_queries_as_can_be():
    desc = s.D3D12_QUERY_HEAP_DESC(e.D3D12_QUERY_HEAP_TYPE_TIMESTAMP, MAX_QUERIES)
    check_query_heap_desc(desc, "desc")
    desc.Count += 1
    with pytest.raises(DMLError, match=r"desc\.Count must be from 1 to 16777216, not 16777217"):
        check_query_heap_desc(desc, "desc")


def test_the_heap_is_an_object_of_its_device(bench):
    heap = query_heap(bench)
    assert heap.GetDevice() is bench.device
    assert heap.QueryInterface(d3d12.ID3D12QueryHeap) is heap
