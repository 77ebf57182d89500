"""Violations of the rules about objects that are not thread safe."""

from __future__ import annotations

from contextlib import suppress
from threading import Event, Thread

from .binding_violations import owned_join
from .helpers import binding, identity
from .rule_violations import breaks


class Inside(list):
    """An empty sequence that blocks the method reading it until released, then fails."""

    def __init__(self):
        super().__init__()
        self.entered, self.leave = Event(), Event()

    def stop(self, *ignored):
        self.entered.set()
        self.leave.wait(60)
        raise StopIteration

    __iter__ = __len__ = __getitem__ = stop


def while_another_is_inside(method, call, wrong):
    """``call``, while another thread is inside of ``method``, or, if it is not ``wrong``, once it has left."""
    items = Inside()

    def other():
        with suppress(StopIteration):
            method(items)

    thread = Thread(target=other)
    thread.start()
    items.entered.wait(60)

    def leave():
        items.leave.set()
        thread.join()

    if not wrong:
        leave()

    def together():
        try:
            return call()
        finally:
            leave()

    return together


@breaks("DML-BindingTable-thread", "BindInputs")
def two_threads_bind(bench, wrong):
    table, inputs = bench.table(bench.compile(identity())), [binding(bench.buffer(16))]
    return while_another_is_inside(table.BindOutputs, lambda: table.BindInputs(inputs), wrong)


@breaks("DML-BindingTable-thread", "Reset", void=False)
def reset_while_another_thread_binds(bench, wrong):
    table = bench.table(bench.compile(identity()))
    return while_another_is_inside(table.BindOutputs, lambda: table.Reset(None), wrong)


@breaks("DML-BindingTable-thread", "bindings")
def record_while_another_thread_binds(bench, wrong):
    op = bench.compile(identity())
    table = bench.table(op, [bench.buffer(16)], [bench.buffer(16)])
    return while_another_is_inside(table.BindOutputs, lambda: bench.record(op, table), wrong)


@breaks("DML-OperatorInitializer-thread", "Reset", void=False)
def two_threads_reset(bench, wrong):
    op = owned_join(bench)
    initializer = bench.dml.CreateOperatorInitializer([op])
    return while_another_is_inside(initializer.Reset, lambda: initializer.Reset([op]), wrong)
