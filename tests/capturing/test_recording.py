"""The contents of captures, and their effects on the captured program."""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import directml_py as dml
from directml_py.capturing import VARIABLE
from directml_py.capturing import event_types as e
from directml_py.capturing.content_store import CaptureWriter
from directml_py.capturing.parser import read_capture
from directml_py.capturing.replay import replay
from directml_py.session import Session, bindings

from .conftest import record_program, tensor


def only(folder):
    (log,) = read_capture(folder)
    return log


def lines(folder):
    (path,) = folder.glob("*.jsonl")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def dispatches(log):
    return [command for _, command in log.ran if isinstance(command.what, e.DispatchEvent)]


def test_what_ran_in_which_order(recorded):
    log = only(recorded)
    titles = [
        command.what.dispatchable.title
        if isinstance(command.what, e.DispatchEvent)
        else type(command.what).__name__
        for execution, command in log.ran
        if len(execution.commands) > 2
    ]
    # OtherEvent: the descriptor heap.
    add = "DML_OPERATOR_ELEMENT_WISE_ADD"
    assert titles == ["OtherEvent", "MarkerEvent", f"{add} 'sum'", "BarrierEvent", add, "MarkerEvent"]


def test_what_is_bound(recorded):
    second = dispatches(only(recorded))[-1]
    assert [(slot.name, str(part)) for slot, part in second.what.bindings.items()] == [
        ("inputs[0]", "bytes 0 to 24 of middle"),
        ("inputs[1]", "bytes 0 to 24 of b"),
        ("outputs[0]", "bytes 0 to 28 of rows"),
    ]
    assert [slot.tensor.strides for slot in second.what.dispatchable.op.outputs] == [(8, 8, 4, 1)]


def test_what_was_written(recorded):
    log = only(recorded)
    first, second = (command.written for command in dispatches(log)[-2:])
    assert log.bytes(first[0].content).view(np.float32).tolist() == [10, 11, 12, 13, 14, 15]
    # The element between the rows belongs to none.
    assert log.bytes(second[0].content).view(np.float32).tolist() == [20, 21, 22, 0, 23, 24, 25]


def test_contents_are_there_once(tmp_path):
    """Ten dispatches that write equal contents, and repeated uploads."""
    with dml.capture(tmp_path / "out"):
        session = Session()
        desc = tensor([1, 1, 64, 64])
        op = session.compile(dml.DML_ELEMENT_WISE_ADD_OPERATOR_DESC(desc, desc, desc))
        ones = np.ones(4096, np.float32)
        a, b, c = (session.upload(ones) for _ in range(3))
        session.initialize(op)
        for _ in range(10):
            session.dispatch(op, [a, b], [c])
            session.barrier(c)
        session.execute()
    log = only(tmp_path / "out")
    assert [content.size for content in log.contents] == [16384, 16384]
    assert log.size == 2 * 16384


def test_what_the_cpu_changes_is_seen_again(tmp_path):
    with dml.capture(tmp_path / "out"):
        session = Session()
        staging, target = session.buffer(8, dml.D3D12_HEAP_TYPE_UPLOAD), session.buffer(8)
        for value in (1, 2):
            staging.Map()[:] = value
            session.run(lambda commands: commands.CopyResource(target, staging))
    log = only(tmp_path / "out")
    assert [log.bytes(content).tolist() for content in log.contents] == [[1] * 8, [2] * 8]


def test_what_was_there_before(tmp_path):
    """Objects, contents and a closed list from before the recording."""
    session = Session()
    desc = tensor([1, 1, 1, 4])
    op = session.compile(dml.DML_ELEMENT_WISE_NEGATE_OPERATOR_DESC(desc, desc))
    source, target = session.upload(np.array([1, 2, 3, 4], np.float32)), session.buffer(16)
    session.initialize(op)
    session.dispatch(op, [source], [target])
    with dml.capture(tmp_path / "out"):
        session.execute()
    session.read(target)
    log = only(tmp_path / "out")
    (command,) = dispatches(log)
    assert log.bytes(command.found[0].content).view(np.float32).tolist() == [1, 2, 3, 4]
    assert [differences for _, differences in replay(log)] == [[]]
    # Nothing after the end is in it: reading back is an execution too.
    assert sum(isinstance(moment, e.CapturedExecution) for moment in log.events) == 1


@pytest.mark.skipif(os.name == "nt", reason="no permissions of this kind")
def test_a_capture_is_of_whom_other_files_are(tmp_path):
    with dml.capture(tmp_path / "out"):
        Session()
    (tmp_path / "other").touch()
    modes = {path.stat().st_mode for path in (tmp_path / "out").iterdir()}
    assert modes == {(tmp_path / "other").stat().st_mode}


def test_an_operator_that_was_initialized_before(tmp_path):
    """The replay uses the program's persistent resource."""
    session = Session()
    plain, weights = tensor([1, 1, 2, 2]), np.array([1, 2, 3, 4], np.float32)
    owned = dml.tensor_desc(
        dml.DML_TENSOR_DATA_TYPE_FLOAT32, [1, 1, 2, 2], flags=dml.DML_TENSOR_FLAG_OWNED_BY_DML
    )
    op = session.compile(
        dml.DML_GEMM_OPERATOR_DESC(ATensor=plain, BTensor=owned, OutputTensor=plain, Alpha=1)
    )
    source, target = session.upload(weights), session.buffer(16)
    persistent = session.initialize(op, [None, session.upload(weights), None])
    with dml.capture(tmp_path / "out"):
        session.dispatch(op, [source, None, None], [target], persistent)
        session.execute()
    log = only(tmp_path / "out")
    (command,) = dispatches(log)
    assert log.bytes(command.written[0].content).view(np.float32).tolist() == [7, 10, 15, 22]
    assert [differences for _, differences in replay(log)] == [[]]


def test_late_bindings_are_those_of_execution(tmp_path):
    with dml.capture(tmp_path / "out"):
        session = Session()
        desc = tensor([1, 1, 1, 4])
        op = session.compile(
            dml.DML_ELEMENT_WISE_NEGATE_OPERATOR_DESC(desc, desc), dml.DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE
        )
        one, two, target = (session.upload(np.full(4, value, np.float32)) for value in (1, 2, 0))
        two.SetName("two")
        session.initialize(op)
        table = session.table(op, [one], [target])
        session.record(op, table)
        table.BindInputs(
            [dml.DML_BINDING_DESC(dml.DML_BINDING_TYPE_BUFFER, dml.DML_BUFFER_BINDING(two, 0, 16))]
        )
        session.execute()
    log = only(tmp_path / "out")
    command = dispatches(log)[-1]
    assert [part.resource.name for part in command.what.bindings.values()] == ["two", ""]
    assert log.bytes(command.written[0].content).view(np.float32).tolist() == [-2] * 4
    assert all(not differences for _, differences in replay(log))


def test_placed_resources_share_memory(tmp_path):
    with dml.capture(tmp_path / "out"):
        session = Session()
        heap = session.d3d12.CreateHeap(
            dml.D3D12_HEAP_DESC(
                SizeInBytes=1 << 16, Properties=dml.CD3DX12_HEAP_PROPERTIES(dml.D3D12_HEAP_TYPE_DEFAULT)
            )
        )
        desc = dml.CD3DX12_RESOURCE_DESC.Buffer(16, dml.D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS)
        one, other = (
            session.d3d12.CreatePlacedResource(heap, 0, desc, dml.D3D12_RESOURCE_STATE_COMMON)
            for _ in range(2)
        )
        source = session.upload(np.array([1, 2, 3, 4], np.float32))
        session.run(lambda commands: commands.CopyResource(one, source))
        sizes = tensor([1, 1, 1, 4])
        op = session.compile(dml.DML_ELEMENT_WISE_NEGATE_OPERATOR_DESC(sizes, sizes))
        session.initialize(op)
        target = session.buffer(16)
        session.dispatch(op, [other], [target])
        session.execute()
    log = only(tmp_path / "out")
    assert len({one.allocation for one in log.resources.values() if one.placed}) == 1
    command = dispatches(log)[-1]
    assert log.bytes(command.written[0].content).view(np.float32).tolist() == [-1, -2, -3, -4]
    assert all(not differences for _, differences in replay(log))


def test_memory_is_not_kept_alive(tmp_path):
    """Each round releases three buffers, one of which is still mapped; the garbage collector is not needed."""
    with dml.capture(tmp_path / "out"):
        session = Session()
        gc.disable()
        try:
            for value in range(20):
                session.read(session.upload(np.full(1 << 16, value, np.uint8)))
        finally:
            gc.enable()
    freed = [line for line in lines(tmp_path / "out") if line["event"] == "freed"]
    assert len(freed) == 20 * 3


def test_a_folder_with_something_in_it_is_left_alone(tmp_path):
    (tmp_path / "mine").write_text("x")
    with pytest.raises(FileExistsError, match="new or an empty folder"), dml.capture(tmp_path):
        pass
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


def test_an_exception_ends_the_recording(tmp_path):
    with pytest.raises(ZeroDivisionError), dml.capture(tmp_path / "out"):
        raise ZeroDivisionError
    record_program()
    assert [line["event"] for line in lines(tmp_path / "out")] == ["process", "end"]


@pytest.mark.parametrize("others", [1, 0])
def test_an_initializer_that_is_reset_before_it_runs(tmp_path, others):
    """The operators at recording time are executed and captured."""
    with dml.capture(tmp_path / "out"):
        session = Session()
        ops = [
            session.compile(dml.DML_ACTIVATION_RELU_OPERATOR_DESC(desc, desc))
            for desc in (tensor([1, 2]), tensor([1, 3]))
        ]
        initializer = session.dml.CreateOperatorInitializer(ops[:1])
        session.record(initializer, session.table(initializer, None, None))
        initializer.Reset(ops[1 : 1 + others])
        session.execute()
    (dispatch,) = dispatches(only(tmp_path / "out"))
    assert [op.op.desc.InputTensor.sizes for op in dispatch.what.operators] == [(1, 2)]


@pytest.mark.parametrize("others", [1, 0])
def test_an_initializer_with_inputs_that_is_reset_before_it_runs(tmp_path, others):
    """Programs initialize many operators with one initializer before they execute the list, as ONNX Runtime does."""
    plain, owned = tensor([1, 1, 2, 2]), tensor([1, 1, 2, 2], flags=dml.DML_TENSOR_FLAG_OWNED_BY_DML)
    with dml.capture(tmp_path / "out"):
        session = Session()
        gemm = session.compile(
            dml.DML_GEMM_OPERATOR_DESC(ATensor=plain, BTensor=owned, OutputTensor=plain, Alpha=1.0)
        )
        relu = session.compile(dml.DML_ACTIVATION_RELU_OPERATOR_DESC(plain, plain))
        weights = session.upload(np.full((2, 2), 3, np.float32))
        persistent = session.buffer(gemm.GetBindingProperties().PersistentResourceSize)
        initializer = session.dml.CreateOperatorInitializer([gemm])
        table = session.table(initializer, [bindings([None, weights, None])], [persistent])
        session.record(initializer, table)
        initializer.Reset([relu][:others])
        session.execute()
        unit, output = session.upload(np.eye(2, dtype=np.float32)), session.buffer(16)
        session.dispatch(gemm, [unit, None, None], [output], persistent)
        session.execute()
        assert session.read(output, np.float32).tolist() == [3] * 4
    log = only(tmp_path / "out")
    assert [op.op.desc.name for op in dispatches(log)[0].what.operators] == ["GEMM"]
    assert all(not differences for _, differences in replay(log))


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="/proc has the open files on Linux")
@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), MemoryError()])
def test_an_error_ends_the_recording_and_closes_its_files(tmp_path, monkeypatch, capsys, error):
    def fail(self, *arguments):
        raise error

    monkeypatch.setattr(CaptureWriter, "content", fail)
    with pytest.raises(OSError, match=r"No space|Cannot allocate"), dml.capture(tmp_path / "out"):
        assert record_program().tolist() == [20, 21, 22, 0, 23, 24, 25]
    assert capsys.readouterr().err.count("ends here") == 1
    folder = Path("/proc/self/fd")
    files = [os.readlink(one) for one in folder.iterdir() if one.is_symlink() and one.exists()]
    assert not [one for one in files if one.startswith(str(tmp_path))]


PROGRAM = """
import sys, time
sys.path[:0] = {path!r}
from capturing.conftest import record_program
record_program()
print("done", flush=True)
{then}
"""


def start(tmp_path, then, **environment):
    code = PROGRAM.format(path=[path for path in sys.path if path], then=then)
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env={**os.environ, VARIABLE: str(tmp_path / "out"), **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_program_that_is_killed_leaves_all_up_to_there(tmp_path):
    with start(tmp_path, "time.sleep(60)") as child:
        assert child.stdout.readline() == "done\n"
        child.send_signal(signal.SIGKILL)
    log = only(tmp_path / "out")
    assert len(dispatches(log)) == 4
    assert all(not differences for _, differences in replay(log))


def test_what_is_made_while_no_list_runs_is_in_the_file_at_once(tmp_path):
    with dml.capture(tmp_path):
        session = Session()
        for count in range(1, 4):
            session.buffer(16)
            (path,) = tmp_path.glob("*.jsonl")
            assert path.read_text(encoding="utf-8").count('"event":"resource"') == count


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_the_child_of_a_fork_has_a_log_of_its_own(tmp_path):
    then = "import os\nchild = os.fork()\nrecord_program()\nif child: os.waitpid(child, 0)\nos._exit(0)"
    with start(tmp_path, then) as child:
        assert child.wait(60) == 0
    first, second = (len(dispatches(log)) for log in read_capture(tmp_path / "out"))
    assert sorted([first, second]) == [4, 8]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here")
def test_a_fork_while_another_thread_writes(tmp_path):
    """The child does not wait for a lock held by a thread of its parent."""
    then = """
import os, threading
from directml_py.capturing.content_store import CaptureWriter
event, writing, go_on = CaptureWriter.event, threading.Event(), threading.Event()
def waiting(self, kind, /, **members):
    writing.set()
    go_on.wait()
    event(self, kind, **members)
CaptureWriter.event = waiting
thread = threading.Thread(target=record_program)
thread.start()
writing.wait()
CaptureWriter.event = event
child = os.fork()
if child:
    go_on.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0
else:
    record_program()
os._exit(0)
"""
    with start(tmp_path, then) as child:
        try:
            assert child.wait(60) == 0, child.stderr.read()
        finally:
            child.kill()
    assert sorted(len(dispatches(log)) for log in read_capture(tmp_path / "out")) == [4, 8]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="limits of a process are set as on Linux")
def test_a_full_disk_ends_the_recording_and_not_the_program(tmp_path):
    then = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))\nrecord_program()\nprint('alive')"
    with start(tmp_path, then) as child:
        out, error = child.communicate(timeout=60)
    assert out == "done\nalive\n"
    assert error.count("ends here") == 1
    assert len(dispatches(only(tmp_path / "out"))) == 4
