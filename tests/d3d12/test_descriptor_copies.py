"""CopyDescriptors and CopyDescriptorsSimple."""

from __future__ import annotations

import ctypes

import pytest

from directml_py import d3d12
from directml_py.abi.hresult import E_INVALIDARG, DMLError
from directml_py.api import d3d12_enums as e
from directml_py.api import d3d12_structs as s
from directml_py.api import descriptor_handles

VIEWS = e.D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV
SAMPLER = e.D3D12_DESCRIPTOR_HEAP_TYPE_SAMPLER
VISIBLE = e.D3D12_DESCRIPTOR_HEAP_FLAG_SHADER_VISIBLE
HANDLE = descriptor_handles.D3D12_CPU_DESCRIPTOR_HANDLE


class Heaps:
    def __init__(self, device):
        self.device = device
        self.source, self.target = self.heap(8), self.heap(8, flags=VISIBLE)
        for index in range(8):
            self.source.write(index, f"s{index}")

    def heap(self, size, kind=VIEWS, flags=0):
        return self.device.CreateDescriptorHeap(s.D3D12_DESCRIPTOR_HEAP_DESC(kind, size, flags))

    def at(self, heap, index):
        step = self.device.GetDescriptorHandleIncrementSize(heap.type)
        return d3d12.CD3DX12_CPU_DESCRIPTOR_HANDLE(heap.GetCPUDescriptorHandleForHeapStart(), index, step)

    def starts(self, heap, *indices):
        return [self.at(heap, index) for index in indices]

    @property
    def content(self):
        return [self.target.read(index) for index in range(8)]


@pytest.fixture
def heaps(bench):
    return Heaps(bench.device)


def test_one_range(heaps):
    heaps.device.CopyDescriptorsSimple(3, heaps.at(heaps.target, 4), heaps.at(heaps.source, 1), VIEWS)
    assert heaps.content == [None] * 4 + ["s1", "s2", "s3", None]
    heaps.device.CopyDescriptorsSimple(0, heaps.at(heaps.target, 0), heaps.at(heaps.source, 0), VIEWS)
    assert heaps.content[0] is None


def test_what_is_copied_is_what_was_there(heaps):
    """Later writes to the source have no effect; an empty descriptor is copied too."""
    heaps.target.write(1, "old")
    heaps.source.write(1, None)
    heaps.device.CopyDescriptorsSimple(2, heaps.at(heaps.target, 0), heaps.at(heaps.source, 0), VIEWS)
    heaps.source.write(0, "new")
    assert heaps.content[:2] == ["s0", None]


def test_ranges_cut_differently(heaps):
    into, out_of = heaps.starts(heaps.target, 6, 0), heaps.starts(heaps.source, 5, 0, 3)
    heaps.device.CopyDescriptors(2, into, [2, 3], 3, out_of, [1, 2, 2], VIEWS)
    assert heaps.content == ["s1", "s3", "s4", None, None, None, "s5", "s0"]


def test_sizes_left_out_are_one(heaps):
    into, out_of = heaps.starts(heaps.target, 3), heaps.starts(heaps.source, 5, 1, 2)
    heaps.device.CopyDescriptors(1, into, [3], 3, out_of, None, VIEWS)
    assert heaps.content[3:6] == ["s5", "s1", "s2"]


def test_c_arrays(heaps):
    into = (HANDLE * 2)(*heaps.starts(heaps.target, 1, 0))
    out_of = (HANDLE * 2)(*heaps.starts(heaps.source, 1, 2))
    sizes = (ctypes.c_uint32 * 2)(1, 1)
    pointers = ctypes.cast(into, ctypes.c_void_p), ctypes.cast(sizes, ctypes.c_void_p)
    heaps.device.CopyDescriptors(2, *pointers, 2, out_of, sizes, VIEWS)
    assert heaps.content[:2] == ["s2", "s1"]


RANGES, SOURCE = "D3D12-CopyDescriptors-ranges", "D3D12-CopyDescriptors-source"
INTO, OUT_OF = "destDescriptorRangeStarts[0]", "srcDescriptorRangeStarts[0]"


def mistakes(h):
    """Count, destination, source, type."""
    into, out_of = h.at(h.target, 0), h.at(h.source, 0)
    return {
        "beyond the target": (RANGES, INTO, (3, h.at(h.target, 6), out_of, VIEWS)),
        "beyond the source": (RANGES, OUT_OF, (3, into, h.at(h.source, 6), VIEWS)),
        "no handle": (RANGES, INTO, (1, HANDLE(12345), out_of, VIEWS)),
        "between handles": (RANGES, OUT_OF, (1, into, HANDLE(h.source.cpu_start + 1), VIEWS)),
        "a GPU handle": (RANGES, INTO, (1, HANDLE(h.target.gpu_start), out_of, VIEWS)),
        "another type": (RANGES, INTO, (1, into, out_of, SAMPLER)),
        "a visible source": (SOURCE, OUT_OF, (1, into, h.at(h.target, 1), VIEWS)),
    }


MISTAKES = (
    "beyond the target",
    "beyond the source",
    "no handle",
    "between handles",
    "a GPU handle",
    "another type",
    "a visible source",
)


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes(heaps, mistake):
    rule, path, arguments = mistakes(heaps)[mistake]
    with pytest.raises(DMLError) as caught:
        heaps.device.CopyDescriptorsSimple(*arguments)
    assert caught.value.hresult == E_INVALIDARG
    assert [(found.rule, found.path) for found in caught.value.diagnostics] == [(rule, path)]
    assert heaps.content == [None] * 8


def test_sizes_that_differ_in_all(heaps):
    into, out_of = heaps.starts(heaps.target, 0), heaps.starts(heaps.source, 0, 4)
    with pytest.raises(DMLError, match="add up to 4 descriptors; the destination ranges to 3") as caught:
        heaps.device.CopyDescriptors(1, into, [3], 2, out_of, [2, 2], VIEWS)
    assert caught.value.diagnostics[0].path == "srcDescriptorRangeSizes"
    assert heaps.content == [None] * 8


@pytest.mark.parametrize("count", [2, 1 << 30])
def test_counts_beyond_the_arrays(heaps, count):
    into, out_of = heaps.starts(heaps.target, 0), heaps.starts(heaps.source, 0)
    for arguments in ((count, into, None, 1, out_of, None), (1, into, [1], count, out_of, None)):
        with pytest.raises(DMLError, match=f"handles for {count} ranges"):
            heaps.device.CopyDescriptors(*arguments, VIEWS)
    with pytest.raises(DMLError, match="sizes for 1 ranges"):
        heaps.device.CopyDescriptors(1, into, [], 1, out_of, None, VIEWS)


@pytest.mark.parametrize(
    ("count", "problem"), [(1 << 20, "cannot be read"), ((1 << 20) + 1, "more than 1048576")]
)
def test_handles_behind_an_address(heaps, count, problem):
    """An absurd count is rejected without reading the array."""
    with pytest.raises(DMLError, match=problem):
        heaps.device.CopyDescriptors(
            count, ctypes.c_void_p(16), None, 1, heaps.starts(heaps.source, 0), None, VIEWS
        )


def test_reported_by_the_debug_layer(debug_bench, info_queue):
    heaps = Heaps(debug_bench.device)
    arguments = 1, heaps.at(heaps.target, 0), heaps.at(heaps.target, 1), VIEWS
    with pytest.raises(DMLError):
        heaps.device.CopyDescriptorsSimple(*arguments)
    info_queue.SetBreakOnSeverity(e.D3D12_MESSAGE_SEVERITY_ERROR, False)
    heaps.device.CopyDescriptorsSimple(*arguments)
    found = [info_queue.GetMessage(index).rule for index in range(info_queue.GetNumStoredMessages())]
    assert found == [SOURCE, SOURCE]
    assert heaps.content == [None] * 8


@pytest.mark.parametrize(
    ("into", "out_of", "names"),
    [
        ([0, 2], [3, 1], ("destDescriptorRangeStarts[0]", "srcDescriptorRangeStarts[1]")),
        ([4, 5], [0, 2], ("destDescriptorRangeStarts[1]", "destDescriptorRangeStarts[0]")),
        ([4, 6], [0, 0], ()),
    ],
)
def test_ranges_that_overlap(debug_bench, info_queue, into, out_of, names):
    """Two of two descriptors each; the copy is made in order, from what was there before. Sources may overlap."""
    info_queue.SetBreakOnSeverity(e.D3D12_MESSAGE_SEVERITY_ERROR, False)
    heaps = Heaps(debug_bench.device)
    arguments = 2, heaps.starts(heaps.source, *into), [2, 2], 2, heaps.starts(heaps.source, *out_of), [2, 2]
    heaps.device.CopyDescriptors(*arguments, VIEWS)
    found = [info_queue.GetMessage(index) for index in range(info_queue.GetNumStoredMessages())]
    assert [message.ID for message in found] == [653] * bool(names)
    assert all(name in message.pDescription for name in names for message in found)
    expected = [f"s{index}" for index in range(8)]
    for start, first in zip(into, out_of):
        expected[start : start + 2] = [f"s{first}", f"s{first + 1}"]
    assert [heaps.source.read(index) for index in range(8)] == expected
