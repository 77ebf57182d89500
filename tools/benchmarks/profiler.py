"""Profiler of compiled networks, node by node."""

from __future__ import annotations

from collections import Counter
from typing import Any, NamedTuple

from rich.table import Table

from directml_py.session import Session

from .architectures import NETWORKS
from .replay_cost import replayed
from .step_times import TimedProgram, TimedStep, fastest
from .translations import directml

ROUNDS = 9


class Spent(NamedTuple):
    """The minimum of several runs; ``operations`` are those of a convolution, counting additions.

    For fused nodes, ``node`` is the last one, and ``tensors`` are those of the convolution, or else of the last.
    ``is_native``: whether native kernels are all that is called.
    """

    node: int
    operator: str
    is_native: bool
    tensors: str
    nanoseconds: int
    operations: int


def profile(name: str) -> list[Spent]:
    """The nodes of a network of ``NETWORKS``, slowest first."""
    network = NETWORKS[name]()
    graph, weights = directml(network)
    op = graph.compile().operator
    rounds: list[list[TimedStep]] = []
    timed: Any = TimedProgram(op.program, rounds.append)
    op.program = timed
    ours = replayed(Session(graph.device), op, [network.image(), *weights])
    rounds.clear()
    for _ in range(ROUNDS):
        ours.execute()
    entries = []
    for step in fastest(rounds):
        desc = max(reversed(step.descs), key=operations)
        time = step.nanoseconds
        entries.append(Spent(step.node, step.operator, step.is_native, tensors(desc), time, operations(desc)))
    return sorted(entries, key=lambda one: -one.nanoseconds)


def tensors(desc: Any) -> str:
    """The sizes of inputs and outputs, without per-channel tensors."""
    sides = [
        [slot.tensor.sizes for slot in side if slot.tensor is not None]
        for side in (desc.inputs, desc.outputs)
    ]
    return " -> ".join(
        " ".join(
            "x".join(map(str, sizes))
            for index, sizes in enumerate(side)
            if index == 0 or sum(size > 1 for size in sizes) > 1
        )
        for side in sides
    )


def operations(desc: Any) -> int:
    if desc.name != "CONVOLUTION":
        return 0
    image = desc.InputTensor if desc.Direction else desc.OutputTensor
    return int(2 * image.element_count * desc.FilterTensor.element_count // desc.FilterTensor.sizes[0])


def profile_table(name: str) -> Table:
    entries = profile(name)
    total = sum(entry.nanoseconds for entry in entries)
    by_operator: Counter[tuple[str, bool]] = Counter()
    table = Table(
        "node", "operator", "by", "tensors", "ms", "share", "GFLOP/s", title=f"{name}: {total / 1e6:.2f} ms"
    )

    def add(node: str, operator: str, native: bool, sizes: str, nanoseconds: int, speed: str = "") -> None:
        by = "native" if native else "Python"
        table.add_row(
            node, operator, by, sizes, f"{nanoseconds / 1e6:.3f}", f"{nanoseconds / total:.1%}", speed
        )

    for entry in entries:
        by_operator[entry.operator, entry.is_native] += entry.nanoseconds
        speed = f"{entry.operations / entry.nanoseconds:.0f}" if entry.operations else ""
        add(str(entry.node), entry.operator, entry.is_native, entry.tensors, entry.nanoseconds, speed)
    table.add_section()
    for (operator, native), nanoseconds in by_operator.most_common():
        add("all", operator, native, "", nanoseconds)
    table.add_section()
    in_python = sum(spent for (_, native), spent in by_operator.items() if not native)
    add("all", "all", False, "", in_python)
    return table
