"""Threads of C programs with small stacks: what works, and what tells why the process ends."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from toolchain import missing

from .building import config

# Without Direct3D's headers, which may be missing.
PROGRAM = """\
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

extern int32_t D3D12CreateDevice(void *adapter, int level, const void *iid, void **device);
static const unsigned char iid[16] = {0xf1, 0x19, 0x98, 0x18, 0xb6, 0x1d, 0x57, 0x4b,
                                      0xbe, 0x54, 0x18, 0x21, 0x33, 0x9b, 0x85, 0xf7};

static void *run(void *name)
{
    void *device = NULL;
    const int32_t found = D3D12CreateDevice(NULL, 0xb000, iid, &device);
    printf("%s 0x%08x\\n", (const char *)name, (unsigned)found);
    fflush(stdout);
    return NULL;
}

int main(int count, char **arguments)
{
    pthread_attr_t attributes;
    pthread_t thread;
    if (count > 2)
        run("main");
    pthread_attr_init(&attributes);
    if (pthread_attr_setstacksize(&attributes, (size_t)atoi(arguments[1]) << 10) != 0)
        return 2;
    pthread_create(&thread, &attributes, run, "thread");
    pthread_join(thread, NULL);
    return 0;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    if shutil.which("gcc") is None:
        missing("gcc")
    folder = tmp_path_factory.mktemp("stacks")
    (folder / "program.c").write_text(PROGRAM, encoding="utf-8")
    command = ["gcc", "-Wall", "-Werror", "-pthread", folder / "program.c", "-o", folder / "program"]
    subprocess.run([*command, *config("--libs")], check=True)
    return folder / "program"


def run(*command):
    return subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=120, check=False)


@pytest.mark.parametrize("loaded_before", [False, True])
def test_64_kib_are_enough(program, loaded_before):
    found = run(program, 64, *["main first"] * loaded_before)
    assert found.returncode == 0
    assert found.stdout.splitlines()[-1] == "thread 0x00000000"
    assert found.stderr == ""


def test_an_overflow_is_told_before_it_happens(program):
    """Loading the package needs more than 16 KiB."""
    found = run(program, 16)
    assert found.returncode < 0
    assert "directml-py: a thread calls with" in found.stderr
    assert "KiB of its stack left" in found.stderr
    assert found.stderr.count("directml-py:") == 1


def test_most_calls_need_less_than_the_first(program):
    """The reason is only told: a program that works goes on."""
    found = run(program, 32, "main first")
    assert (found.returncode, len(found.stdout.splitlines())) == (0, 2)
