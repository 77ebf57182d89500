"""The page, also as rendered by a browser."""

from __future__ import annotations

import re
import shutil
import subprocess
from html import unescape
from html.parser import HTMLParser

import pytest
from toolchain import missing

import directml_py as dml
from directml_py.capturing.page import page
from directml_py.capturing.page.timeline import size_text
from directml_py.capturing.parser import read_capture
from directml_py.session import Session

from .conftest import tensor

BREAKS = tuple(dml.D3D12_MESSAGE_SEVERITY)


@pytest.fixture(scope="module")
def hazardous(tmp_path_factory):
    """The page of a program with a missing barrier, markers, hostile names and a second queue."""
    folder = tmp_path_factory.mktemp("page") / "out"
    switch = dml.D3D12GetDebugInterface()
    switch.EnableDebugLayer()
    try:
        with dml.capture(folder):
            run_hazardous()
    finally:
        switch.DisableDebugLayer()
    return page(read_capture(folder))


def run_hazardous():
    device = dml.D3D12CreateDevice()
    for severity in BREAKS:
        device.QueryInterface(dml.ID3D12InfoQueue).SetBreakOnSeverity(severity, False)
    session = Session(dml.DMLCreateDevice(device, dml.DML_CREATE_DEVICE_FLAG_DEBUG))
    desc = tensor([1, 1, 2, 2])
    op = session.compile(dml.DML_ELEMENT_WISE_NEGATE_OPERATOR_DESC(desc, desc))
    op.SetName("<script>alert(1)</script>")
    first, second = session.buffer(16), session.buffer(16)
    first.SetName("first")
    second.SetName("second & <last>")
    staging = session.buffer(16, dml.D3D12_HEAP_TYPE_UPLOAD)
    staging.array("<f4")[:] = [1, float("nan"), float("inf"), 4]
    session.run(lambda commands: commands.CopyResource(first, staging))
    session.initialize(op)
    commands = session.commands
    commands.EndEvent()
    commands.BeginEvent(1, "forward pass")
    session.dispatch(op, [first], [second])
    session.dispatch(op, [second], [first])
    session.barrier(second)
    commands.ResourceBarrier(
        [
            dml.CD3DX12_RESOURCE_BARRIER.Transition(
                second, dml.D3D12_RESOURCE_STATE_UNORDERED_ACCESS, dml.D3D12_RESOURCE_STATE_COPY_SOURCE
            )
        ]
    )
    session.execute()
    other = device.CreateCommandQueue(dml.D3D12_COMMAND_QUEUE_DESC(Type=dml.D3D12_COMMAND_LIST_TYPE_COPY))
    other.SetName("uploads")
    fence = device.CreateFence(0)
    other.SetMarker(1, "done")
    other.Signal(fence, 3)
    fence.SetEventOnCompletion(3)


def words(html):
    """The text of the page, without tags."""
    return unescape(re.sub(r"<[^>]*>", " ", re.sub(r"(?s)<(style|script)>.*?</\1>", "", html)))


def browse(html, tmp_path, script=""):
    """The DOM of the page in Chromium, after ``script`` ran in it."""
    browser = shutil.which("chromium")
    if browser is None:
        missing("chromium")
    probe = f"<script>addEventListener('load', () => {{ {script} }})</script></body>"
    target = tmp_path / "page.html"
    target.write_text(html.replace("</body>", probe), encoding="utf-8")
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path / 'profile'}"]
    command = [browser, *options, "--window-size=400,800", "--dump-dom", target.as_uri()]
    run = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert run.returncode == 0, run.stderr
    return run.stdout


def test_commands_and_what_lies_between_them_come_in_order(hazardous):
    text = re.sub(r"\s+", " ", words(hazardous))
    pieces = [
        "forward pass",
        "1 ELEMENT_WISE_NEGATE",
        "FLOAT32 {1,1,2,2}",
        "there is no UAV barrier or transition between them [D3D12-UAVBarrier-missing]",
        "2 ELEMENT_WISE_NEGATE",
        "UAV barrier · second & <last>",
        "second & <last> UNORDERED_ACCESS → COPY_SOURCE",
        "uploads marks done",
        "uploads sets fence",
        "the CPU waits for fence",
    ]
    place = 0
    for piece in pieces:
        # Raises ValueError for a piece that comes before the one above it.
        place = text.index(piece, place)


def test_values_and_ranges(hazardous):
    text = re.sub(r"\s+", " ", words(hazardous))
    assert "InputTensor FLOAT32 {1,1,2,2} bytes 0 to 16 of first · 16 bytes 1 nan inf 4" in text
    assert "1 to 4, mean 2.5, 1 NaN, 1 infinite" in text
    assert "OutputTensor FLOAT32 {1,1,2,2} bytes 0 to 16 of second & <last> · 16 bytes -1 nan -inf -4" in text


def test_the_count_of_messages_leads_to_the_first(hazardous):
    count, target = re.search(r'<li class="alarm"><a href="#(\w+)"><b>(\d+)</b> messages?<', hazardous).group(
        2, 1
    )
    anchors = re.findall(r'<p class="message[^>]* id="(\w+)"', hazardous)
    assert anchors == [f"m{number}" for number in range(int(count))]
    assert anchors[0] == target
    assert not re.search(r"<b>1</b> (dispatches|copies|barriers|messages)<", hazardous)


def test_what_nobody_named_is_told_by_what_it_is(hazardous):
    """An initializer by its operators, a resource by its heap, its size and the line that created it."""
    assert '<b>An operator initializer</b> <span class="quiet shapes">of ELEMENT_WISE_NEGATE' in hazardous
    assert re.search(
        r"bytes 0 to 16 of UPLOAD resource \d+ \(16 bytes, created at test_page.py:\d+\)", hazardous
    )


def test_names_are_text_and_nothing_comes_from_outside(hazardous):
    assert "alert(1)" in hazardous
    assert "<script>alert" not in hazardous
    assert not re.search(r"(?:src|href)=\"(?!#)", hazardous)
    assert "url(" not in hazardous
    assert "http" not in hazardous.replace("http-equiv", "")


class Nesting(HTMLParser):
    """Checks that elements are properly nested."""

    VOID = ("meta", "input")

    def __init__(self):
        super().__init__()
        self.open = []
        self.ids = []

    def handle_starttag(self, tag, attributes):
        self.ids += [value for name, value in attributes if name == "id"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        """As <rect/> in a picture."""

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_processes_of_one_number(recorded, tmp_path):
    """A program that calls exec keeps its process identifier; links stay unambiguous."""
    for name in ("process-1-0", "process-1-1"):
        for path in recorded.glob("process*"):
            (tmp_path / name).with_suffix(path.suffix).write_bytes(path.read_bytes())
    html = page(read_capture(tmp_path))
    ids = re.findall(r'\bid="([^"]*)"', html)
    assert len(set(ids)) == len(ids)
    targets = set(re.findall(r'href="#([^"]*)"', html))
    assert "timeline" in targets
    assert targets <= set(ids)


def test_the_markup_is_well_formed(hazardous):
    """Even though an event ends that never began."""
    nesting = Nesting()
    nesting.feed(hazardous)
    assert nesting.open == []
    assert len(set(nesting.ids)) == len(nesting.ids)


def test_a_browser_shows_it_on_a_phone(hazardous, tmp_path):
    """Nothing is wider than the window, nothing is loaded, no script fails."""
    script = """
        const wide = document.documentElement.scrollWidth > innerWidth;
        const loaded = performance.getEntriesByType('resource').length;
        document.title = JSON.stringify({wide, loaded, cards: document.querySelectorAll('.execution').length});
    """
    errors = "addEventListener('error', () => { document.documentElement.id = 'failed' });"
    html = hazardous.replace("<head>", f"<head><script>{errors}</script>")
    dom = browse(html, tmp_path, script)
    assert '<title>{"wide":false,"loaded":0,"cards":3}</title>' in dom
    assert 'id="failed"' not in dom


def test_the_keyboard_is_enough(hazardous, tmp_path):
    """j goes through the commands, h through the messages, / to the filter; a click on a mark opens its dispatch."""
    script = """
        const press = key => document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}));
        const told = [];
        const here = () => document.activeElement.closest('.command, .message, .barriers')?.className;
        press('j'); told.push(here()); press('j'); press('j'); told.push(here()); press('k'); told.push(here());
        press('h'); told.push(here());
        press('/'); told.push(document.activeElement.id);
        const filter = document.getElementById('filter');
        filter.value = 'uav barrier'; filter.dispatchEvent(new Event('input'));
        told.push([...document.querySelectorAll('.barriers')].filter(item => item.offsetParent).length);
        told.push([...document.querySelectorAll('.command')].filter(item => item.offsetParent).length);
        filter.value = ''; filter.dispatchEvent(new Event('input'));
        document.querySelector('nav a.dispatch').dispatchEvent(new MouseEvent('click', {bubbles: true}));
        document.getElementById('unfold').click();
        told.push([...document.querySelectorAll('details.dispatch')].every(item => item.open));
        document.title = JSON.stringify(told);
    """
    title = re.search(r"<title>(.*?)</title>", browse(hazardous, tmp_path, script))[1]
    assert title == (
        '["command copy","command dispatch","command dispatch","message error","filter",1,0,true]'
    )


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 bytes"),
        (1023, "1023 bytes"),
        (1024, "1 KiB"),
        (1536, "1.5 KiB"),
        ((1 << 20) - 1, "1.02e+03 KiB"),
        (1 << 20, "1 MiB"),
        (5 << 30, "5 GiB"),
        (3 << 40, "3 TiB"),
        (1 << 52, "4.1e+03 TiB"),
    ],
)
def test_sizes(count, text):
    assert size_text(count) == text


def test_an_execution_that_was_cut_off_says_so(recorded, tmp_path):
    (path,), (contents,) = recorded.glob("*.jsonl"), recorded.glob("*.contents")
    lines = path.read_bytes().splitlines(keepends=True)
    place = max(number for number, line in enumerate(lines) if line.startswith(b'{"event":"executed"'))
    (tmp_path / "p.contents").write_bytes(contents.read_bytes())
    for end, times in ((place, 1), (place + 1, 0)):
        (tmp_path / "p.jsonl").write_bytes(b"".join(lines[:end]))
        assert page(read_capture(tmp_path)).count("before these lists have finished") == times
