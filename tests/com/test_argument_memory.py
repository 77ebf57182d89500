"""Which memory the library takes for readable without asking the kernel to copy it."""

from __future__ import annotations

import shutil
import subprocess
import sysconfig
from pathlib import Path

from toolchain import missing

SOURCES = Path(__file__).parents[2] / "tools" / "building"
PROGRAM = f"""\
#define _GNU_SOURCE
#include <Python.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "{SOURCES / "linux_host.c"}"
#include "{SOURCES / "caller_stack.c"}"
#include "{SOURCES / "argument_memory.c"}"

static void look(const char *what, uintptr_t address, size_t size)
{{
    errno = 42;
    printf("%s %d%s\\n", what, dmlpy_is_readable(address, size), errno == 42 ? "" : ", and errno has changed");
}}

int main(void)
{{
    const int own = 0;
    char *const pages = mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const uintptr_t first = (uintptr_t)pages;
    dmlpy_can_ask = !dmlpy_is_mapped(8);
    mprotect(pages + 2 * 4096, 4096, PROT_NONE);
    munmap(pages + 3 * 4096, 4096);
    look("one page", first, 4096);
    look("an odd place", first + 4093, 3);
    look("two pages", first + 4090, 12);
    look("up to the end", first + 4096, 4096);
    look("one byte more", first + 4096, 4097);
    look("three pages", first, 3 * 4096);
    look("protected", first + 2 * 4096, 1);
    look("not mapped", first + 3 * 4096 + 8, 1);
    look("null", 0, 1);
    look("around the end", UINTPTR_MAX - 4, 8);
    look("all", first, SIZE_MAX);
    look("own frame", (uintptr_t)&own, sizeof own);
    dmlpy_can_ask = 0;
    look("where it cannot ask", first, 1);
    look("own frame, where it cannot", (uintptr_t)&own, sizeof own);
    return 0;
}}
"""


def test_what_is_readable(tmp_path):
    if shutil.which("gcc") is None:
        missing("gcc")
    source, program = tmp_path / "look.c", tmp_path / "look"
    source.write_text(PROGRAM, encoding="utf-8")
    library = sysconfig.get_config_var("LDLIBRARY")
    folder = sysconfig.get_config_var("LIBDIR")
    if not library.endswith(".so"):
        missing("a shared libpython")
    options = ["-Wall", "-Werror", "-Wno-unused-function", f"-I{sysconfig.get_path('include')}"]
    link = [f"-L{folder}", f"-Wl,-rpath,{folder}", f"-l{library.removeprefix('lib').removesuffix('.so')}"]
    subprocess.run(["gcc", *options, "-pthread", source, "-o", program, *link], check=True)
    found = subprocess.run([program], capture_output=True, text=True, check=True)
    assert found.stdout.splitlines() == [
        "one page 1",
        "an odd place 1",
        "two pages 1",
        "up to the end 1",
        "one byte more 0",
        "three pages 0",
        "protected 0",
        "not mapped 0",
        "null 0",
        "around the end 0",
        "all 0",
        "own frame 1",
        "where it cannot ask 0",
        "own frame, where it cannot 1",
    ]
