"""What happens before what: queues run in order, signals before the waits for them, and the CPU knows what it waited
for when it submits."""

from __future__ import annotations

from . import program_values as v


class Order:
    """Each set of steps is a number with a bit for each."""

    def __init__(self, program: v.FuzzProgram) -> None:
        steps = program.steps
        signals: dict[int, list[tuple[int, int]]] = {}
        for place, step in enumerate(steps):
            if isinstance(step, v.SignalStep):
                signals.setdefault(step.fence, []).append((place, step.value))
        self.has_deadlock = False
        # What directly precedes each step, and what the CPU had last waited for at each.
        self._before: list[list[int]] = [[] for _ in steps]
        self._awaited: list[int | None] = []
        last: dict[int, int] = {}
        awaited: int | None = None
        for place, step in enumerate(steps):
            self._awaited.append(awaited)
            before = self._before[place]
            if awaited is not None:
                before.append(awaited)
            if isinstance(step, (v.SubmitStep, v.SignalStep, v.WaitStep)):
                if step.queue in last:
                    before.append(last[step.queue])
                last[step.queue] = place
            if isinstance(step, (v.WaitStep, v.CpuWaitStep)):
                reaching = [at for at, value in signals.get(step.fence, ()) if value >= step.value]
                if not reaching or (isinstance(step, v.CpuWaitStep) and reaching[0] > place):
                    self.has_deadlock = True
                    continue
                # One queue signals a fence, with values that rise: the first to reach the value tells most surely.
                before.append(reaching[0])
            if isinstance(step, v.CpuWaitStep):
                awaited = place
        self._all = self._closed()

    def _closed(self) -> list[int]:
        known = [0] * len(self._before)
        changed = True
        while changed:
            changed = False
            for place, before in enumerate(self._before):
                now = known[place]
                for one in before:
                    now |= known[one] | 1 << one
                if now != known[place]:
                    known[place] = now
                    changed = True
        self.has_deadlock = self.has_deadlock or any(known[place] >> place & 1 for place in range(len(known)))
        return known

    def are_ordered(self, one: int, other: int) -> bool:
        """Whether either of two steps of queues comes before the other whatever happens."""
        return bool(self._all[other] >> one & 1 or self._all[one] >> other & 1)

    def comes_first(self, one: int, other: int) -> bool:
        """Whether the step ``one`` of a queue comes before ``other`` whatever happens."""
        return bool(self._all[other] >> one & 1)

    def is_known(self, one: int, place: int) -> bool:
        """Whether the CPU, at ``place``, knows that the step ``one`` of a queue has run."""
        awaited = self._awaited[place]
        return awaited is not None and bool(self._all[awaited] >> one & 1)
