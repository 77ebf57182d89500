"""``python -m directml_py wine``: exit codes, streams, signals, arguments, captures, and prefixes of the user's."""

from __future__ import annotations

import hashlib
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from com.building import MINGW, Builder
from toolchain import later

from directml_py.capturing import VARIABLE
from directml_py.capturing.parser import read_capture
from directml_py.capturing.replay import replay
from directml_py.wine.loader import DLLS, dll_path
from directml_py.wine.prefix import SYSTEM32, end, running

from .conftest import PATIENCE, Wine

Program = Callable[[str], Path]
# Ways in which the program itself decides its exit code, and those in which Wine or the C library does.
ENDS = {
    "return": 7,
    "exit": 9,
    "exit_now": 8,
    # A process of Linux has the low byte; Wine makes a 1 of what would be 0.
    "large": 0x34,
    "multiple": 1,
    "terminate": 5,
    "abort": 3,
    "throw": 3,
    "throw_across": 21,
    "unload": 24,
    "small_stack": 25,
    "in_a_wait": 11,
    "in_a_computation": 12,
    "by_another_thread": 13,
    "terminate_in_a_computation": 14,
    "after_a_killed_thread": 15,
}
# The low byte of STATUS_ACCESS_VIOLATION and of the program's own exception. Where a process has other threads, as the
# bridge has one, Wine 8 sometimes ends it with 0 instead, whether or not it uses DirectML.
CRASHES = {"crash": {0x05, 0}, "crash_in_a_computation": {0x05, 0}, "raise": {0x01, 0}}


# In the fast set, one of each kind: by the program, by the C library, by Wine, and while another thread computes.
QUICK = ("return", "large", "throw", "terminate", "throw_across", "in_a_wait", "terminate_in_a_computation")


@pytest.mark.parametrize("topic", [*QUICK, *later(*(topic for topic in ENDS if topic not in QUICK))])
def test_exit_codes(wine: Wine, program: Program, topic: str) -> None:
    run = wine.run(program("ends"), topic)
    assert run.returncode == ENDS[topic], run.stderr


SLOW_EXIT = """
#include <sys/syscall.h>
#include <unistd.h>
void _exit(int status) { sleep(2); syscall(SYS_exit_group, status); __builtin_unreachable(); }
"""


@pytest.mark.parametrize("topic", ["exit", "in_a_computation"])
def test_a_process_that_waits_to_exit_keeps_its_code(
    wine: Wine, program: Program, tmp_path: Path, topic: str
) -> None:
    """As on a loaded machine, after Wine has closed the connection to its server: that would kill it."""
    (tmp_path / "slow_exit.c").write_text(SLOW_EXIT, encoding="utf-8")
    library = tmp_path / "slow_exit.so"
    build = ["gcc", "-shared", "-fPIC", "-o", str(library), str(tmp_path / "slow_exit.c")]
    subprocess.run(build, check=True)
    command = f"LD_PRELOAD={library} exec {wine.loader} {program('ends')} {topic}"
    shell = ["sh", "-c", f"{wine.run('--environment').stdout}{command}"]
    assert subprocess.run(shell, env=wine.environment(), timeout=PATIENCE).returncode == ENDS[topic]


@pytest.mark.parametrize("topic", ["crash_in_a_computation", *later("crash", "raise")])
def test_crashes_end_a_program(wine: Wine, program: Program, topic: str) -> None:
    run = wine.run(program("ends"), topic)
    assert run.returncode in CRASHES[topic], run.stderr
    assert "Unhandled" in run.stderr


@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGTERM])
def test_signals_end_a_program(wine: Wine, program: Program, which: signal.Signals) -> None:
    process = subprocess.Popen(
        wine.command(program("ends"), "sleep"),
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=wine.environment(),
    )
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(which)
        # Wine makes a Ctrl-C of SIGINT, after which a program that does nothing about it ends with 0.
        assert process.wait(PATIENCE) == (-which if which == signal.SIGTERM else 0)


@pytest.mark.parametrize("locale", ["C", "C.UTF-8"])
def test_arguments_and_streams(wine: Wine, program: Program, tmp_path: Path, locale: str) -> None:
    folder = tmp_path / "ä ü"
    folder.mkdir()
    shutil.copy(program("streams"), folder / "ö ß.exe")
    words = ["with space", "ä€😀", "", "--help", "--", "--prefix", 'a"b\\', "*", "end"]
    text = "typed\nlines\n" * 10_000
    run = wine.run("ö ß.exe", *words, stdin=text, cwd=folder, LC_ALL=locale)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout == "".join(f"{word}\n" for word in words) + text


def test_a_capture_of_a_windows_program_is_replayed(wine: Wine, builder: Builder, tmp_path: Path) -> None:
    program = builder.program("object_model", MINGW["object_model"])
    out = tmp_path / "out"
    run = subprocess.run(
        [sys.executable, "-m", "directml_py", "capture", str(out), "--", "wine", str(program), "captured"],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        env={name: value for name, value in wine.environment().items() if name != VARIABLE},
    )
    assert run.returncode == 0, run.stderr
    assert "ok the work is done" in run.stdout
    (log,) = read_capture(out)
    assert log.ended
    again = list(replay(log))
    assert len(again) == 3
    assert [str(one) for _, differences in again for one in differences] == []


def listing(prefix: Path) -> dict[str, str]:
    """Every file with its digest, without those of the registry, which Wine writes whenever it likes."""
    return {
        str(path.relative_to(prefix)): hashlib.sha256(path.read_bytes()).hexdigest()
        for folder in (prefix, prefix / SYSTEM32)
        for path in folder.iterdir()
        if path.is_file() and path.suffix not in (".reg", ".tmp")
    }


def test_install_and_uninstall_leave_a_prefix_as_it_was(wine: Wine, copied: Path) -> None:
    # Windows does not distinguish the case of letters.
    (copied / SYSTEM32 / "DirectML.dll").write_bytes(b"Microsoft's")
    before = listing(copied)
    for _ in range(2):
        assert wine.run("--install", copied).returncode == 0
    during = listing(copied)
    assert all(
        during[str(SYSTEM32 / f"{name}.dll")] == hashlib.sha256(dll_path(name).read_bytes()).hexdigest()
        for name in DLLS
    )
    assert str(SYSTEM32 / "DirectML.dll") not in during
    for _ in range(2):
        assert wine.run("--uninstall", copied).returncode == 0
    assert listing(copied) == before


def test_a_prefix_of_the_users(wine: Wine, program: Program, copied: Path) -> None:
    run = wine.run("--prefix", copied, program("ends"), "return")
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == (
        f"wine: the DLLs are not installed in {copied}; run: python -m directml_py wine --install {copied}\n"
    )
    assert wine.run("--install", copied).returncode == 0
    # As an update of Wine may do it.
    replaced = copied / SYSTEM32 / "d3d12.dll"
    replaced.unlink()
    replaced.write_bytes(b"Wine's")
    run = wine.run("--prefix", copied, program("ends"), "return")
    assert run.stderr == f"wine: the DLLs in {copied} were other ones; installed again\n"
    assert run.returncode == 7
    assert wine.run("--uninstall", copied).returncode == 0
    assert replaced.read_bytes() == b"Wine's"
    end(copied)


def test_the_environment_for_a_shell(wine: Wine, program: Program) -> None:
    run = wine.run("--environment")
    assert (run.returncode, run.stderr) == (0, "")
    command = f"{run.stdout}exec {wine.loader} {program('ends')} exit"
    assert subprocess.run(["sh", "-c", command], env=wine.environment(), timeout=PATIENCE).returncode == 9


def test_a_start_without_the_environment_says_what_is_missing(wine: Wine, program: Program) -> None:
    variables = wine.environment(WINEPREFIX=str(wine.prefix), WINEDEBUG="-all")
    variables["WINEDLLOVERRIDES"] = "d3d12,dxgi,dxcore=n;directml=b"
    command = [wine.loader, str(program("ends")), "return"]
    run = subprocess.run(command, env=variables, stderr=subprocess.PIPE, text=True, timeout=PATIENCE)
    assert "start programs by python -m directml_py wine" in run.stderr
    assert run.returncode == 99


@pytest.mark.parametrize(("threads", "rounds"), [(24, 10), *later((24, 2000))])
def test_threads_that_wait_for_each_other(wine: Wine, program: Program, threads: int, rounds: int) -> None:
    run = wine.run(program("waits"), str(threads), str(rounds))
    assert (run.returncode, run.stdout) == (0, "0\n"), run.stderr


@pytest.mark.slow
def test_many_starts_and_ends(wine: Wine, program: Program) -> None:
    path = program("ends")
    assert {wine.run(path, "return").returncode for _ in range(50)} == {7}


@pytest.mark.slow
def test_two_processes_create_the_prefix_at_once(wine: Wine, program: Program, tmp_path: Path) -> None:
    other = Wine(wine.loader, tmp_path / "cache")
    command = other.command(program("ends"), "return")
    both = [
        subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=other.environment())
        for _ in range(2)
    ]
    texts = [process.communicate(timeout=PATIENCE)[1] for process in both]
    assert [process.returncode for process in both] == [7, 7]
    assert "".join(texts).count("creating the Wine prefix") == 1
    other.end()
    shutil.rmtree(other.cache)


@pytest.mark.slow
@pytest.mark.parametrize("which", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_creation_is_done_again(
    wine: Wine, program: Program, tmp_path: Path, which: signal.Signals
) -> None:
    other = Wine(wine.loader, tmp_path / "cache")
    command = other.command(program("ends"), "return")
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=other.environment()) as process:
        assert process.stderr is not None
        process.stderr.readline()
        while not (other.prefix / SYSTEM32).exists():
            assert process.poll() is None
        process.send_signal(which)
    orphans = running(other.prefix).keys()
    assert bool(orphans) == (which == signal.SIGKILL)
    run = other.run(program("ends"), "return")
    assert run.returncode == 7, run.stderr
    assert not orphans & running(other.prefix).keys()
    other.end()
    shutil.rmtree(other.cache)
