"""Which addresses the library takes for the caller's own frames, and reads without asking the kernel."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from toolchain import missing

BUILDING = Path(__file__).parents[2] / "tools" / "building"
PROGRAM = f"""\
#define _GNU_SOURCE
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include "{BUILDING / "linux_host.c"}"
#include "{BUILDING / "caller_stack.c"}"

static int global;
static ucontext_t outer, inner;

static __attribute__((noinline)) void look(const char *where)
{{
    volatile int own = 0;
    int *const heap = malloc(sizeof *heap);
    const uintptr_t here = (uintptr_t)&own, top = dmlpy_stack_top;
    printf("%s %d", where, dmlpy_is_on_stack(here, sizeof own));
    printf(" %d", dmlpy_is_on_stack((uintptr_t)&global, sizeof global));
    printf(" %d", dmlpy_is_on_stack((uintptr_t)heap, sizeof *heap));
    printf(" %d", dmlpy_is_on_stack(here, SIZE_MAX));
    printf(" %d", dmlpy_is_on_stack(here - (1 << 16), 4));
    printf(" %d", dmlpy_is_on_stack(0, 4));
    printf(" %d\\n", top != 0 && dmlpy_is_on_stack(top - 4, 8));
    free(heap);
}}

static void *run(void *unused)
{{
    look("thread");
    return unused;
}}

static void switched(void)
{{
    look("own-stack");
}}

int main(void)
{{
    pthread_t thread;
    look("main");
    pthread_create(&thread, NULL, run, NULL);
    pthread_join(thread, NULL);
    getcontext(&inner);
    inner.uc_stack.ss_size = 1 << 18;
    inner.uc_stack.ss_sp = malloc(inner.uc_stack.ss_size);
    inner.uc_link = &outer;
    makecontext(&inner, switched, 0);
    swapcontext(&outer, &inner);
    look("main-again");
    return 0;
}}
"""


@pytest.mark.parametrize("limit", ["8192", "unlimited"])
def test_only_frames_of_the_thread(tmp_path, limit):
    if shutil.which("gcc") is None:
        missing("gcc")
    source, program = tmp_path / "look.c", tmp_path / "look"
    source.write_text(PROGRAM, encoding="utf-8")
    subprocess.run(
        ["gcc", "-Wall", "-Werror", "-Wno-unused-function", "-pthread", source, "-o", program], check=True
    )
    found = subprocess.run(
        ["bash", "-c", f"ulimit -S -s {limit} && exec {program}"], capture_output=True, text=True, check=True
    )
    nothing = "0 0 0 0 0 0"
    assert found.stdout.splitlines() == [
        f"main 1 {nothing}",
        f"thread 1 {nothing}",
        f"own-stack 0 {nothing}",
        f"main-again 1 {nothing}",
    ]
