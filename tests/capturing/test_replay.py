"""Replay of captures: differences are reported with the dispatch and the element."""

from __future__ import annotations

import json
import sys

import numpy as np
import pytest

import directml_py as dml
from directml_py.capturing import event_types as e
from directml_py.capturing.parser import CaptureError, read_capture
from directml_py.capturing.replay import replay, replayed_count
from directml_py.cli import main
from directml_py.graph import Graph
from directml_py.session import Session
from directml_py.text import terminal

from .conftest import record_two_weights


def alter(folder, floats, position, value):
    """Change one float of the content that equals ``floats``."""
    (path,) = folder.glob("*.contents")
    content = np.fromfile(path, np.uint8)
    (log,) = folder.glob("*.jsonl")
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    wanted = np.array(floats, np.float32).tobytes()
    for line in lines:
        if line["event"] == "content":
            part = content[line["offset"] : line["offset"] + line["size"]]
            if part.tobytes() == wanted:
                part.view(np.float32)[position] = value
    content.tofile(path)
    log.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


SUMS = [20, 21, 22, 0, 23, 24, 25]


def differences(folder):
    (log,) = read_capture(folder)
    return [one for _, found in replay(log) for one in found]


def test_the_same_again(recorded, capsys):
    assert main(["capture", "replay", str(recorded)]) == 0
    assert capsys.readouterr().out == "4 dispatches replayed, none with a different result\n"


def test_a_terminal_sees_how_far_it_is(recorded, monkeypatch, capsys):
    """A bar of as many commands as are replayed."""
    (log,) = read_capture(recorded)
    assert replayed_count(log) == len(list(replay(log))) == 4
    monkeypatch.setattr(terminal, "PATIENCE_SECONDS", -1.0)
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert main(["capture", "replay", str(recorded)]) == 0
    told = capsys.readouterr()
    assert told.out == "4 dispatches replayed, none with a different result\n"
    assert "replay" in told.err


def test_the_dispatch_and_the_element_are_named(copied, capsys):
    alter(copied, SUMS, 5, 99)
    assert main(["capture", "replay", str(copied)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "dispatch 3 (DML_OPERATOR_ELEMENT_WISE_ADD): OutputTensor{0,0,1,1} is 24.0, it was 99.0; 1 of 6 differ",
        "4 dispatches replayed, 1 with a different result",
    ]


def test_what_lies_between_elements_is_nobodys_result(copied):
    alter(copied, SUMS, 3, 99)
    assert differences(copied) == []


def test_zero_is_not_minus_zero_and_nan_is_nan(copied):
    """Bits are compared: -0 differs from 0, and NaN equals itself."""
    alter(copied, [0, 1, 2, 3, 4, 5], 0, -10)
    alter(copied, [10, 11, 12, 13, 14, 15], 0, -0.0)
    alter(copied, SUMS, 0, 10)
    (one,) = differences(copied)
    assert (one.command.number, one.element, str(one.then), str(one.now)) == (2, (0, 0, 0, 0), "-0.0", "0.0")


def test_each_dispatch_is_judged_alone(copied):
    """The second dispatch reads what the first wrote according to the capture, not what the replay wrote."""
    alter(copied, [10, 11, 12, 13, 14, 15], 2, 1000)
    alter(copied, SUMS, 2, 1010)
    assert [(one.command.number, one.element) for one in differences(copied)] == [(2, (0, 0, 0, 2))]


def test_an_operator_that_is_refused(copied):
    (log,) = copied.glob("*.jsonl")
    text = log.read_text(encoding="utf-8")
    assert '"Sizes":[1,1,2,3]' in text
    log.write_text(text.replace('"Sizes":[1,1,2,3]', '"Sizes":[1,1,2,0]', 1), encoding="utf-8")
    with pytest.raises(
        CaptureError, match=r"(?s)jsonl: line \d+.event: is refused: .*DML-BufferTensor-size-zero"
    ):
        read_capture(copied)


def test_the_numbers_of_dispatches_go_on_from_process_to_process(recorded, copied):
    for path in recorded.iterdir():
        if path.suffix in (".jsonl", ".contents"):
            (copied / f"other{path.suffix}").write_bytes(path.read_bytes())
    logs = read_capture(copied)
    assert [one.number for log in logs for one in log.dispatches] == list(range(8))
    assert all(isinstance(one, e.DispatchEvent) for log in logs for one in log.dispatches)


def record_owned(folder):
    """A GEMM whose weights DirectML owns, and perhaps packs."""
    with dml.capture(folder):
        session = Session()
        plain = dml.tensor_desc(dml.DML_TENSOR_DATA_TYPE_FLOAT32, [1, 1, 64, 64])
        owned = dml.tensor_desc(
            dml.DML_TENSOR_DATA_TYPE_FLOAT32, [1, 1, 64, 64], flags=dml.DML_TENSOR_FLAG_OWNED_BY_DML
        )
        desc = dml.DML_GEMM_OPERATOR_DESC(ATensor=plain, BTensor=owned, OutputTensor=plain, Alpha=1.0)
        op = session.compile(desc)
        rng = np.random.default_rng(0)
        a, b = (session.upload(rng.random((64, 64), np.float32)) for _ in range(2))
        persistent = session.initialize(op, [a, b, None])
        target = session.buffer(64 * 64 * 4)
        session.dispatch(op, [a, b, None], [target], persistent)
        session.execute()


def test_an_operator_has_the_weights_of_its_persistent_resource(tmp_path):
    record_two_weights(tmp_path)
    assert differences(tmp_path) == []


def test_weights_that_directml_owns_are_initialized_again(tmp_path):
    record_owned(tmp_path)
    assert differences(tmp_path) == []


def test_a_persistent_resource_that_differs_is_named(tmp_path):
    """As if initialization had written the other factor, which has the same size."""
    record_owned(tmp_path)
    (path,) = tmp_path.glob("*.jsonl")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    first_copy = next(line for line in lines if line.get("kind") == "copy")
    initialization = next(line for line in lines if line.get("kind") == "dispatch")
    initialization["written"][0]["content"] = first_copy["found"][0]["content"]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    (found,) = differences(tmp_path)
    assert found.name == "the persistent resource of operator 0"


@pytest.mark.parametrize("record", [record_owned, record_two_weights])
def test_the_capture_of_other_loops(tmp_path, record):
    """Their persistent resource is neither compared nor read, and may have another size."""
    record(tmp_path)
    (path,) = tmp_path.glob("*.jsonl")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    lines[0]["kernels"] = "loops of another machine"
    for line in lines:
        for one in line.get("bindings", ()):
            if one["slot"][0] == "persistent":
                one["range"][2] = 16
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert differences(tmp_path) == []


def test_what_is_not_in_the_capture_is_not_compared(copied):
    (path,) = copied.glob("*.jsonl")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        if "written" in line:
            line["written"] = []
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert differences(copied) == []


def test_what_nobody_knows_is_not_executed(copied, capsys):
    """The first sum, and its initialization."""
    (path,) = copied.glob("*.jsonl")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    place = next(place for place, line in enumerate(lines) if line["event"] == "operator")
    lines[place] = {"event": "released", "id": lines[place]["id"], "title": "an operator"}
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    assert main(["capture", "replay", str(copied)]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "2 dispatches replayed, none with a different result",
        "2 dispatches skipped: their operators were released before they could be recorded",
    ]


def cleared(bench_session, target, format, first, count, values, **flags):
    """A view of ``count`` elements of ``target`` from ``first`` on, set to ``values``."""
    device = bench_session.d3d12
    desc = dml.D3D12_UNORDERED_ACCESS_VIEW_DESC(format, dml.D3D12_UAV_DIMENSION_BUFFER)
    desc.Buffer = dml.D3D12_BUFFER_UAV(FirstElement=first, NumElements=count, **flags)
    heaps = [
        device.CreateDescriptorHeap(
            dml.D3D12_DESCRIPTOR_HEAP_DESC(dml.D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 1, visible)
        )
        for visible in (1, 0)
    ]
    for heap in heaps:
        device.CreateUnorderedAccessView(target, None, desc, heap.GetCPUDescriptorHandleForHeapStart())
    commands = bench_session.commands
    commands.SetDescriptorHeaps(heaps[:1])
    clear = (
        commands.ClearUnorderedAccessViewFloat
        if isinstance(values[0], float)
        else commands.ClearUnorderedAccessViewUint
    )
    clear(
        heaps[0].GetGPUDescriptorHandleForHeapStart(),
        heaps[1].GetCPUDescriptorHandleForHeapStart(),
        target,
        values,
    )
    commands.SetDescriptorHeaps([bench_session.heap])
    return heaps


def record_clears(folder):
    """Clears of all kinds, and two timestamps that are resolved into the same buffer."""
    raw = {"Flags": dml.D3D12_BUFFER_UAV_FLAG_RAW}
    with dml.capture(folder):
        session = Session()
        target = session.buffer(64)
        target.SetName("target")
        queries = session.d3d12.CreateQueryHeap(
            dml.D3D12_QUERY_HEAP_DESC(dml.D3D12_QUERY_HEAP_TYPE_TIMESTAMP, 4)
        )
        queries.SetName("times")
        kept = [
            cleared(session, target, dml.DXGI_FORMAT_R32_TYPELESS, 4, 4, [7, 0, 0, 0], **raw),
            cleared(session, target, dml.DXGI_FORMAT_R8G8B8A8_UNORM, 0, 2, [1.0, 0.5, 0.0, 0.25]),
            cleared(session, target, dml.DXGI_FORMAT_R32_FLOAT, 2, 1, [float("nan"), 0.0, 0.0, 0.0]),
        ]
        for index in (1, 2):
            session.commands.EndQuery(queries, dml.D3D12_QUERY_TYPE_TIMESTAMP, index)
        session.commands.ResolveQueryData(queries, dml.D3D12_QUERY_TYPE_TIMESTAMP, 1, 2, target, 48)
        session.execute()
        return kept and session.read(target)


def test_clears_and_queries_are_executed_again(tmp_path, capsys):
    record_clears(tmp_path)
    assert main(["capture", "replay", str(tmp_path)]) == 0
    assert capsys.readouterr().out == (
        "0 dispatches, 3 clears, 2 timestamps (times are not compared), 1 resolved queries replayed, "
        "none with a different result\n"
    )


def test_what_a_clear_wrote_otherwise(tmp_path, capsys):
    """By hand: 0.5 * 255 is 127.5, which goes to 128; a quarter is 63.75, which goes to 64."""
    record_clears(tmp_path)
    (path,) = tmp_path.glob("*.contents")
    content = path.read_bytes()
    assert content.count(bytes([255, 128, 0, 64] * 2)) == 1
    wrong = content.replace(bytes([255, 128, 0, 64] * 2), bytes([255, 128, 0, 64, 255, 127, 0, 64]))
    path.write_bytes(wrong)
    assert main(["capture", "replay", str(tmp_path)]) == 1
    assert capsys.readouterr().out.splitlines()[0] == (
        "ClearUnorderedAccessViewFloat of bytes 0 to 8 of target: the view{1,1} is 128, it was 127; 1 of 8 differ"
    )


def record_immediate(folder):
    """Two values at one place, one elsewhere, in the middle of a buffer that is placed in a heap."""
    with dml.capture(folder):
        session = Session()
        heap = session.d3d12.CreateHeap(
            dml.D3D12_HEAP_DESC(1 << 17, dml.CD3DX12_HEAP_PROPERTIES(dml.D3D12_HEAP_TYPE_DEFAULT), 0, 0)
        )
        target = session.d3d12.CreatePlacedResource(
            heap, 1 << 16, dml.CD3DX12_RESOURCE_DESC.Buffer(16), dml.D3D12_RESOURCE_STATE_COPY_DEST
        )
        target.SetName("target")
        at, write = target.GetGPUVirtualAddress(), dml.D3D12_WRITEBUFFERIMMEDIATE_PARAMETER
        session.commands.WriteBufferImmediate(
            [write(at + 4, 7), write(at + 12, 8), write(at + 4, 0xFFFFFFFE)]
        )
        session.execute()
        assert session.read(target, np.uint32).tolist() == [0, 0xFFFFFFFE, 0, 8]


def rewrite(folder, kind, change):
    """Change the last command of a kind."""
    (path,) = folder.glob("*.jsonl")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    change(next(line for line in reversed(lines) if line.get("kind") == kind))
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def test_immediate_values_are_written_again(tmp_path, capsys):
    record_immediate(tmp_path)
    assert main(["capture", "replay", str(tmp_path)]) == 0
    out = capsys.readouterr().out
    assert out == "0 dispatches, 1 immediate writes replayed, none with a different result\n"

    def change(line):
        line["writes"][1]["value"] = 9

    rewrite(tmp_path, "immediate", change)
    assert main(["capture", "replay", str(tmp_path)]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "WriteBufferImmediate of 3 values: params[1].Dest{0} is 9, it was 8; 1 of 1 differ",
        "0 dispatches, 1 immediate writes replayed, 1 with a different result",
    ]
    assert main(["capture", "show", str(tmp_path), "--html", "-"]) == 0
    assert "write params[1].Dest: bytes 12 to 16 of target" in capsys.readouterr().out


def test_the_last_of_two_values_at_one_place_stays(tmp_path):
    record_immediate(tmp_path)
    rewrite(tmp_path, "immediate", lambda line: line["writes"].reverse())
    assert [str(one.now) for one in differences(tmp_path)] == ["7", "7"]


@pytest.mark.parametrize(
    ("place", "value", "error"),
    [
        (1, 6, r"writes\[0\].range: must be 4 bytes at a multiple of 4"),
        (2, 8, r"writes\[0\].range: must be 4 bytes at a multiple of 4"),
        (1, 16, r"writes\[0\].range: is 4 bytes at offset 16, which is not within a resource"),
        (None, 1 << 32, r"writes\[0\].value: .*4294967296"),
        (
            1,
            1 << 64,
            r"writes\[0\].range\[1\]: must be from 0 to 18446744073709551615, not 18446744073709551616",
        ),
    ],
)
def test_immediate_values_that_no_recorder_writes(tmp_path, place, value, error):
    record_immediate(tmp_path)

    def change(line):
        if place is None:
            line["writes"][0]["value"] = value
        else:
            line["writes"][0]["range"][place] = value

    rewrite(tmp_path, "immediate", change)
    with pytest.raises(CaptureError, match=rf"line \d+\.{error}"):
        read_capture(tmp_path)


@pytest.mark.parametrize(
    ("kind", "member", "value", "error"),
    [
        ("clear", "call", "ClearState", "call: must be one of ClearUnorderedAccessViewUint"),
        ("clear", "format", "DXGI_FORMAT_BC1_UNORM", "format: is not a view format"),
        ("clear", "format", "DXGI_FORMAT_R16G16B16A16_FLOAT", "range: must be whole elements of 8 bytes"),
        ("clear", "values", [0, 0, 0], "values: must be 4 numbers"),
        ("clear", "values", [0, 0, 0, 1 << 32], r"values\[3\]: .*4294967296"),
        ("query", "query", 4, "query: .*4"),
        ("query", "heap", 10**6, "heap: is 1000000, which no earlier line declares"),
        ("resolve", "start", 3, "start: is 3; times has too few queries from there on"),
    ],
)
def test_what_no_recorder_writes(tmp_path, kind, member, value, error):
    record_clears(tmp_path)
    # The last clear has four bytes.
    rewrite(tmp_path, kind, lambda line: line.update({member: value}))
    with pytest.raises(CaptureError, match=rf"line \d+\.{error}"):
        read_capture(tmp_path)


def rewrite_operator(folder, change):
    """Change the last compiled operator."""
    (path,) = folder.glob("*.jsonl")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    change(next(line for line in reversed(lines) if line["event"] == "operator"))
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


@pytest.mark.parametrize(
    ("member", "value", "error"),
    [
        ("flags", 1 << 20, "flags: is 1048576, which has unknown bits"),
        (
            "level",
            "DML_FEATURE_LEVEL_9_9",
            "has the level 'DML_FEATURE_LEVEL_9_9', which is not a feature level",
        ),
    ],
)
def test_operators_that_no_recorder_writes(copied, member, value, error):
    rewrite_operator(copied, lambda line: line.update({member: value}))
    with pytest.raises(CaptureError, match=error):
        differences(copied)


@pytest.mark.parametrize("edge", [[-2, 0, 0, 0], [0, 0, -2, 0], [-1, 0, -1, 0], [0, -1, 0, 0], [0, 0, 0]])
def test_edges_that_no_recorder_writes(tmp_path, edge):
    with dml.capture(tmp_path):
        graph = Graph()
        x = graph.input_tensor(0, dml.DML_TENSOR_DATA_TYPE_FLOAT32, [4])
        compiled = graph.compile([graph.identity(graph.identity(x))])
        session = Session(graph.device)
        source, output = session.upload(np.ones(4, np.float32)), session.buffer(16)
        session.dispatch(
            compiled.operator, [source], [output], session.initialize(compiled.operator, [source])
        )
        session.execute()
    assert differences(tmp_path) == []
    rewrite_operator(tmp_path, lambda line: line["graph"]["edges"].__setitem__(0, edge))
    with pytest.raises(CaptureError, match=r"graph\.edges\[0\]"):
        differences(tmp_path)


def test_a_clear_on_the_page(tmp_path, capsys):
    record_clears(tmp_path)
    assert main(["capture", "show", str(tmp_path), "--html", "-"]) == 0
    page = capsys.readouterr().out
    assert "ClearUnorderedAccessViewFloat of bytes 0 to 8 of target" in page
    assert "ResolveQueryData of times from 1 on" in page


def test_things_are_numbered_by_kind(tmp_path):
    with dml.capture(tmp_path):
        device = dml.D3D12CreateDevice()
        desc = dml.D3D12_COMMAND_QUEUE_DESC(Type=dml.D3D12_COMMAND_LIST_TYPE_COPY)
        queues = [device.CreateCommandQueue(desc) for _ in range(3)]
        fences = [device.CreateFence(0) for _ in range(2)]
        for queue in queues:
            for fence in fences:
                queue.Signal(fence, 1)
    (log,) = read_capture(tmp_path)
    signals = [moment for moment in log.events if isinstance(moment, e.SignalEvent)]
    assert {(one.queue.number, one.fence.number) for one in signals} == {
        (q, f) for q in range(3) for f in range(2)
    }


@pytest.mark.parametrize(
    ("use", "error"), [("READ", None), ("EAT", "use: must be one of READ, WRITE, SCRATCH")]
)
def test_uses_of_other_commands(tmp_path, use, error):
    record_clears(tmp_path)

    def change(line):
        part = line.pop("range")
        for member in ("call", "format", "values"):
            line.pop(member)
        line.update(kind="other", title="a command", ranges=[{"name": "all", "use": use, "range": part}])

    rewrite(tmp_path, "clear", change)
    if error is None:
        (log,) = read_capture(tmp_path)
        others = [command.what for _, command in log.ran if isinstance(command.what, e.OtherEvent)]
        assert [[one.use for one in other.uses] for other in others if other.title == "a command"] == [[use]]
    else:
        with pytest.raises(CaptureError, match=rf"ranges\[0\].{error}"):
            read_capture(tmp_path)
