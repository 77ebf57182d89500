"""Split barriers."""

from __future__ import annotations

import directml_py as dml

from ..dml.helpers import identity
from .hazard import COPY_DEST, COPY_SOURCE, READBACK, UNORDERED_ACCESS, UPLOAD, Transition, hazard

ACCESS, HALVES = "D3D12-ResourceState-split", "D3D12-ResourceBarrier-split"
ACROSS, BEGUN = f"{HALVES}-across", f"{HALVES}-begun"
BEGIN, END = dml.D3D12_RESOURCE_BARRIER_FLAG_BEGIN_ONLY, dml.D3D12_RESOURCE_BARRIER_FLAG_END_ONLY


@hazard(ACCESS, "the copy reads the copy's source", "'x'", "from D3D12_RESOURCE_STATE_COPY_SOURCE")
def copying_between_the_halves(bench, wrong):
    """The buffer is still in StateBefore, but must not be accessed."""
    x, result = bench.buffer(16, name="x"), bench.buffer(16, READBACK)
    bench.commands.CopyResource(result, x)
    if wrong:
        bench.transition(x, COPY_SOURCE, COPY_DEST, BEGIN)
    bench.commands.CopyResource(result, x)
    if not wrong:
        bench.transition(x, COPY_SOURCE, COPY_DEST, BEGIN)
    bench.transition(x, COPY_SOURCE, COPY_DEST, END)
    bench.commands.CopyResource(x, bench.buffer(16, UPLOAD))
    bench.execute()


@hazard(ACCESS, "OutputTensor", "'x'", "from D3D12_RESOURCE_STATE_UNORDERED_ACCESS", ways=["another call"])
def dispatching_between_halves_of_two_calls(bench, wrong):
    """The split barrier is pending until its second half, in whichever call that is."""
    op, x = bench.ready(identity()), bench.buffer(16, name="x")
    bench.dispatch(op, [bench.buffer(16)], [x])
    bench.transition(x, UNORDERED_ACCESS, COPY_SOURCE, BEGIN)
    if wrong:
        bench.execute()
        bench.dispatch(op, [bench.buffer(16)], [x])
        bench.execute()
    bench.transition(x, UNORDERED_ACCESS, COPY_SOURCE, END)
    bench.commands.CopyResource(bench.buffer(16, READBACK), x)
    bench.execute()


@hazard(HALVES, "'x'", "which has no first half", ways=["no first half"])
@hazard(HALVES, "'x'", "but the one that began is from", ways=["other states"])
@hazard(HALVES, "'x'", "is between the first half", ways=["begun twice", "a whole one between"])
def halves_that_do_not_fit(bench, wrong):
    x = bench.buffer(16, name="x")
    bench.commands.CopyResource(bench.buffer(16, READBACK), x)
    if wrong != "no first half":
        bench.transition(x, COPY_SOURCE, UNORDERED_ACCESS if wrong == "other states" else COPY_DEST, BEGIN)
    if wrong == "begun twice":
        bench.transition(x, COPY_SOURCE, COPY_DEST, BEGIN)
    if wrong == "a whole one between":
        bench.transition(x, COPY_SOURCE, COPY_DEST)
    else:
        bench.transition(x, COPY_SOURCE, COPY_DEST, END)
    bench.commands.CopyResource(x, bench.buffer(16, UPLOAD))
    bench.execute()


@hazard(ACROSS, "'x'", "which began in an earlier ExecuteCommandLists", ways=["two calls"])
@hazard(BEGUN, "the transition of ID3D12Resource 'x'", "does not end", ways=["no second half"])
def halves_apart(bench, wrong):
    """In two lists of one call they enclose the work between; a missing half is reported when the device is flushed."""
    x, result = bench.buffer(16, name="x"), bench.buffer(16, READBACK)
    bench.commands.CopyResource(result, x)
    bench.transition(x, COPY_SOURCE, COPY_DEST, BEGIN)
    if wrong == "two calls":
        bench.execute()
    second = bench.keep(bench.new_list())
    if wrong != "no second half":
        second.ResourceBarrier([Transition(x, COPY_SOURCE, COPY_DEST, flags=END)])
    bench.submit(bench.commands, second)
    bench.wait()
    bench.d3d12.flush()
    bench.commands.Reset(bench.new_allocator(), None)
