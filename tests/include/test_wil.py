"""The wil/ headers: macros that throw, return, log and abort; handles and events that close themselves."""

from __future__ import annotations

import signal

import pytest
from programs import CPP, Programs

ABORTS = {
    "fail_fast_if_failed": "0x80004005 E_FAIL",
    "fail_fast_if": "0x8000FFFF E_UNEXPECTED",
    "fail_fast": "0x8000FFFF E_UNEXPECTED",
    "fail_fast_msg": "E_UNEXPECTED: message 5",
    "throw_a_success": "a success is reported as a failure",
    "throw_a_success_if": "a success is reported as a failure",
    "wait_for_nothing": "0x80070006 E_HANDLE",
}


@pytest.mark.parametrize("compiler", CPP)
def test_cases(programs: Programs, compiler: str) -> None:
    programs.check(compiler, "wil.cpp", *ABORTS, "log_lines")


@pytest.mark.parametrize("case", ABORTS)
@pytest.mark.parametrize("compiler", CPP)
def test_failing_fast_says_why_and_aborts(programs: Programs, compiler: str, case: str) -> None:
    run = programs.run(compiler, "wil.cpp", case)
    assert run.returncode == -signal.SIGABRT
    assert ABORTS[case] in run.stderr


@pytest.mark.parametrize("compiler", CPP)
def test_log(programs: Programs, compiler: str) -> None:
    run = programs.run(compiler, "wil.cpp", "log_lines")
    assert run.returncode == 0
    lines = run.stderr.splitlines()
    wanted = ["E_FAIL: first 1", "E_ABORT: second", "0x8007023E: third", "E_OUTOFMEMORY: "]
    assert len(lines) == len(wanted), run.stderr
    for line, part in zip(lines, wanted):
        assert "wil.cpp(" in line
        assert part in line


@pytest.mark.parametrize("argument", ["true", "5u", "GetLastError()"])
@pytest.mark.parametrize("compiler", CPP)
def test_what_is_no_hresult_does_not_compile(toolchain, compiler: str, argument: str) -> None:
    text = "#include <wil/result.h>\nvoid f();\nvoid f() { THROW_IF_FAILED(%s); }\n"
    assert "an HRESULT is expected" in toolchain.errors(compiler, text % argument, d3d12=True)
    assert toolchain.errors(compiler, text % "E_FAIL", d3d12=True) == ""


@pytest.mark.parametrize("compiler", CPP)
def test_a_wrong_message_format_is_noticed(toolchain, compiler: str) -> None:
    text = '#include <wil/result.h>\nvoid f();\nvoid f() { THROW_HR_IF_MSG(E_FAIL, true, "%%d", %s); }\n'
    assert "-Wformat" in toolchain.errors(compiler, text % '"x"', d3d12=True).replace("-Werror=", "-W")
    assert toolchain.errors(compiler, text % "1", d3d12=True) == ""
