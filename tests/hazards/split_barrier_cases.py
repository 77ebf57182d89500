"""Split barriers."""

from __future__ import annotations

import directml_py as dml

from ..dml.helpers import identity
from .hazard import COPY_DEST, COPY_SOURCE, READBACK, UNORDERED_ACCESS, UPLOAD, hazard

ACCESS, HALVES = "D3D12-ResourceState-split", "D3D12-ResourceBarrier-split"
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
    """The second half may be in another call; the split barrier is pending until then."""
    op, x = bench.ready(identity()), bench.buffer(16, name="x")
    bench.transition(x, UNORDERED_ACCESS, COPY_SOURCE, BEGIN)
    bench.execute()
    if wrong:
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
