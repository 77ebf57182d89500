"""Placed resources that share memory (the pages of CreatePlacedResource and of memory aliasing)."""

from __future__ import annotations

import directml_py as dml

from ..dml.helpers import DEFAULT, identity
from .hazard import COMMON, COPY_DEST, UNORDERED_ACCESS, binding, hazard

MISSING = "D3D12-AliasingBarrier-missing"
CONTENTS = "D3D12-AliasingBarrier-contents"
INHERITED = "D3D12-AliasingBarrier-inherited"
UNIT = 1 << 16


def placed(bench, *places, names=("upper", "lower")):
    """Buffers of one heap, at ``(offset, width)`` pairs."""
    heap = dml.CD3DX12_HEAP_DESC(4 * UNIT, dml.CD3DX12_HEAP_PROPERTIES(DEFAULT))
    memory = bench.keep(bench.d3d12.CreateHeap(heap))
    made = []
    for name, (start, width) in zip(names, places or [(0, 16)] * 2):
        desc = dml.CD3DX12_RESOURCE_DESC.Buffer(width, dml.D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS)
        made.append(bench.keep(bench.d3d12.CreatePlacedResource(memory, start, desc, COMMON)))
        made[-1].SetName(name)
    return made


def alias(bench, before, after):
    bench.commands.ResourceBarrier([dml.CD3DX12_RESOURCE_BARRIER.Aliasing(before, after)])


@hazard(
    MISSING,
    "'upper'",
    "'lower'",
    "InputTensor",
    "OutputTensor",
    ways=["no barrier", "for others", "UAV", "UAV for all"],
)
def resources_that_share_memory(bench, wrong):
    """A UAV barrier waits for dispatches, but does not hand over their memory; an aliasing barrier does."""
    upper, lower = placed(bench)
    op, a, b = bench.ready(identity()), bench.buffer(16), bench.buffer(16)
    bench.dispatch(op, [upper], [a])
    if wrong == "for others":
        alias(bench, a, b)
    elif wrong == "UAV":
        bench.barrier(upper)
    elif wrong == "UAV for all":
        bench.barrier(None)
    elif not wrong:
        alias(bench, None, lower)
    bench.dispatch(op, [b], [lower])
    bench.execute()


@hazard(MISSING, "'upper'", "'third'", ways=["for another"])
def three_resources_that_share_memory(bench, wrong):
    """A barrier hands memory over to the resource that it names, not to a third one."""
    names = ("upper", "lower", "third")
    upper, lower, third = placed(bench, *[(0, 16)] * 3, names=names)
    op, a, b = bench.ready(identity()), bench.buffer(16), bench.buffer(16)
    bench.dispatch(op, [upper], [a])
    alias(bench, upper, lower)
    if not wrong:
        alias(bench, upper, third)
    bench.dispatch(op, [b], [third])
    bench.execute()


@hazard(MISSING, "the copy's source", "the copy's destination", "'upper'")
def copies_through_two_resources(bench, wrong):
    upper, lower = placed(bench)
    bench.commands.CopyResource(bench.buffer(16), upper)
    if not wrong:
        alias(bench, upper, lower)
    bench.commands.CopyResource(lower, bench.buffer(16))
    bench.execute()


@hazard(MISSING, "which it also reads as InputTensor", "'upper'", "'lower'")
def both_in_one_dispatch(bench, wrong):
    """Only one of several resources that overlap can be used at a time."""
    upper, lower = placed(bench, (0, 16), (0 if wrong else UNIT, 16))
    bench.dispatch(bench.ready(identity()), [upper], [lower])
    bench.execute()


@hazard(
    CONTENTS,
    "'upper'",
    "activated ID3D12Resource 'lower'",
    "element {0,0,0,0}",
    ways=["activated alone", "names it back", "bytes behind it"],
)
def contents_that_an_activation_ends(bench, wrong):
    """``upper`` is written, ``lower`` is activated over it, and ``upper`` is read again: correct programs write it
    again, or activate a resource at another place. Activation takes whole 64 KiB units."""
    upper, lower = placed(bench, (0, UNIT), (0 if wrong else UNIT, 16))
    op, a = bench.ready(identity()), bench.holding(1, 2, 3, 4)
    start = 256 if wrong == "bytes behind it" else 0
    view = binding(upper, start, 16)
    bench.dispatch(op, [a], [view])
    alias(bench, None, lower)
    bench.execute()
    if wrong == "names it back":
        alias(bench, lower, upper)
    bench.dispatch(op, [view], [bench.buffer(16)])
    bench.execute()


@hazard(CONTENTS, "'lower'", "activated ID3D12Resource 'lower'", ways=["before named", "after alone"])
def contents_of_another_resource(bench, wrong):
    """To inherit another resource's contents, a barrier names no pResourceAfter."""
    upper, lower = placed(bench)
    op = bench.ready(identity())
    bench.dispatch(op, [bench.holding(1, 2, 3, 4)], [upper])
    alias(bench, upper if wrong == "before named" else None, lower if wrong else None)
    bench.dispatch(op, [lower], [bench.buffer(16)])
    bench.execute()


@hazard(CONTENTS, "'copied'", "activated")
def contents_written_in_part(bench, wrong):
    """Contents written after the activation are defined."""
    upper, lower = placed(bench, (0, 16), (0, 16), names=("upper", "copied"))
    op, data = bench.ready(identity()), bench.holding(1, 2, 3, 4)
    bench.dispatch(op, [data], [upper])
    alias(bench, upper, lower)
    bench.commands.CopyBufferRegion(lower, 0, bench.buffer(16), 0, 8 if wrong else 16)
    bench.transition(lower, COPY_DEST, UNORDERED_ACCESS)
    bench.dispatch(op, [lower], [bench.buffer(16)])
    bench.execute()


@hazard(INHERITED, "'lower'", "written through ID3D12Resource 'upper'", "InputTensor", ways=["dispatch"])
@hazard(INHERITED, "'lower'", "written through ID3D12Resource 'upper'", "the copy's source", ways=["copy"])
def a_later_call_reads_through_another_resource(bench, wrong):
    """Two calls are ordered without a barrier, but reading another resource's contents may be unintended."""
    upper, lower = placed(bench)
    op = bench.ready(identity())
    bench.dispatch(op, [bench.holding(1, 2, 3, 4)], [upper])
    bench.execute()
    if not wrong:
        alias(bench, None, None)
    if wrong == "copy":
        bench.commands.CopyResource(bench.buffer(16), lower)
    else:
        bench.dispatch(op, [lower], [bench.buffer(16)])
    bench.execute()


@hazard(INHERITED, "'upper'", "written through ID3D12Resource 'lower'")
def a_later_call_reads_what_is_inactive(bench, wrong):
    upper, lower = placed(bench)
    op, data = bench.ready(identity()), bench.holding(1, 2, 3, 4)
    alias(bench, None, upper)
    bench.dispatch(op, [data], [upper])
    bench.execute()
    alias(bench, upper, lower)
    bench.dispatch(op, [data], [lower])
    bench.execute()
    bench.dispatch(op, [upper if wrong else lower], [bench.buffer(16)])
    bench.execute()
