"""Resource states through barriers, promotion and decay."""

from __future__ import annotations

from ..dml.helpers import identity
from .hazard import COMMON, COPY_DEST, COPY_SOURCE, READBACK, UNORDERED_ACCESS, UPLOAD, hazard

STATE, BEFORE = "D3D12-ResourceState-mismatch", "D3D12-ResourceBarrier-before"
BEFORE_COMMON = "D3D12-ResourceBarrier-before-common"
UAV, SOURCE, DEST = (
    f"D3D12_RESOURCE_STATE_{name}" for name in ("UNORDERED_ACCESS", "COPY_SOURCE", "COPY_DEST")
)


@hazard(STATE, "the copy's source needs ID3D12Resource 'y'", f"in {SOURCE}", f"is in {UAV}")
def copying_what_a_dispatch_wrote(bench, wrong):
    op, y = bench.ready(identity()), bench.buffer(16, name="y")
    bench.dispatch(op, [bench.buffer(16)], [y])
    if not wrong:
        bench.transition(y, UNORDERED_ACCESS, COPY_SOURCE)
    bench.commands.CopyResource(bench.buffer(16, READBACK), y)
    bench.execute()


@hazard(
    STATE,
    "InputTensor needs ID3D12Resource 'x'",
    f"in {UAV}",
    f"is in {DEST}",
    "DML_OPERATOR_ELEMENT_WISE_IDENTITY",
)
def dispatching_what_was_copied(bench, wrong):
    op, x = bench.ready(identity()), bench.buffer(16, name="x")
    bench.commands.CopyResource(x, bench.buffer(16, UPLOAD))
    if not wrong:
        bench.transition(x, COPY_DEST, UNORDERED_ACCESS)
    bench.dispatch(op, [x], [bench.buffer(16)])
    bench.execute()


@hazard(STATE, "the copy's destination needs ID3D12Resource 'x'", f"in {DEST}", f"is in {SOURCE}")
def promotion_to_reading_excludes_writing(bench, wrong):
    x = bench.buffer(16, name="x")
    bench.commands.CopyResource(bench.buffer(16), x)
    bench.commands.CopyResource(bench.buffer(16), x)
    if not wrong:
        bench.transition(x, COPY_SOURCE, COPY_DEST)
    bench.commands.CopyResource(x, bench.buffer(16))
    bench.execute()


@hazard(STATE, f"in {UAV}", f"is in {DEST}")
def decay_at_the_end_of_a_call(bench, wrong):
    """Whatever its last state, a buffer is in COMMON in the next ExecuteCommandLists."""
    op, x = bench.ready(identity()), bench.buffer(16, name="x")
    bench.transition(x, COMMON, COPY_DEST)
    if not wrong:
        bench.execute()
    bench.dispatch(op, [x], [bench.buffer(16)])
    bench.execute()


@hazard(STATE, f"in {UAV}", f"is in {SOURCE}")
def a_transition_too_many(bench, wrong):
    op, x = bench.ready(identity()), bench.buffer(16, name="x")
    bench.transition(x, COMMON, UNORDERED_ACCESS)
    if wrong:
        bench.transition(x, UNORDERED_ACCESS, COPY_SOURCE)
    bench.dispatch(op, [x], [bench.buffer(16)])
    bench.execute()


@hazard(BEFORE, "StateBefore of ID3D12Resource 'x'", f"is {UAV}", f"is in {DEST}")
def a_transition_from_another_state(bench, wrong):
    x = bench.buffer(16, name="x")
    bench.commands.CopyResource(x, bench.buffer(16, UPLOAD))
    bench.transition(x, UNORDERED_ACCESS if wrong else COPY_DEST, COPY_SOURCE)
    bench.commands.CopyResource(bench.buffer(16, READBACK), x)
    bench.execute()


@hazard(BEFORE, f"is {DEST}", f"is in {UAV}")
def a_transition_made_twice(bench, wrong):
    x = bench.buffer(16, name="x")
    bench.commands.CopyResource(x, bench.buffer(16, UPLOAD))
    bench.transition(x, COPY_DEST, UNORDERED_ACCESS)
    if not wrong:
        bench.transition(x, UNORDERED_ACCESS, COPY_DEST)
    bench.transition(x, COPY_DEST, UNORDERED_ACCESS)
    bench.execute()


@hazard(BEFORE, f"is {UAV}", "is in D3D12_RESOURCE_STATE_COMMON")
def a_transition_after_one_to_common(bench, wrong):
    x = bench.buffer(16, name="x")
    bench.transition(x, COMMON, UNORDERED_ACCESS)
    bench.transition(x, UNORDERED_ACCESS, COMMON)
    bench.transition(x, UNORDERED_ACCESS if wrong else COMMON, COPY_SOURCE)
    bench.execute()


@hazard(
    BEFORE_COMMON,
    f"StateBefore of ID3D12Resource 'x' is {DEST}, but it is in D3D12_RESOURCE_STATE_COMMON",
    "was left in D3D12_RESOURCE_STATE_COMMON",
    ways=["never written"],
)
@hazard(BEFORE_COMMON, f"is {DEST}", f"was left in {UAV}", ways=["dispatched since"])
@hazard(BEFORE_COMMON, f"is {DEST}", f"was left in {SOURCE}", ways=["made in the call before"])
def a_state_that_the_buffer_was_not_left_in(bench, wrong):
    """A call finds the buffer in COMMON; its state before the decay is valid as well, any other is not."""
    op, x = bench.ready(identity()), bench.buffer(16, name="x")
    if wrong != "never written":
        bench.commands.CopyResource(x, bench.buffer(16, UPLOAD))
        bench.execute()
    if wrong == "dispatched since":
        bench.dispatch(op, [bench.buffer(16)], [x])
        bench.execute()
    for _ in range(2 if wrong == "made in the call before" else 1):
        bench.transition(x, COPY_DEST, COPY_SOURCE)
        bench.commands.CopyResource(bench.buffer(16, READBACK), x)
        bench.execute()
