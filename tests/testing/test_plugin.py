"""The pytest plugin, in separate test suites."""

from __future__ import annotations

import subprocess
import sys

import pytest
from toolchain import later

from .suites import run_suite

pytest_plugins = ["pytester"]

HEAD = """
import pytest
import directml_py as d

def join(axis=0):
    x = d.tensor_desc(d.DML_TENSOR_DATA_TYPE_FLOAT32, [1, 1, 2, 3])
    return d.DML_JOIN_OPERATOR_DESC(InputTensors=[x], OutputTensor=x, Axis=axis)

def report(device, severity, text):
    queue = device.QueryInterface(d.ID3D12InfoQueue)
    queue.AddApplicationMessage(getattr(d, "D3D12_MESSAGE_SEVERITY_" + severity), text)
"""


@pytest.fixture
def suite(pytester, monkeypatch):
    """Run a user's tests; if ``as_installed``, in a new interpreter, which loads the plugins that are installed."""

    def run(*tests, arguments=(), head=HEAD, as_installed=False):
        text = "\n".join([head, *tests])
        if not as_installed:
            return run_suite(pytester, monkeypatch, text, arguments)
        pytester.makepyfile(test_suite=text)
        # Hypothesis takes most of the time of so few tests.
        return pytester.runpytest_subprocess(
            "-p", "no:cacheprovider", "-p", "no:hypothesispytest", *arguments
        )

    return run


def test_what_is_expected_and_what_is_not(suite):
    result = suite(
        """
def test_clean(dml_device):
    dml_device.CompileOperator(dml_device.CreateOperator(join()))

def test_unexpected_though_caught(dml_device):
    with pytest.raises(d.DMLError):
        dml_device.CreateOperator(join(axis=7))

def test_expected(dml_device, dml):
    with dml.expect("DML-JOIN-axis", path="Axis") as found:
        dml_device.CreateOperator(join(axis=7))
    assert [item.rule for item in found.diagnostics] == ["DML-JOIN-axis"]
    assert [message.rule for message in found.messages] == ["DML-JOIN-axis"]

def test_once_expected_once_not(dml_device, dml):
    with dml.expect("DML-JOIN-axis"):
        dml_device.CreateOperator(join(axis=7))
    with pytest.raises(d.DMLError):
        dml_device.CreateOperator(join(axis=7))

def test_too_early(dml_device, dml):
    with pytest.raises(d.DMLError):
        dml_device.CreateOperator(join(axis=7))
    with dml.expect("DML-JOIN-axis"):
        pass

def test_missing(dml_device, dml):
    with dml.expect("DML-JOIN-axis"):
        dml_device.CreateOperator(join())

def test_another_rule(dml_device, dml):
    with dml.expect("DML-JOIN-sizes", path="OutputTensor.Sizes"):
        dml_device.CreateOperator(join(axis=7))

def test_another_path(dml_device, dml):
    with dml.expect("DML-JOIN-axis", path="InputTensors[0]"):
        dml_device.CreateOperator(join(axis=7))
"""
    )
    result.assert_outcomes(passed=2, failed=6)
    result.stdout.fnmatch_lines_random(
        [
            "*the debug layer has messages that the test did not expect:",
            "*error: Axis is 7; it must be less than InputTensors[[]0[]].DimensionCount, which is 4 "
            "[[]DML-JOIN-axis[]]",
            "*expected DML-JOIN-axis, but nothing was broken",
            "*expected DML-JOIN-sizes at OutputTensor.Sizes, but got:",
            "*expected DML-JOIN-axis at InputTensors[[]0[]], but got:",
            "FAILED *::test_unexpected_though_caught*",
            "FAILED *::test_once_expected_once_not*",
            "FAILED *::test_too_early*",
            "FAILED *::test_missing*",
            "FAILED *::test_another_rule*",
            "FAILED *::test_another_path*",
        ]
    )


def test_work_that_nobody_waited_for_runs_in_the_end(suite):
    """Its messages fail the test too: the second transition starts from a state that the buffer is not in."""
    result = suite(
        """
def test_no_wait(d3d12_device):
    kind = d.D3D12_COMMAND_LIST_TYPE_DIRECT
    queue = d3d12_device.CreateCommandQueue(d.D3D12_COMMAND_QUEUE_DESC(Type=kind))
    allocator = d3d12_device.CreateCommandAllocator(kind)
    commands = d3d12_device.CreateCommandList(0, kind, allocator)
    buffer = d3d12_device.CreateCommittedResource(
        d.CD3DX12_HEAP_PROPERTIES(d.D3D12_HEAP_TYPE_DEFAULT), 0, d.CD3DX12_RESOURCE_DESC.Buffer(64), 0
    )
    dest, source = d.D3D12_RESOURCE_STATE_COPY_DEST, d.D3D12_RESOURCE_STATE_COPY_SOURCE
    transition = d.CD3DX12_RESOURCE_BARRIER.Transition
    commands.ResourceBarrier(transition(buffer, dest, source))
    commands.ResourceBarrier(transition(buffer, dest, source))
    commands.Close()
    queue.ExecuteCommandLists([commands])
    global kept
    kept = [buffer, commands, allocator, queue]
"""
    )
    result.assert_outcomes(failed=1)
    result.stdout.fnmatch_lines(["*D3D12-ResourceBarrier-before*"])


def test_messages_by_severity(suite):
    result = suite(
        """
@pytest.mark.parametrize("severity", ["WARNING", "ERROR", "INFO", "MESSAGE"])
def test_message(d3d12_device, severity):
    report(d3d12_device, severity, "something about it")

def test_messages_accumulate(d3d12_device, dml):
    for number in range(1500):
        report(d3d12_device, "ERROR", f"number {number} [my-rule]")
    with dml.expect("my-rule"):
        report(d3d12_device, "ERROR", "one more [my-rule]")

@pytest.fixture
def late(d3d12_device):
    yield
    report(d3d12_device, "WARNING", "from a teardown")

def test_teardown(late):
    pass
"""
    )
    result.assert_outcomes(passed=3, failed=3, errors=1)
    result.stdout.fnmatch_lines_random(
        [
            "FAILED *[[]WARNING[]]*",
            "FAILED *[[]ERROR[]]*",
            "*warning: something about it",
            "*error: number 0 [[]my-rule[]]",
            "*error: number 1499 [[]my-rule[]]",
            "*ERROR at teardown of test_teardown*",
            "*warning: from a teardown",
        ]
    )
    assert "error: one more" not in result.stdout.str()


VOID = """
def bind_nothing(device):
    heap = device.GetParentDevice().CreateDescriptorHeap(
        d.D3D12_DESCRIPTOR_HEAP_DESC(d.D3D12_DESCRIPTOR_HEAP_TYPE_CBV_SRV_UAV, 9, 1)
    )
    compiled = device.CompileOperator(device.CreateOperator(join()))
    count = compiled.GetBindingProperties().RequiredDescriptorCount
    table = device.CreateBindingTable(
        d.DML_BINDING_TABLE_DESC(
            compiled, heap.GetCPUDescriptorHandleForHeapStart(), heap.GetGPUDescriptorHandleForHeapStart(), count
        )
    )
    table.BindInputs([d.DML_BINDING_DESC()] * 9)
"""


def test_void_methods(suite):
    """They raise nothing; only the message reports the error."""
    result = suite(
        VOID,
        """
def test_found(dml_device):
    bind_nothing(dml_device)

def test_expected(dml_device, dml):
    with dml.expect("DML-BindInputs-count") as found:
        bind_nothing(dml_device)
    assert found.messages and not found.diagnostics
    assert dml_device.GetDeviceRemovedReason() == d.DXGI_ERROR_DEVICE_REMOVED
""",
    )
    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(["*error: *[[]DML-BindInputs-count[]]"])


HAZARD = """
def copy_to_and_fro(device, wait=True):
    allow = d.D3D12_RESOURCE_FLAG_ALLOW_UNORDERED_ACCESS
    source, target = (
        device.CreateCommittedResource(
            d.CD3DX12_HEAP_PROPERTIES(d.D3D12_HEAP_TYPE_DEFAULT), 0, d.CD3DX12_RESOURCE_DESC.Buffer(64, allow),
            state,
        )
        for state in (d.D3D12_RESOURCE_STATE_UNORDERED_ACCESS, d.D3D12_RESOURCE_STATE_COPY_DEST)
    )
    queue = device.CreateCommandQueue(d.D3D12_COMMAND_QUEUE_DESC())
    allocator = device.CreateCommandAllocator(d.D3D12_COMMAND_LIST_TYPE_DIRECT)
    commands = device.CreateCommandList(0, d.D3D12_COMMAND_LIST_TYPE_DIRECT, allocator)
    commands.CopyResource(target, source)
    commands.CopyResource(source, target)
    commands.Close()
    queue.ExecuteCommandLists([commands])
    fence = device.CreateFence(0)
    queue.Signal(fence, 1)
    if wait:
        fence.SetEventOnCompletion(1, None)
"""


def test_hazards_while_commands_execute(suite):
    result = suite(
        HAZARD,
        """
def test_found(d3d12_device):
    copy_to_and_fro(d3d12_device)

def test_expected(d3d12_device, dml):
    with dml.expect("D3D12-ResourceState-mismatch") as found:
        copy_to_and_fro(d3d12_device)
    assert len(found.messages) == 2

def test_nothing_has_run_yet(d3d12_device, dml):
    with dml.expect("D3D12-ResourceState-mismatch"):
        copy_to_and_fro(d3d12_device, wait=False)
""",
    )
    result.assert_outcomes(passed=1, failed=2)
    result.stdout.fnmatch_lines_random(
        [
            "FAILED *::test_found*",
            "FAILED *::test_nothing_has_run_yet*",
            "*error: *needs * in D3D12_RESOURCE_STATE_COPY_DEST*[[]D3D12-ResourceState-mismatch[]] (recorded at *)",
        ]
    )


def test_several_devices(suite):
    result = suite(
        """
from directml_py.testing import expect

def refused(device):
    with pytest.raises(d.DMLError):
        device.CreateOperator(None)

def another(d3d12_device=None):
    return d.DMLCreateDevice(d3d12_device or d.D3D12CreateDevice(), d.DML_CREATE_DEVICE_FLAG_DEBUG)

def test_two_on_one(d3d12_device, dml_device):
    refused(another(d3d12_device))

def test_not_watched(dml_device):
    other = d.D3D12CreateDevice()
    other.QueryInterface(d.ID3D12InfoQueue).SetBreakOnSeverity(d.D3D12_MESSAGE_SEVERITY_ERROR, False)
    refused(another(other))

def test_watched(dml_device, dml):
    other = another()
    dml.watch(other)
    refused(other)

def test_watched_and_expected(dml_device, dml):
    other = another()
    dml.watch(other)
    dml.watch(other.GetParentDevice())
    with dml.expect("DML-Desc-null"):
        other.CreateOperator(None)

def test_expected_by_the_function(dml_device):
    with expect("DML-Desc-null", device=dml_device) as found:
        dml_device.CreateOperator(None)
    assert len(found.messages) == 1

def test_no_debug_layer(dml):
    d.D3D12GetDebugInterface().DisableDebugLayer()
    with pytest.raises(ValueError, match="without the debug layer"):
        dml.watch(d.D3D12CreateDevice())
"""
    )
    result.assert_outcomes(passed=4, failed=2)
    result.stdout.fnmatch_lines_random(["FAILED *::test_two_on_one*", "FAILED *::test_watched -*"])


def test_the_debug_layer_is_as_it_was(suite):
    result = suite(
        """
def is_on():
    return d.D3D12CreateDevice().info_queue is not None

def test_before():
    assert not is_on()

def test_during(d3d12_device):
    assert is_on()
    assert not d3d12_device.QueryInterface(d.ID3D12InfoQueue).GetBreakOnSeverity(d.D3D12_MESSAGE_SEVERITY_ERROR)

def test_after():
    assert not is_on()

def test_wrong(d3d12_device):
    assert False

def test_after_a_failure():
    assert not is_on()
    d.D3D12GetDebugInterface().EnableDebugLayer()

def test_on_before(d3d12_device):
    pass

def test_on_after():
    assert is_on()
"""
    )
    result.assert_outcomes(passed=6, failed=1)


def test_a_failing_test_fails_once(suite):
    result = suite(
        """
def test_wrong(dml_device):
    with pytest.raises(d.DMLError):
        dml_device.CreateOperator(None)
    assert 1 == 2

@pytest.mark.xfail(strict=True)
def test_known(dml_device):
    report(dml_device.GetParentDevice(), "ERROR", "known")
"""
    )
    result.assert_outcomes(failed=1, xfailed=1)
    result.stdout.fnmatch_lines(["*assert 1 == 2"])


LEVELS = """
def level(device):
    query = d.DML_FEATURE_QUERY_FEATURE_LEVELS(RequestedFeatureLevels=list(d.DML_FEATURE_LEVEL))
    support = d.DML_FEATURE_DATA_FEATURE_LEVELS()
    device.CheckFeatureSupport(d.DML_FEATURE_FEATURE_LEVELS, query, support)
    return support.MaxSupportedFeatureLevel
"""


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        *later(([], 0x6400)),
        (["--dml-feature-level=2_1"], 0x2100),
        *later((["--dml-feature-level", "5.0"], 0x5000)),
    ],
)
def test_the_feature_level(suite, arguments, expected):
    result = suite(
        LEVELS,
        f"""
def test_option(dml_device, dml):
    assert level(dml_device) == dml.feature_level == {expected}

@pytest.mark.dml_feature_level("4_1")
def test_marker(dml_device, dml):
    assert level(dml_device) == dml.feature_level == 0x4100

@pytest.mark.dml_feature_level(d.DML_FEATURE_LEVEL_3_0)
class TestClass:
    def test_marker_of_the_class(self, dml_device):
        assert level(dml_device) == 0x3000

@pytest.mark.dml_feature_level("1_0")
def test_assertions(dml):
    x = d.tensor_desc(d.DML_TENSOR_DATA_TYPE_INT8, [1, 1, 2, 3])
    desc = d.DML_JOIN_OPERATOR_DESC(InputTensors=[x], OutputTensor=x)
    dml.assert_invalid(desc, "DML-JOIN-data-type", "InputTensors[0].DataType")
    assert dml.feature_levels(desc).lowest == 0x2100
    dml.assert_same_desc(desc, desc)
    dml.assert_valid(join())
""",
        arguments=[*arguments, "--strict-markers"],
    )
    result.assert_outcomes(passed=4)


def test_a_wrong_level_of_the_run_stops_it(suite):
    result = suite("def test_it(dml_device): pass", arguments=["--dml-feature-level=9_9"])
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    text = "ERROR: --dml-feature-level: '9_9' is not a DirectML feature level; there are 1_0,"
    output = [*result.stdout.lines, *result.stderr.lines]
    assert any(line.startswith(text) for line in output), output
    assert not any("Traceback" in line for line in output)


@pytest.mark.parametrize("workers", [[], *later((["-n", "2"],))])
def test_a_wrong_level_of_a_test_fails_that_test(suite, workers):
    result = suite(
        """
@pytest.mark.dml_feature_level("latest")
def test_named(dml_device): pass

@pytest.mark.dml_feature_level()
def test_none(): pass

@pytest.mark.dml_feature_level("4_1")
def test_right(dml): assert dml.feature_level == d.DML_FEATURE_LEVEL_4_1

def test_of_no_level(dml_device): pass
""",
        arguments=workers,
        as_installed=True,
    )
    result.assert_outcomes(passed=2, errors=2)
    result.stdout.fnmatch_lines_random(
        ["*'latest' is not a DirectML feature level*", "*dml_feature_level takes one level*"]
    )
    assert not any("INTERNALERROR" in line or "Traceback" in line for line in result.stdout.lines)


def test_other_suites_are_left_alone(suite):
    """The plugin is loaded, but not what its fixtures need; own fixtures of the same name win."""
    result = suite(
        """
import sys
import pytest

def test_no_devices_are_made(request):
    assert request.config.pluginmanager.hasplugin("directml_py")
    assert not {"directml_py.testing.plugin", "hypothesis.strategies", "cffi", "numpy"} & set(sys.modules)

@pytest.fixture
def dml_device():
    return "mine"

@pytest.fixture
def dml():
    return "mine too"

def test_own_fixtures(dml_device, dml):
    assert (dml_device, dml) == ("mine", "mine too")
    assert "directml_py.testing.plugin" not in sys.modules
""",
        as_installed=True,
        head="",
        arguments=["-W", "error"],
    )
    result.assert_outcomes(passed=2)


def test_one_device_for_all_tests(suite):
    """Hypothesis refuses fixtures of functions for tests that it runs many times."""
    result = suite(
        """
from hypothesis import given, settings
from directml_py.testing.strategies import valid_descs

@settings(max_examples=5, deadline=None)
@given(valid_descs("JOIN"))
def test_drawn(session_dml, session_dml_device, desc):
    session_dml.assert_valid(desc)
    session_dml_device.CreateOperator(desc)

def test_unexpected_though_caught(session_dml_device):
    for axis in (7, 8, 7):
        with pytest.raises(d.DMLError):
            session_dml_device.CreateOperator(join(axis))

def test_fails_by_itself(session_dml_device):
    session_dml_device.CreateOperator(join(axis=7))

def test_expected(session_dml, session_dml_device):
    with session_dml.expect("DML-JOIN-axis"):
        session_dml_device.CreateOperator(join(axis=7))

@pytest.mark.dml_feature_level("4_1")
def test_a_level_of_its_own(session_dml):
    pass

def test_devices_of_its_own():
    assert d.D3D12CreateDevice().info_queue is None
""",
        arguments=["-p", "_hypothesis_pytestplugin"],
    )
    result.assert_outcomes(passed=3, failed=2, errors=1)
    result.stdout.fnmatch_lines(
        [
            "*error: Axis is 7; it must be less than *DML-JOIN-axis[]] (2 times)",
            "*error: Axis is 8; it must be less than *DML-JOIN-axis[]]",
            "FAILED *unexpected_though_caught*",
            "FAILED *fails_by_itself*",
            "ERROR *a_level_of_its_own*",
        ]
    )


def test_errors_are_told_without_frames_of_the_package(suite):
    result = suite(
        """
def test_an_error(dml_device):
    dml_device.CreateOperator(join(axis=7))

def test_a_wait_that_never_ends(d3d12_device):
    d3d12_device.CreateFence(0).SetEventOnCompletion(1)

def test_a_message_with_its_origin(dml_device):
    fence = dml_device.d3d12_device.CreateFence(0)
    session = __import__("directml_py.session").session.Session(dml_device)
    op = session.compile(join(axis=3))
    session.initialize(op)
    session.dispatch(op, [session.buffer(24)], [session.buffer(24)])
    session.execute()

def test_a_fault_of_the_package(monkeypatch):
    monkeypatch.setattr("directml_py.shortcuts.checked", None)
    d.evaluate(join(axis=3), [[0]])
""",
        arguments=["--tb=short", "--show-capture=no"],
    )
    result.assert_outcomes(failed=4)
    result.stdout.fnmatch_lines(
        [
            "*test_an_error*",
            "test_suite.py:*: in test_an_error",
            "*DML-JOIN-axis*",
            "*test_a_wait*",
            "test_suite.py:*: in test_a_wait*",
            "*the CPU waits forever*",
            "*which nothing has written [[]D3D12-Contents-unwritten[]] (recorded at *)",
            "*test_a_fault*",
            "*directml_py/shortcuts.py:*",
        ]
    )
    text = result.stdout.str()
    assert text.index("directml_py/") > text.index("test_a_fault")


def test_the_plugin_can_be_left_out(suite):
    result = suite("def test_it(dml_device): pass", arguments=["-p", "no:directml_py"], as_installed=True)
    result.assert_outcomes(errors=1)
    result.stdout.fnmatch_lines(["*fixture 'dml_device' not found"])


def test_the_package_needs_neither_pytest_nor_hypothesis():
    code = "import sys, directml_py.testing; print(sorted({'pytest', '_pytest', 'hypothesis'} & set(sys.modules)))"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_a_profile_for_all_devices_of_the_run(suite):
    result = suite(
        """
import os

def test_devices(dml_device):
    assert dml_device.profile.name == "demanding"
    assert d.DMLCreateDevice(d.D3D12CreateDevice()).profile.name == "demanding"
    assert d.DMLCreateDevice(d.D3D12CreateDevice(), profile="kind").profile.name == "kind"
    # Programs that the tests start follow it too.
    assert os.environ["DIRECTML_PY_PROFILE"] == "demanding"
""",
        arguments=["--dml-profile=demanding"],
    )
    result.assert_outcomes(passed=1)


def test_an_unknown_profile_stops_the_run(suite):
    result = suite("def test(): pass", arguments=["--dml-profile=gentle"])
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--dml-profile: profile is 'gentle'; the profiles are kind, demanding,*"])
