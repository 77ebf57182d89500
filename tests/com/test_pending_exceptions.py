"""Programs that call COM methods while a Python exception of theirs is set, as PyTorch does where it frees tensors."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest
from sharing import built_once, shared_folder
from toolchain import missing, need_d3d12_headers

from .building import WARNINGS, config

SOURCE = r"""
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <DirectML.h>

// raise_and_call(exception, hold): what the calls gave is printed; the exception is raised where they left it.
static PyObject* raise_and_call(PyObject*, PyObject* arguments)
{
    PyObject* exception;
    int hold;
    if (!PyArg_ParseTuple(arguments, "Op", &exception, &hold))
        return nullptr;
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(exception)), exception);
    PyThreadState* const state = hold ? nullptr : PyEval_SaveThread();

    ID3D12Device* device = nullptr;
    ID3D12CommandQueue* queue = nullptr;
    ID3D12Fence* none = nullptr;
    D3D12_COMMAND_QUEUE_DESC desc = {};
    desc.Type = D3D12_COMMAND_LIST_TYPE_COMPUTE;
    desc.Priority = D3D12_COMMAND_QUEUE_PRIORITY_HIGH;
    const HRESULT made = D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&device));
    if (SUCCEEDED(made) && SUCCEEDED(device->CreateCommandQueue(&desc, IID_PPV_ARGS(&queue))))
    {
        const HRESULT refused = queue->QueryInterface(IID_PPV_ARGS(&none));
        const D3D12_COMMAND_QUEUE_DESC found = queue->GetDesc();
        const ULONG left = queue->Release();
        std::printf("%08X %d %d %u", unsigned(refused), found.Type, found.Priority, unsigned(left));
        std::printf(" %u\n", unsigned(device->Release()));
    }
    std::fflush(stdout);
    if (state != nullptr)
        PyEval_RestoreThread(state);
    return nullptr;
}

static PyMethodDef methods[] = {{"raise_and_call", raise_and_call, METH_VARARGS, nullptr}, {}};
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "caller", nullptr, -1, methods, nullptr, nullptr, nullptr, nullptr};

PyMODINIT_FUNC PyInit_caller()
{
    return PyModule_Create(&module);
}
"""
# The first call loads the package, with the exception set; what it holds of devices is gone by the second.
PROGRAM = """\
import caller, sys
for hold in map(int, sys.argv[1:]):
    mine = LookupError("the program's own")
    try:
        caller.raise_and_call(mine, hold)
    except LookupError as caught:
        print(caught is mine, caught.__context__, caught.__traceback__.tb_next, flush=True)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """That of the extension module ``caller``."""
    need_d3d12_headers()
    headers = sysconfig.get_path("include")
    if not Path(headers, "Python.h").is_file():
        missing("Python.h")

    def build(folder: Path) -> None:
        source = folder / "caller.cpp"
        source.write_text("#include <cstdio>\n" + SOURCE, encoding="utf-8")
        options = ["-std=c++17", "-fPIC", *WARNINGS, "-isystem", headers, *config("--cflags")]
        target = folder / f"caller{sysconfig.get_config_var('EXT_SUFFIX')}"
        command = ["g++", "-shared", *options, str(source), "-o", str(target), *config("--libs")]
        made = subprocess.run(command, capture_output=True, text=True)
        assert made.returncode == 0, made.stderr

    return built_once(shared_folder(tmp_path_factory, "pending"), build)


@pytest.mark.parametrize("holds", ["1", "0", "101"])
def test_a_pending_exception_stays_and_disturbs_nothing(folder: Path, holds: str) -> None:
    """With the GIL ("1") and without. E_NOINTERFACE is an exception of ours that must not take its place."""
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, *holds], capture_output=True, text=True, timeout=120, cwd=folder
    )
    # COMPUTE is 2, HIGH 100; nothing has a reference to the queue or the device afterwards.
    assert run.stdout.splitlines() == ["80004002 2 100 0 0", "True None None"] * len(holds), run
    assert (run.returncode, run.stderr) == (0, "")
