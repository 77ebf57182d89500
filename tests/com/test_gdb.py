"""GDB shows what the COM objects of a C++ program are, by calling the program or, as of a core dump, without."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

import pytest
from sharing import built_once, shared_folder
from toolchain import missing, need_d3d12_headers

from .building import config, config_path, library

PROGRAM = r"""
#include <DirectML.h>
#include <wrl/client.h>
using Microsoft::WRL::ComPtr;
static void stop() {}
int main()
{
    ComPtr<ID3D12Device> direct3d;
    ComPtr<IDMLDevice> device;
    D3D12CreateDevice(nullptr, D3D_FEATURE_LEVEL_11_0, IID_PPV_ARGS(&direct3d));
    DMLCreateDevice(direct3d.Get(), DML_CREATE_DEVICE_FLAG_NONE, IID_PPV_ARGS(&device));

    D3D12_HEAP_PROPERTIES heap = {D3D12_HEAP_TYPE_UPLOAD};
    D3D12_RESOURCE_DESC buffer = {D3D12_RESOURCE_DIMENSION_BUFFER, 0, 256, 1, 1, 1, DXGI_FORMAT_UNKNOWN, {1, 0},
                                  D3D12_TEXTURE_LAYOUT_ROW_MAJOR, D3D12_RESOURCE_FLAG_NONE};
    ComPtr<ID3D12Resource> weights;
    direct3d->CreateCommittedResource(&heap, D3D12_HEAP_FLAG_NONE, &buffer, D3D12_RESOURCE_STATE_GENERIC_READ, nullptr,
                                      IID_PPV_ARGS(&weights));
    weights->SetName(L"weights");
    ID3D12Resource *raw = weights.Get(), *nothing = nullptr;
    raw->AddRef();

    UINT sizes[] = {1, 1, 2, 3};
    DML_BUFFER_TENSOR_DESC memory = {DML_TENSOR_DATA_TYPE_FLOAT32, DML_TENSOR_FLAG_NONE, 4, sizes, nullptr, 24, 0};
    DML_TENSOR_DESC tensor = {DML_TENSOR_TYPE_BUFFER, &memory};
    DML_ELEMENT_WISE_ABS_OPERATOR_DESC abs = {&tensor, &tensor, nullptr};
    DML_OPERATOR_DESC desc = {DML_OPERATOR_ELEMENT_WISE_ABS, &abs};
    ComPtr<IDMLOperator> op;
    ComPtr<IDMLCompiledOperator> compiled;
    device->CreateOperator(&desc, IID_PPV_ARGS(&op));
    device->CompileOperator(op.Get(), DML_EXECUTION_FLAG_NONE, IID_PPV_ARGS(&compiled));

    ComPtr<ID3D12CommandAllocator> allocator;
    ComPtr<ID3D12GraphicsCommandList> list;
    direct3d->CreateCommandAllocator(D3D12_COMMAND_LIST_TYPE_DIRECT, IID_PPV_ARGS(&allocator));
    direct3d->CreateCommandList(0, D3D12_COMMAND_LIST_TYPE_DIRECT, allocator.Get(), nullptr, IID_PPV_ARGS(&list));
    stop();

    list->Close();
    raw->Release();
    weights.Reset();
    unsigned char bytes[64] = {};
    ID3D12Resource* wild = reinterpret_cast<ID3D12Resource*>(bytes);
    stop();
    return nothing == wild;
}
"""


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for tool in ("gdb", "g++"):
        if shutil.which(tool) is None:
            missing(tool)
    need_d3d12_headers()
    library()

    def build(folder: Path) -> None:
        (folder / "program.cpp").write_text(PROGRAM, encoding="utf-8")
        options = ["-std=c++17", "-g", "-O0", *config("--cflags"), "program.cpp", "-o", "program"]
        subprocess.run(["g++", *options, *config("--libs")], check=True, cwd=folder)

    return built_once(shared_folder(tmp_path_factory, "gdb"), build) / "program"


def _without_amx(folder: Path) -> list[str]:
    """Options of a GDB that cannot write the registers of a processor with AMX, as none before 14 can, and so cannot
    call functions: a description of the processor that has SSE alone."""
    version = subprocess.run(["gdb", "--version"], capture_output=True, text=True, check=True).stdout
    numbers = re.search(r"(\d+)\.\d", version)
    cpu = Path("/proc/cpuinfo")
    if numbers is None or int(numbers[1]) >= 14 or not cpu.exists() or " amx_tile" not in cpu.read_text():
        return []
    command = ["gdb", "-q", "-nx", "-batch", "-ex", "starti", "-ex", "maint print xml-tdesc", "/bin/true"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    text = printed[printed.index("<?xml") :]
    (folder / "processor.xml").write_text(
        re.sub(
            r'<feature name="org.gnu.gdb.i386.(?:avx|avx512|pkeys)">.*?</feature>', "", text, flags=re.DOTALL
        )
    )
    return ["-iex", f"set tdesc filename {folder / 'processor.xml'}"]


def shown(program: Path, settings: Sequence[str], *expressions: str) -> list[list[str]]:
    """What GDB prints of expressions at the program's first stop and at its second, the addresses left out."""
    at_stop = ["-ex", "up", *(part for text in expressions for part in ("-ex", f"print {text}"))]
    after_start = [part for text in settings for part in ("-ex", text)]
    command = ["gdb", "-q", "-nx", "-batch", "-iex", "set debuginfod enabled off"]
    command += ["-iex", f"add-auto-load-safe-path {config_path('--libdir')}"]
    command += _without_amx(program.parent)
    command += [
        "-ex",
        "break stop",
        "-ex",
        "run",
        *after_start,
        *at_stop,
        "-ex",
        "continue",
        *at_stop,
        str(program),
    ]
    run = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if "ptrace" in run.stderr and "not permitted" in run.stderr:
        pytest.skip("this machine permits no debugger")
    values = re.findall(r"^\$\d+ = (.*)$", run.stdout, re.MULTILINE)
    assert len(values) == 2 * len(expressions), run.stdout + run.stderr
    plain = [re.sub(r"0x[0-9a-f]+ (?=<?I)", "", value) for value in values]
    return [plain[: len(expressions)], plain[len(expressions) :]]


def test_name_kind_and_state(program: Path) -> None:
    first, second = shown(program, [], "raw", "weights", "compiled", "list", "device", "nothing", "sizes[3]")
    assert first[0] == "<ID3D12Resource2 'weights': buffer of 256 bytes, UPLOAD heap>, 2 references"
    assert first[1] == first[0]
    assert first[2] == (
        "<IDMLCompiledOperator: ELEMENT_WISE_ABS FLOAT32 {1,1,2,3} -> FLOAT32 {1,1,2,3}; not initialized>, 1 reference"
    )
    assert first[3] == "<ID3D12GraphicsCommandList4: DIRECT, open, 0 commands>, 1 reference"
    assert re.fullmatch(r"<IDMLDevice1: DML_FEATURE_LEVEL_\d_\d>, 1 reference", first[4])
    assert first[5:] == ["(ID3D12Resource *) 0x0", "3"]
    assert second[0].startswith("ID3D12Resource 'weights', whose last reference was released by program+0x")
    assert second[3] == "<ID3D12GraphicsCommandList4: DIRECT, closed, 0 commands>, 1 reference"


@pytest.mark.slow
def test_the_page_shows_what_gdb_prints(program: Path) -> None:
    page = (Path(__file__).resolve().parents[2] / "docs/debugging/debuggers.md").read_text(encoding="utf-8")
    printed = re.findall(r"^\(gdb\) print (.*)\n\$\d = 0x\w+ (.*)$", page, re.MULTILINE)
    assert len(printed) == 4
    first, second = shown(program, [], *(expression for expression, _ in printed))
    assert first[:3] == [text for _, text in printed[:3]]
    # Which address released it depends on compiler and C library.
    assert second[3].partition("+0x")[0] == printed[3][1].partition("+0x")[0]


@pytest.mark.slow
def test_without_calls_the_memory_tells_interface_and_references(program: Path) -> None:
    """And a pointer to what is no object of the library is shown as any other."""
    first, second = shown(program, ["set print directml-calls off"], "raw", "list")
    assert first == ["<ID3D12Resource2>, 2 references", "<ID3D12GraphicsCommandList4>, 1 reference"]
    assert second[0] == "<ID3D12Resource2>, 0 references"
    _, (wild,) = shown(program, [], "wild")
    assert re.fullmatch(r"(\(ID3D12Resource \*\) )?0x[0-9a-f]+", wild)


@pytest.mark.slow
def test_any_debugger_can_call_the_function(program: Path) -> None:
    (text,), _ = shown(program, [], "((const char *(*)(const void *)) directml_py_describe)(list.ptr_)")
    assert text.endswith('"<ID3D12GraphicsCommandList4: DIRECT, open, 0 commands>, 1 reference"')
    (nothing, bytes_), _ = shown(
        program,
        [],
        *(f"((const char *(*)(const void *)) directml_py_describe)({what})" for what in ("0", "sizes")),
    )
    assert nothing.endswith('""')
    assert bytes_.endswith('""')
