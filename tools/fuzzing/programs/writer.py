"""Generator of random correct programs: a random command is kept once the synchronization it needs is inserted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from random import Random

from . import contents, modelled_states, reference_model
from . import program_values as v
from .memory_accesses import touches

ROUNDS = 6


class ProgramWriter:
    """``kinds`` are the available operators; what is random comes from ``random``."""

    def __init__(self, random: Random, kinds: Sequence[v.OperatorKind]) -> None:
        self._random = random
        self._buffers: dict[str, v.BufferDecl] = {}
        self._ops = {kind.name: kind for kind in kinds}
        count = self._random.choice([1, 2, 2, 3])
        # The first queue is not a COPY queue, since COPY queues alone could do little.
        types = [
            v.DIRECT,
            self._random.choice([v.DIRECT, v.COMPUTE]),
            self._random.choice([v.COMPUTE, v.COPY, v.COPY]),
        ]
        self.queues = (types[0], *self._random.sample(types[1:], count - 1))
        self._queues = count
        self._steps: list[v.Step] = []
        self._values = [0] * (2 * self._queues)
        self.submissions = 0
        self._make_buffers()

    def _make_buffers(self) -> None:
        random, memory = self._random, 0

        def add(name: str, heap: str, width: int, zeroed: bool = True) -> None:
            nonlocal memory
            self._buffers[name] = v.BufferDecl(name, heap, memory, 0, width, zeroed)
            memory += 1

        for index in range(random.randint(2, 4)):
            add(f"own {index}", v.DEFAULT, random.choice([32, 64, 96]), random.random() < 0.6)
        for index in range(random.randint(1, 2)):
            add(f"upload {index}", v.UPLOAD, 64)
            add(f"readback {index}", v.READBACK, 64)
        add("scratch", v.DEFAULT, max(64, *(self._needed(kind) for kind in self._ops.values())))
        for op, kind in self._ops.items():
            if kind.owned:
                add(f"weights of {op}", v.DEFAULT, -(-kind.persistent // 16) * 16 + 32)
        zeroed = random.random() < 0.5
        for index in range(random.choice([0, 2, 2, 3, 4])):
            offset = 0 if index < 2 else random.choice([0, v.GRANULE])
            width = random.choice([64, 64, v.GRANULE + 64]) if not offset else 64
            name = f"placed {index}"
            self._buffers[name] = v.BufferDecl(name, v.DEFAULT, memory, offset, width, zeroed, placed=True)

    @staticmethod
    def _needed(kind: v.OperatorKind) -> int:
        return max(kind.temporary, kind.initializer_temporary)

    def finished(self) -> v.FuzzProgram:
        """The program, which waits for all queues, reads what came back, and lets go of some objects."""
        self._finish()
        return self._with(self._steps)

    def _with(self, steps: Sequence[v.Step]) -> v.FuzzProgram:
        return v.FuzzProgram(self._buffers, self._ops, self.queues, len(self._values), tuple(steps))

    def _part(
        self, size: int, fits: Callable[[v.BufferDecl], bool], alignment: int = 16
    ) -> v.BufferPart | None:
        candidates = [
            candidate for candidate in self._buffers.values() if fits(candidate) and candidate.width >= size
        ]
        if not candidates:
            return None
        buffer = self._random.choice(candidates)
        starts = [*range(0, min(buffer.width, 96) - size + 1, alignment)]
        # The end of a wide buffer is in another granule.
        if buffer.width > v.GRANULE:
            starts += range(v.GRANULE, buffer.width - size + 1, alignment)
        return v.BufferPart(buffer.name, self._random.choice(starts), size)

    @staticmethod
    def _plain(buffer: v.BufferDecl) -> bool:
        return buffer.heap == v.DEFAULT and not buffer.name.startswith(("scratch", "weights"))

    def _copy(self) -> v.CommandCall | None:
        size = self._random.choice([16, 32, 32, 64])
        readable, writable = self._random.choice(
            [(v.UPLOAD, v.DEFAULT)] * 3 + [(v.DEFAULT, v.DEFAULT)] + [(v.DEFAULT, v.READBACK)] * 2
        )

        def of(heap: str) -> v.BufferPart | None:
            return self._part(
                size, lambda buffer: buffer.heap == heap and (heap != v.DEFAULT or self._plain(buffer)), 4
            )

        source, target = of(readable), of(writable)
        if source is None or target is None or source.buffer == target.buffer:
            return None
        return v.CopyCall(target, source)

    def _dispatch(self) -> v.CommandCall | None:
        op, kind = self._random.choice([*self._ops.items()])
        inputs = [self._part(size, self._plain) for size in kind.inputs]
        outputs = [self._part(size, self._plain) for size in kind.outputs]
        if kind.in_place and self._random.random() < 0.2:
            outputs = inputs[:1]
        parts = [part for part in (*inputs, *outputs) if part is not None]
        if len(parts) < len(inputs) + len(outputs):
            return None
        count = len(inputs)
        return v.DispatchCall(
            op,
            tuple(parts[:count]),
            tuple(parts[count:]),
            self._temporary(kind.temporary),
            v.BufferPart(f"weights of {op}", 0, kind.persistent) if kind.owned else None,
        )

    def _initialize(self) -> v.CommandCall | None:
        owned = [op for op, kind in self._ops.items() if kind.owned]
        return self._initialize_op(self._random.choice(owned)) if owned else None

    def _initialize_op(self, op: str) -> v.CommandCall:
        kind = self._ops[op]
        inputs = [
            self._part(size, lambda buffer: buffer.heap == v.UPLOAD or self._plain(buffer))
            for size in kind.owned
        ]
        return v.InitializeCall(
            op,
            tuple(part for part in inputs if part is not None),
            self._temporary(kind.initializer_temporary),
            v.BufferPart(f"weights of {op}", 0, kind.persistent),
        )

    def _temporary(self, size: int) -> v.BufferPart | None:
        return v.BufferPart("scratch", 0, size) if size else None

    def _clear(self) -> v.CommandCall | None:
        target = self._part(self._random.choice([16, 32]), self._plain, 4)
        return None if target is None else v.ClearCall(target)

    def _any_barrier(self, queue: int) -> v.CommandCall | None:
        placed = [buffer.name for buffer in self._buffers.values() if buffer.placed]
        writable = [buffer.name for buffer in self._buffers.values() if buffer.heap == v.DEFAULT]
        if placed and self._random.random() < 0.5:
            return v.AliasingCall(self._random.choice([None, *placed]), self._random.choice([None, *placed]))
        if self.queues[queue] == v.COPY:
            return None
        return v.UavBarrierCall(self._random.choice([None, *writable]))

    def _command(self, queue: int) -> v.CommandCall | None:
        makers = [self._copy] * 4 + [partial(self._any_barrier, queue)]
        if self.queues[queue] != v.COPY:
            makers += [self._dispatch] * 5 + [self._clear, self._initialize]
        return self._random.choice(makers)()

    def submit(self, queue: int) -> None:
        lists: list[list[v.CommandCall]] = [[]]
        for _ in range(self._random.randint(1, 5)):
            if lists[-1] and self._random.random() < 0.2:
                lists.append([])
            command = self._command(queue)
            if command is not None:
                self._add(queue, lists, command)
        lists = [commands for commands in lists if commands]
        if lists:
            self._steps.append(self._submitted(queue, lists))
            self.submissions += 1

    def submit_again(self) -> bool:
        """Resubmit some lists, if that can be correct."""
        submissions = [step for step in self._steps if isinstance(step, v.SubmitStep)]
        of = self._random.choice(submissions)
        fits = [queue for queue in range(self._queues) if self.queues[queue] == self.queues[of.queue]]
        step = v.ResubmitStep(self.submissions, self._random.choice(fits), of.number)
        steps, values = list(self._steps), list(self._values)
        for queues in ((), range(self._queues)):
            self._await(steps, queues)
            if not reference_model.look(self._with([*steps, step]), len(steps)).all:
                self._steps = [*steps, step]
                self.submissions += 1
                return True
        self._values = values
        return False

    def _submitted(self, queue: int, lists: Sequence[Sequence[v.CommandCall]]) -> v.SubmitStep:
        return v.SubmitStep(self.submissions, queue, tuple(tuple(commands) for commands in lists))

    def _add(self, queue: int, lists: list[list[v.CommandCall]], command: v.CommandCall) -> None:
        """Add ``command`` and the steps that it needs; nothing if these do not suffice."""
        steps, last = list(self._steps), list(lists[-1])
        values = list(self._values)
        for _ in range(ROUNDS):
            program = self._with([*steps, self._submitted(queue, [*lists[:-1], [*last, command]])])
            told = reference_model.look(program, len(steps))
            if not told.all:
                self._steps, lists[-1] = steps, [*last, command]
                return
            # Possible hazards may be consequences of certain ones.
            if not self._repair(
                told.hazards or told.possible, program, queue, steps, [*lists[:-1], last], command
            ):
                break
        self._values = values

    def _repair(
        self,
        hazards: frozenset[str],
        program: v.FuzzProgram,
        queue: int,
        steps: list[v.Step],
        lists: list[list[v.CommandCall]],
        command: v.CommandCall,
    ) -> bool:
        random = self._random
        buffers = sorted({touch.buffer for touch in touches(program, command)})
        placed = [name for name in buffers if self._buffers[name].placed]
        if contents.UNINITIALIZED in hazards and isinstance(command, v.DispatchCall):
            lists[-1].append(self._initialize_op(command.op))
            return True
        if modelled_states.WRONG_STATE in hazards:
            return self._transit(program, lists, command)
        if reference_model.MISSING_ALIASING in hazards or contents.INHERITED in hazards:
            if not placed:
                return False
            others = [one.name for one in self._buffers.values() if one.placed and one.name not in placed]
            after = None if contents.INHERITED in hazards else random.choice([None, *placed])
            lists[-1].append(v.AliasingCall(random.choice([None, *others]), after))
        elif reference_model.MISSING_BARRIER in hazards:
            buffer = random.choice(buffers)
            if random.random() < 0.3:
                state = self._state(program, lists, buffer)
                if state == v.UNORDERED_ACCESS:
                    self._change(program, lists[-1], v.TransitionCall(buffer, state, v.COPY_SOURCE))
                    lists[-1].append(v.TransitionCall(buffer, v.COPY_SOURCE, state))
            else:
                lists[-1].append(v.UavBarrierCall(random.choice([None, buffer, buffer, buffer])))
        elif hazards == {reference_model.MISSING_WAIT}:
            queues = [other for other in range(self._queues) if other != queue]
            if random.random() < 0.2:
                self._await(steps, queues)
            else:
                self._wait(steps, queue, random.choice(queues))
        else:
            return False
        return True

    def _state(self, program: v.FuzzProgram, lists: Sequence[Sequence[v.CommandCall]], buffer: str) -> str:
        return self._states(program, lists).of(buffer)

    def _states(
        self, program: v.FuzzProgram, lists: Sequence[Sequence[v.CommandCall]]
    ) -> modelled_states.States:
        states = modelled_states.States(program)
        for commands in lists:
            for command in commands:
                if isinstance(command, v.TransitionCall):
                    states.is_wrongly_left(command)
                for touch in touches(program, command):
                    states.is_wrong(touch)
        return states

    def _transit(
        self, program: v.FuzzProgram, lists: list[list[v.CommandCall]], command: v.CommandCall
    ) -> bool:
        states = self._states(program, lists)
        wrong = False
        for touch in touches(program, command):
            state = states.of(touch.buffer)
            if self._buffers[touch.buffer].heap == v.DEFAULT and state not in (v.COMMON, touch.state):
                barrier = v.TransitionCall(touch.buffer, state, touch.state)
                if not any(one[:3] == barrier[:3] for one in lists[-1][-3:]):
                    self._change(program, lists[-1], barrier)
                wrong = True
        return wrong

    def _change(
        self, program: v.FuzzProgram, commands: list[v.CommandCall], barrier: v.TransitionCall
    ) -> None:
        """Add a transition, or a split one around commands that do not use its buffer."""
        if self._random.random() < 0.6:
            commands.append(barrier)
            return
        free = len(commands)
        while free and not self._is_about(program, commands[free - 1], barrier.buffer):
            free -= 1
        commands.insert(self._random.randint(free, len(commands)), barrier._replace(half=v.BEGIN))
        commands.append(barrier._replace(half=v.END))

    @staticmethod
    def _is_about(program: v.FuzzProgram, command: v.CommandCall, buffer: str) -> bool:
        if isinstance(command, v.TransitionCall) and command.buffer == buffer:
            return True
        return any(touch.buffer == buffer for touch in touches(program, command))

    def _signal(self, steps: list[v.Step], queue: int) -> tuple[int, int]:
        """A fence and a value that ``queue`` signals after all its submitted work."""
        for step in reversed(steps):
            if isinstance(step, (v.SubmitStep, v.ResubmitStep)) and step.queue == queue:
                break
            if isinstance(step, v.SignalStep) and step.queue == queue:
                return step.fence, step.value
        fence = 2 * queue + self._random.randrange(2)
        self._values[fence] += self._random.choice([1, 1, 3])
        steps.append(v.SignalStep(queue, fence, self._values[fence]))
        return fence, self._values[fence]

    def _wait(self, steps: list[v.Step], queue: int, other: int) -> None:
        steps.append(v.WaitStep(queue, *self._signal(steps, other)))

    def _await(self, steps: list[v.Step], queues: Sequence[int]) -> None:
        for queue in queues:
            steps.append(v.CpuWaitStep(*self._signal(steps, queue)))

    def cpu_step(self) -> None:
        kind = self._random.random()
        if kind < 0.5:
            heap = v.UPLOAD if kind < 0.25 else v.READBACK
            part = self._part(self._random.choice([16, 32]), lambda buffer: buffer.heap == heap, 4)
            assert part is not None
            self._cpu(v.CpuWriteStep(part) if heap == v.UPLOAD else v.CpuReadStep(part))
        elif kind < 0.6 and self.submissions:
            recorded = [step.number for step in self._steps if isinstance(step, v.SubmitStep)]
            self._cpu(v.ResetStep(self._random.choice(recorded)))
        elif kind < 0.7 and self._queues > 1:
            queue, other = self._random.sample(range(self._queues), 2)
            self._wait(self._steps, queue, other)

    def _cpu(self, step: v.Step) -> None:
        if isinstance(step, v.ResetStep) and step in self._steps:
            return
        if reference_model.look(self._with([*self._steps, step]), len(self._steps)).all:
            self._await(self._steps, range(self._queues))
        self._steps.append(step)

    def _finish(self) -> None:
        for queue in range(self._queues):
            self._await(self._steps, [queue])
        for buffer in self._buffers.values():
            if buffer.heap == v.READBACK:
                self._steps.append(v.CpuReadStep(v.BufferPart(buffer.name, 0, buffer.width)))
        names = sorted(
            {
                name
                for step in self._steps
                if isinstance(step, v.SubmitStep)
                for name in reference_model.used(self._with([]), step)
            }
            - {buffer.name for buffer in self._buffers.values() if buffer.heap != v.DEFAULT}
        )
        for name in self._random.sample(names, min(len(names), 2)):
            self._steps.append(v.ReleaseStep(name))
