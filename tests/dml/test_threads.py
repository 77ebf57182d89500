"""One device, many threads, each with a queue, a list, a heap and tables of its own."""

from __future__ import annotations

import threading

import pytest

import directml_py as dml

from .helpers import VOLATILE, Bench, floats, identity, join

THREADS, ROUNDS = 8, 12


class Worker(Bench):
    """A bench on the devices of another one."""

    def __init__(self, owner):
        super().__init__(d3d12=owner.d3d12)
        self.dml = owner.dml
        self.persistents = owner.persistents
        self.recorder = owner.recorder


def all_at_once(work):
    """Run ``work(number)`` in all threads; returns the exceptions raised."""
    errors, start = [], threading.Barrier(THREADS)

    def run(number):
        try:
            start.wait()
            work(number)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert not any(thread.is_alive() for thread in threads)
    return errors


def test_creating_compiling_and_dispatching(bench):
    def work(number):
        mine = Worker(bench)
        for turn in range(ROUNDS):
            value = number * 100 + turn
            op = mine.compile(join(4, 2, owned=[1]), VOLATILE if turn % 2 else 0)
            target = mine.buffer(24)
            mine.initialize(op, [None, mine.holding(value, -value)])
            table = mine.table(op, [mine.holding(*[value] * 4), None], [target])
            mine.record(op, table)
            mine.execute()
            assert mine.read(target).tolist() == [value] * 5 + [-value]

    assert all_at_once(work) == []
    assert not bench.removed


def test_one_compiled_operator_in_all_threads(bench):
    """Its methods are thread safe, and dispatches share nothing."""
    op = bench.compile(identity(64, scale=2))
    bench.initialize(op)

    def work(number):
        mine = Worker(bench)
        source, target = mine.buffer(256), mine.buffer(256)
        mine.record(op, mine.table(op, [source], [target]))
        mine.commands.Close()
        for turn in range(ROUNDS):
            mine.fill(source, floats(*[number * 100 + turn] * 64))
            mine.queue.ExecuteCommandLists([mine.commands])
            mine.wait()
            assert mine.read(target).tolist() == [2 * (number * 100 + turn)] * 64

    assert all_at_once(work) == []
    assert not bench.removed


def test_errors_stay_with_their_call(bench):
    """Invalid descs in some threads do not affect valid ones in others."""

    def work(number):
        for _ in range(ROUNDS):
            if number % 2:
                desc = identity(4)
                desc.OutputTensor = None
                with pytest.raises(dml.DMLError) as caught:
                    bench.dml.CreateOperator(desc)
                assert [found.path for found in caught.value.diagnostics] == ["OutputTensor"]
            else:
                bench.compile(identity(4))

    assert all_at_once(work) == []
    assert not bench.removed


def test_names_and_private_data(bench):
    guids = [dml.GUID(f"00112233-4455-6677-8899-{number:012x}") for number in range(THREADS)]

    def work(number):
        for turn in range(200):
            data = bytes([number, turn])
            bench.dml.SetPrivateData(guids[number], 2, data)
            assert bench.dml.GetPrivateData(guids[number]) == data

    assert all_at_once(work) == []
