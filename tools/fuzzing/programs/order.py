"""Happens-before relation: queues run in order, signals precede their waits, and submissions follow the CPU's waits."""

from __future__ import annotations

from . import program_values as v


class Order:
    """The transitive closure over a program's steps; sets of steps are bit masks."""

    def __init__(self, program: v.FuzzProgram) -> None:
        steps = program.steps
        signals: dict[int, list[tuple[int, int]]] = {}
        for index, step in enumerate(steps):
            if isinstance(step, v.SignalStep):
                signals.setdefault(step.fence, []).append((index, step.value))
        self.has_deadlock = False
        # The direct predecessors of each step, and the CPU's latest wait before it.
        self._before: list[list[int]] = [[] for _ in steps]
        self._awaited: list[int | None] = []
        last: dict[int, int] = {}
        awaited: int | None = None
        for index, step in enumerate(steps):
            self._awaited.append(awaited)
            before = self._before[index]
            if awaited is not None:
                before.append(awaited)
            if isinstance(step, (v.SubmitStep, v.SignalStep, v.WaitStep)):
                if step.queue in last:
                    before.append(last[step.queue])
                last[step.queue] = index
            if isinstance(step, (v.WaitStep, v.CpuWaitStep)):
                reaching = [
                    position for position, value in signals.get(step.fence, ()) if value >= step.value
                ]
                if not reaching or (isinstance(step, v.CpuWaitStep) and reaching[0] > index):
                    self.has_deadlock = True
                    continue
                # Each fence is signaled by one queue with ascending values, so the first sufficient signal is implied.
                before.append(reaching[0])
            if isinstance(step, v.CpuWaitStep):
                awaited = index
        self._all = self._closed()

    def _closed(self) -> list[int]:
        predecessors = [0] * len(self._before)
        changed = True
        while changed:
            changed = False
            for index, before in enumerate(self._before):
                mask = predecessors[index]
                for predecessor in before:
                    mask |= predecessors[predecessor] | 1 << predecessor
                if mask != predecessors[index]:
                    predecessors[index] = mask
                    changed = True
        self.has_deadlock = self.has_deadlock or any(
            predecessors[index] >> index & 1 for index in range(len(predecessors))
        )
        return predecessors

    def are_ordered(self, one: int, other: int) -> bool:
        """Whether two steps of queues are ordered by happens-before, either way."""
        return bool(self._all[other] >> one & 1 or self._all[one] >> other & 1)

    def comes_first(self, one: int, other: int) -> bool:
        """Whether the step ``one`` of a queue happens before ``other``."""
        return bool(self._all[other] >> one & 1)

    def is_known(self, one: int, position: int) -> bool:
        """Whether the step ``one`` of a queue is known to have run when the CPU is at ``position``."""
        awaited = self._awaited[position]
        return awaited is not None and bool(self._all[awaited] >> one & 1)
