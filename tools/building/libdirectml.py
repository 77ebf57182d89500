"""The C source of ``libdirectml.so``: cffi's embedding of Python, and the vtables, from the API catalog.

With the Windows ABI it is that of the library behind ``directml_py.dll``, for Windows programs under Wine.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import cffi
from generators.catalog import Catalog, Function, Interface, Struct
from generators.cffi_module import FIXED, struct_text
from generators.com_interfaces import vtable_interfaces
from generators.header.interface_vtables import inherited

HERE = Path(__file__).resolve().parent
WINE = HERE / "wine"
MODULE = "_libdirectml"
# Libraries that programs load by the names of other DLLs, and the prefixes of the functions that each forwards.
FORWARDERS = {"libd3d12": "D3D12", "libdxcore": "DXCore"}
# The library that `exec` preloads: it forwards everything, and needs no Python until a function is called.
PRELOADED = "libdirectml_preload"
LIBRARY_NAMES = frozenset({"libdirectml", *FORWARDERS, PRELOADED})
# The version node of Direct3D's functions in Microsoft's library for Linux; DirectML's and DXCore's have none.
VERSION_NODE = "VER_1"
# The prefix of an exported function's second name, by which forwarders call it.
ALIAS = "directml_py_"
EXPORTED = '__attribute__((visibility("default")))'


class Abi(NamedTuple):
    """How programs call the library: an attribute of its functions, whether a struct is returned through a pointer
    after ``this``, as by MSVC, and the part of the library that knows the program's system."""

    attribute: str
    hides_results: bool
    host: str


SYSTEM_V = Abi("", False, "linux_host")
WINDOWS = Abi("__attribute__((ms_abi))", True, "wine_host")
WORDS = {
    **FIXED,
    "void": "void",
    "HRESULT": "int32_t",
    "ULONG": "uint32_t",
    "LONG": "int32_t",
    "bool": "_Bool",
}
WORDS["D3D12_GPU_VIRTUAL_ADDRESS"] = "uint64_t"
ADDRESSES = frozenset(
    {
        "REFIID",
        "REFGUID",
        "REFCLSID",
        "PCWSTR",
        "LPCWSTR",
        "PCSTR",
        "LPCSTR",
        "LPCVOID",
        "HANDLE",
        "HMODULE",
        "D3D12MessageFunc",
    }
)
# The init code runs once, in whichever thread calls an exported function first. Whatever module of that name is on the
# path, the package must be the one that the library belongs to.
START = """\
import gc
import os
import sys
from importlib import util
from _libdirectml import ffi, lib

def load(folder):
    spec = util.spec_from_file_location("directml_py", folder + "/__init__.py")
    module = util.module_from_spec(spec)
    sys.modules["directml_py"] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        del sys.modules["directml_py"]
        raise

try:
    package, _, inside = os.fsdecode(ffi.string(lib.dmlpy_folder())).rpartition("/com/")
    if "directml_py" not in sys.modules and inside == "lib" and os.path.exists(package + "/__init__.py"):
        load(package)
    from directml_py.com.host import start
    start(ffi, lib)
finally:
    if not lib.dmlpy_is_hosted():
        gc.enable()
"""
SUPPORT = """\
uint32_t dmlpy_add_reference(uintptr_t self);
uint32_t dmlpy_references(uintptr_t self);
uintptr_t dmlpy_released_by(uintptr_t self, uint32_t frame);
uintptr_t dmlpy_retire(uintptr_t self);
uintptr_t dmlpy_vtable(const char *interface);
uintptr_t dmlpy_new(uintptr_t vtable);
uint32_t dmlpy_foreign_AddRef(uintptr_t object);
uint32_t dmlpy_foreign_Release(uintptr_t object);
void dmlpy_report_message(uintptr_t function, uint32_t category, uint32_t severity, uint32_t id,
                          const char *description, uintptr_t context);
size_t dmlpy_wchar_size(void);
int64_t dmlpy_duplicate_event(uint64_t event);
void dmlpy_set_event(int64_t event);
void dmlpy_close_event(int64_t event);
uint64_t dmlpy_new_handle(uint64_t number);
int dmlpy_is_handle(uint64_t handle, uint64_t number);
int dmlpy_is_open(uint64_t number);
const char *dmlpy_folder(void);
int dmlpy_is_hosted(void);
uintptr_t dmlpy_memory_functions(void);
void dmlpy_set_answer(uintptr_t self, uint64_t answer);
void dmlpy_keep_answer(uintptr_t self, const char *answer, size_t size);
const char *dmlpy_describe(uintptr_t address);
"""
# The parts of the library that do not depend on the API, besides that of its ABI.
SOURCES = ("pending_exception", "libdirectml", "interpreter", "caller_stack", "argument_memory")
# The prefix of functions that C calls, followed by the name of the Python callback.
ENTRY = "dmlpy_call_"
# The prefix of functions that return to the library's own code, or to the bridge.
RETURNING = "dmlpy_run_"
# The prefix of the functions that stand in the vtables in place of these, written by hand.
ANSWER = "dmlpy_answer_"
ANSWERED = (
    "ID3D12Fence_GetCompletedValue",
    "ID3D12Resource_GetDesc",
    "IDMLDispatchable_GetBindingProperties",
)
CALLBACKS = """\
void dmlpy_last_release(uintptr_t self);
uint32_t dmlpy_revived(uintptr_t self);
void dmlpy_released_again(uintptr_t self);
uintptr_t dmlpy_object_text(uintptr_t self);
"""
QUERY_INTERFACE = "int32_t dmlpy_QueryInterface(uintptr_t self, uintptr_t riid, uintptr_t ppv);"


class Source:
    """Declarations for cffi and text for the C compiler, which must agree."""

    def __init__(self, catalog: Catalog, python: str = "", folder: str = "", abi: Abi = SYSTEM_V) -> None:
        self._python = python
        self._folder = folder
        self._abi = abi
        self.interfaces = vtable_interfaces(catalog)
        self.functions = [*catalog.functions, *catalog.d3d12_functions]
        structs = [*catalog.d3d12_structs, *catalog.structs]
        self._structs = {struct.name: struct for struct in structs}
        self._enums = {enum.name for enum in (*catalog.d3d12_enums, *catalog.enums)}

    def _word(self, c_type: str) -> str:
        """The type that stands for ``c_type`` in calls to Python: an address is passed as a plain number."""
        if c_type.endswith("*") or c_type in ADDRESSES or c_type.startswith("PFN_"):
            return "uintptr_t"
        if c_type in self._structs:
            return c_type
        # The remaining types are enumerations, not all of which are in the catalog.
        return WORDS.get(c_type, "uint32_t")

    def _prototype(self, name: str, returns: str, params: Sequence[tuple[str, str]], method: bool) -> str:
        values = ["uintptr_t self"] if method else []
        values += [f"{self._word(c_type)} a{index}" for index, (c_type, _) in enumerate(params)]
        return f"{self._word(returns)} {name}({', '.join(values) or 'void'})"

    def _method_prototypes(self) -> list[str]:
        return [
            self._prototype(f"{interface.name}_{method.name}", method.returns, method.params, True)
            for interface in self.interfaces.values()
            if interface.base
            for method in interface.methods
        ]

    def _function_prototypes(self) -> list[str]:
        return [
            self._prototype(f"dmlpy_{function.name}", function.returns, function.params, False)
            for function in self.functions
        ]

    def _by_value(self) -> list[Struct]:
        """The structs that are passed by value, with nested ones first, in the order of the catalog."""
        types: set[str] = set()
        for interface in self.interfaces.values():
            for method in interface.methods:
                types.update((method.returns, *(c_type for c_type, _ in method.params)))
        wanted = types & set(self._structs)
        while (
            inner := {
                field.type
                for name in wanted
                for field in self._structs[name].fields
                if field.type in self._structs
            }
            - wanted
        ):
            wanted |= inner
        return [struct for name, struct in self._structs.items() if name in wanted]

    def _declarations(self) -> str:
        lines = [f"typedef {c_type} {name};" for name, c_type in FIXED.items()]
        structs = self._by_value()
        enums = sorted({field.type for struct in structs for field in struct.fields} & self._enums)
        lines += [f"typedef int32_t {name};" for name in enums]
        lines += [struct_text(struct, {}) for struct in structs]
        return "\n".join(lines)

    def callbacks(self) -> str:
        prototypes = (*self._method_prototypes(), *self._function_prototypes())
        return f"{CALLBACKS}{QUERY_INTERFACE}\n" + "".join(f"{prototype};\n" for prototype in prototypes)

    def cdef(self) -> str:
        return f'{self._declarations()}\n{SUPPORT}\nextern "Python" {{\n{self.callbacks()}}}\n'

    def text(self) -> str:
        prototypes = "".join(f"static {line}\n" for line in self.callbacks().splitlines())
        # Exported functions save the caller's exception themselves: it may be set while Python starts.
        callbacks = CALLBACKS.splitlines()
        slots = (QUERY_INTERFACE, *(f"{prototype};" for prototype in self._method_prototypes()))
        parts = (
            f"#define DMLPY_ABI {self._abi.attribute}",
            *(["#define DMLPY_HIDES_RESULTS"] if self._abi.hides_results else []),
            f'#define DMLPY_DIGEST "{self.digest()}"',
            *self._host_sources(),
            f'#define DMLPY_PYTHON_VERSION "{sys.version_info[0]}.{sys.version_info[1]}"',
            f'#define DMLPY_BUILD_PYTHON "{self._python}"',
            f'#define DMLPY_BUILD_LIBDIR "{self._folder}"',
            *((HERE / f"{name}.c").read_text(encoding="utf-8") for name in SOURCES),
            self._declarations(),
            prototypes,
            *map(_entry, callbacks),
            *(self._slot(prototype) for prototype in slots),
            (HERE / "answers.c").read_text(encoding="utf-8"),
            *(self._vtable(interface) for interface in self.interfaces.values()),
            self._vtables(),
            *(self._export(function) for function in self.functions),
            self._function_table(),
        )
        return "\n".join(parts)

    def _vtable(self, interface: Interface) -> str:
        slots = [f"{ENTRY}dmlpy_QueryInterface", "dmlpy_AddRef", "dmlpy_Release"]
        slots += [
            _in_vtable(f"{base.name}_{method.name}")
            for base, method in inherited(interface, self.interfaces)
            if base.base
        ]
        entries = "".join(f"    (const void *)&{slot},\n" for slot in slots)
        return f"static const void *const {interface.name}_methods[] = {{\n{entries}}};\n"

    def _vtables(self) -> str:
        rows = "".join(f'        {{"{name}", {name}_methods}},\n' for name in self.interfaces)
        return f"""\
/* The table of an interface; 0 if there is none of that name. */
static uintptr_t dmlpy_vtable(const char *interface)
{{
    static const struct {{ const char *name; const void *const *methods; }} tables[] = {{
{rows}    }};
    for (size_t index = 0; index < sizeof tables / sizeof tables[0]; index++)
        if (strcmp(tables[index].name, interface) == 0)
            return (uintptr_t)tables[index].methods;
    return 0;
}}
"""

    def digest(self) -> str:
        """Tells whether two libraries were built from the same declarations."""
        return hashlib.sha256(self.cdef().encode()).hexdigest()

    def _host_sources(self) -> Iterator[str]:
        if self._abi is WINDOWS:
            yield (WINE / "protocol.h").read_text(encoding="utf-8")
        # What cffi writes before this text includes stdlib.h, but not all that the host's part needs.
        yield "#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
        yield (HERE / f"{self._abi.host}.c").read_text(encoding="utf-8")

    def _slot(self, prototype: str) -> str:
        """The function in a vtable; a struct that it returns may go through a pointer after ``this``."""
        head, _, params = prototype.removesuffix(");").partition("(")
        returns, name = head.split()
        if not (self._abi.hides_results and returns in self._structs):
            return _entry(prototype, "DMLPY_ABI ")
        names = ", ".join(param.split()[-1] for param in params.split(", "))
        hidden = params.replace("uintptr_t self", f"uintptr_t self, {returns} *result", 1)
        return f"""\
{_entry(prototype, prefix=RETURNING)}\
static DMLPY_ABI {returns} *{ENTRY}{name}({hidden})
{{
    *result = {RETURNING}{name}({names});
    return result;
}}
"""

    def _export(self, function: Function) -> str:
        """An exported function: the libraries of Linux export it under two names, the bridge finds it in a table."""
        is_found_by_name = self._abi is not WINDOWS
        name = function.name if is_found_by_name else RETURNING + function.name
        head = self._prototype(name, function.returns, function.params, False)
        alias = self._prototype(ALIAS + function.name, function.returns, function.params, False)
        second = (
            f'{EXPORTED} {alias} __attribute__((alias("{function.name}")));\n' if is_found_by_name else ""
        )
        linkage = EXPORTED if is_found_by_name else "static DMLPY_ABI"
        return f"""\
{linkage} {head};
{linkage} {head}
{{
    dmlpy_check_stack();
    const dmlpy_pending pending = dmlpy_set_aside();
    const int32_t result = dmlpy_ready() ? dmlpy_{function.name}({_arguments(function)}) : E_FAIL_CODE;
    dmlpy_put_back(pending);
    return result;
}}
{second}"""

    def _function_table(self) -> str:
        """The functions that the bridge's exported ones call, in their order."""
        if self._abi is not WINDOWS:
            return ""
        rows = "".join(f"    (const void *)&{RETURNING}{function.name},\n" for function in self.functions)
        return (
            f"static const void *const dmlpy_functions[] = {{\n{rows}}};\n"
            f"static const uint32_t dmlpy_function_count = {len(self.functions)};\n"
        )

    def bridge(self) -> str:
        """The C source of ``directml_py.dll``."""
        text = (WINE / "bridge.c").read_text(encoding="utf-8")
        functions = "".join(self._bridged(index, each) for index, each in enumerate(self.functions))
        return f'#define DMLPY_DIGEST "{self.digest()}"\n{text}{functions}'

    def _bridged(self, index: int, function: Function) -> str:
        head = self._prototype(function.name, function.returns, function.params, False)
        kind = self._prototype("(DMLPY_WINDOWS *call)", function.returns, function.params, False)
        return f"""\
__declspec(dllexport) {head};
__declspec(dllexport) {head}
{{
    {kind} = dmlpy_function({index});
    return call != NULL ? call({_arguments(function)}) : DMLPY_E_FAIL;
}}
"""

    def version_script(self) -> str:
        """The linker's version script for each library; callers that ask for an unversioned function find it too."""
        names = [function.name for function in self.functions if function.name.startswith("D3D12")]
        return f"{VERSION_NODE} {{ global: {' '.join(f'{name};' for name in names)} }};\n"

    def preloaded(self) -> str:
        there = (HERE / "preload.c").read_text(encoding="utf-8")
        return there + "".join(map(self._preload, self.functions))

    def _preload(self, function: Function) -> str:
        head = self._prototype(function.name, function.returns, function.params, False)
        alias = self._prototype(ALIAS + function.name, function.returns, function.params, False)
        kind = self._prototype("(*call)", function.returns, function.params, False)
        return f"""\
{EXPORTED} {head};
{EXPORTED} {head}
{{
    {kind} = dmlpy_find("{ALIAS}{function.name}");
    return call != NULL ? call({_arguments(function)}) : E_FAIL_CODE;
}}
{EXPORTED} {alias} __attribute__((alias("{function.name}")));
"""

    def forwarder(self, beginning: str) -> str:
        functions = [function for function in self.functions if function.name.startswith(beginning)]
        return "#include <stddef.h>\n#include <stdint.h>\n" + "".join(map(self._forward, functions))

    def _forward(self, function: Function) -> str:
        head = self._prototype(function.name, function.returns, function.params, False)
        there = self._prototype(ALIAS + function.name, function.returns, function.params, False)
        return f"""\
extern {there};
{EXPORTED} {head};
{EXPORTED} {head}
{{
    return {ALIAS}{function.name}({_arguments(function)});
}}
"""


def _in_vtable(method: str) -> str:
    return (ANSWER if method in ANSWERED else ENTRY) + method


def _entry(prototype: str, attribute: str = "", prefix: str = ENTRY) -> str:
    """The function that C calls instead of the callback with this prototype: Python runs with the caller's exception
    set aside."""
    head, _, params = prototype.removesuffix(");").partition("(")
    returns, name = head.split()
    call = f"{name}({', '.join(param.split()[-1] for param in params.split(', '))})"
    result = "" if returns == "void" else f"const {returns} result = "
    back = "" if returns == "void" else "    return result;\n"
    return f"""\
static {attribute}{returns} {prefix}{name}({params})
{{
    dmlpy_check_stack();
    const dmlpy_pending pending = dmlpy_set_aside();
    {result}{call};
    dmlpy_put_back(pending);
{back}}}
"""


def _arguments(function: Function) -> str:
    return ", ".join(f"a{index}" for index in range(len(function.params)))


def write_version_script(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(Source(Catalog()).version_script(), encoding="utf-8")


def write_source(path: Path, python: str, folder: str, abi: Abi = SYSTEM_V) -> None:
    """Write the C source of ``libdirectml.so``, or of the library behind ``directml_py.dll``.

    ``python`` is the interpreter to start if the library does not lie in an environment, ``folder`` the package's
    folder for copies of the library; each is empty if unknown.
    """
    source = Source(Catalog(), python, folder, abi)
    ffi = cffi.FFI()
    ffi.embedding_api("")
    ffi.cdef(source.cdef())
    ffi.embedding_init_code(START)
    ffi.set_source(MODULE, source.text())
    path.parent.mkdir(parents=True, exist_ok=True)
    ffi.emit_c_code(str(path))


def write_forwarder(path: Path, name: str) -> None:
    """Write the C source of a library that only forwards calls; ``name`` is one of ``FORWARDERS`` or ``PRELOADED``."""
    source = Source(Catalog())
    text = source.preloaded() if name == PRELOADED else source.forwarder(FORWARDERS[name])
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
