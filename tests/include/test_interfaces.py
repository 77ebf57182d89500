"""The COM interfaces: one object seen from C++ and from C, identifiers, and what C++ adds."""

from __future__ import annotations

import uuid

import pytest
from toolchain import later

# The place of every method in the table of its interface, counted by hand from the bases' 3 (IUnknown),
# 7 (IDMLObject) or 8 (IDMLDeviceChild) methods on.
IUNKNOWN = ["QueryInterface", "AddRef", "Release"]
OBJECT = [*IUNKNOWN, "GetPrivateData", "SetPrivateData", "SetPrivateDataInterface", "SetName"]
CHILD = [*OBJECT, "GetDevice"]
DISPATCHABLE = [*CHILD, "GetBindingProperties"]
DEVICE = [
    *OBJECT,
    "CheckFeatureSupport",
    "CreateOperator",
    "CompileOperator",
    "CreateOperatorInitializer",
    "CreateCommandRecorder",
    "CreateBindingTable",
    "Evict",
    "MakeResident",
    "GetDeviceRemovedReason",
    "GetParentDevice",
]
TABLES = {
    "IDMLObject": OBJECT,
    "IDMLDevice": DEVICE,
    "IDMLDeviceChild": CHILD,
    "IDMLPageable": CHILD,
    "IDMLOperator": CHILD,
    "IDMLDispatchable": DISPATCHABLE,
    "IDMLCompiledOperator": DISPATCHABLE,
    "IDMLOperatorInitializer": [*DISPATCHABLE, "Reset"],
    "IDMLBindingTable": [
        *CHILD,
        "BindInputs",
        "BindOutputs",
        "BindTemporaryResource",
        "BindPersistentResource",
        "Reset",
    ],
    "IDMLCommandRecorder": [*CHILD, "RecordDispatch"],
    "IDMLDebugDevice": [*IUNKNOWN, "SetMuteDebugOutput"],
    "IDMLDevice1": [*DEVICE, "CompileGraph"],
}
UNKNOWN_METHODS = {
    "QueryInterface": ("HRESULT", (("REFIID", "riid"), ("void**", "ppvObject"))),
    "AddRef": ("ULONG", ()),
    "Release": ("ULONG", ()),
}
PAIRS = [("gcc", "g++"), *later(("clang", "clang++"), ("gcc", "clang++"), ("clang", "g++"))]


def methods(catalog, name):
    """Name -> (return type, parameters) of the interface and its bases."""
    if name == "IUnknown":
        return UNKNOWN_METHODS
    interface = next(i for i in catalog.interfaces if i.name == name)
    own = {method.name: (method.returns, method.params) for method in interface.methods}
    return {**methods(catalog, interface.base), **own}


def test_every_interface_is_here(catalog):
    assert [interface.name for interface in catalog.interfaces] == list(TABLES)
    for name, table in TABLES.items():
        assert set(methods(catalog, name)) == set(table)


@pytest.mark.parametrize("compiler", ["gcc", *later("clang")])
def test_order_of_the_c_tables(toolchain, compiler):
    checks = [
        f'_Static_assert(offsetof({name}Vtbl, {method}) == {slot} * sizeof(void*), "");'
        for name, table in TABLES.items()
        for slot, method in enumerate(table)
    ]
    checks += [
        f'_Static_assert(sizeof({name}Vtbl) == {len(table)} * sizeof(void*), "");'
        for name, table in TABLES.items()
    ]
    text = "\n".join(["#include <DirectML.h>", "#include <stddef.h>", *checks, ""])
    assert toolchain.errors(compiler, text) == ""


def mock(catalog, name):
    """A class whose methods note the place that they should have, and a function that hands out an object."""
    lines = [f"struct Mock{name} : {name}", "{"]
    for slot, method in enumerate(TABLES[name]):
        returns, params = methods(catalog, name)[method]
        kinds = ", ".join(kind for kind, _ in params)
        result = {
            "void": "",
            "DML_BINDING_PROPERTIES": " return {7, 1ull << 40, 1ull << 41};",
        }.get(returns, f" return static_cast<{returns}>(1000 + called);")
        lines.append(
            f"    {returns} STDMETHODCALLTYPE {method}({kinds}) override {{ note(this, {slot});{result} }}"
        )
    lines += ["};", f'extern "C" {name}* make{name}()', "{", f"    static Mock{name} object;"]
    return "\n".join([*lines, "    return &object;", "}"])


def call(catalog, name, slot, method, macro):
    """C code that calls the method and checks that the right one ran on the right object."""
    returns, params = methods(catalog, name)[method]
    arguments = ["&IID_IDMLObject" if kind.startswith("REF") else f"({kind})0" for kind, _ in params]
    target = f"{name}_{method}" if macro else f"object->lpVtbl->{method}"
    expression = f"{target}({', '.join(['object', *arguments])})"
    check = f"check(object, {slot})"
    if returns == "void":
        return f"    {expression}; {check};"
    if returns == "DML_BINDING_PROPERTIES":
        return (
            f"    {{ DML_BINDING_PROPERTIES p = {expression}; {check};\n"
            "      if (p.RequiredDescriptorCount != 7 || p.TemporaryResourceSize != (UINT64)1 << 40\n"
            "          || p.PersistentResourceSize != (UINT64)1 << 41) exit(2); }"
        )
    return f"    if ((int){expression} != 1000 + {slot}) exit(3);\n    {check};"


def callers(catalog, name):
    lines = [
        f"{name}* make{name}(void);",
        f"static void test{name}(void)",
        "{",
        f"    {name}* object = make{name}();",
    ]
    for macro in (False, True):
        lines += [call(catalog, name, slot, method, macro) for slot, method in enumerate(TABLES[name])]
    return "\n".join([*lines, "}"])


@pytest.mark.parametrize("d3d12", [False, True])
@pytest.mark.parametrize(("c", "cpp"), PAIRS)
def test_c_calls_cpp_objects(toolchain, catalog, c, cpp, d3d12):
    """Every method through lpVtbl and through its macro; a struct comes back by value."""
    classes = "\n".join(
        [
            "#include <DirectML.h>",
            'extern "C" int called;',
            'extern "C" void* self;',
            "int called;",
            "void* self;",
            "static void note(void* object, int slot) { self = object; called = slot; }",
            *(mock(catalog, name) for name in TABLES),
            "",
        ]
    )
    main = "\n".join(
        [
            "#define COBJMACROS",
            "#include <DirectML.h>",
            "#include <stdlib.h>",
            "extern int called;",
            "extern void* self;",
            "static void check(void* object, int slot)",
            "{",
            "    if (called != slot || self != object) exit(1);",
            "    called = -1;",
            "    self = 0;",
            "}",
            *(callers(catalog, name) for name in TABLES),
            "int main(void)",
            "{",
            *(f"    test{name}();" for name in TABLES),
            "    return 0;",
            "}",
            "",
        ]
    )
    toolchain.run(
        cpp,
        toolchain.object(cpp, classes, "-Wno-overloaded-virtual", name="classes", d3d12=d3d12),
        toolchain.object(c, main, name="main", d3d12=d3d12),
    )


@pytest.mark.parametrize(("c", "cpp"), PAIRS)
def test_cpp_calls_c_objects(toolchain, c, cpp):
    """A struct by value and arguments, the other way round."""
    implementation = """
#include <DirectML.h>
static DML_BINDING_PROPERTIES properties(IDMLOperatorInitializer* This)
{
    DML_BINDING_PROPERTIES result = {(UINT)(This->lpVtbl != 0), 22, 33};
    return result;
}
static HRESULT reset(IDMLOperatorInitializer* This, UINT count, IDMLCompiledOperator* const* operators)
{
    return count == 5 && (const void*)operators == (const void*)This ? S_FALSE : E_FAIL;
}
static const IDMLOperatorInitializerVtbl table = {.GetBindingProperties = properties, .Reset = reset};
static IDMLOperatorInitializer object = {&table};
IDMLOperatorInitializer* make(void);
IDMLOperatorInitializer* make(void) { return &object; }
"""
    main = """
#include <DirectML.h>
extern "C" IDMLOperatorInitializer* make();
int main()
{
    IDMLOperatorInitializer* object = make();
    const DML_BINDING_PROPERTIES p = object->GetBindingProperties();
    if (p.RequiredDescriptorCount != 1) return 1;
    if (p.TemporaryResourceSize != 22 || p.PersistentResourceSize != 33) return 3;
    return object->Reset(5, reinterpret_cast<IDMLCompiledOperator* const*>(object)) == S_FALSE ? 0 : 2;
}
"""
    relaxed = "-Wno-missing-field-initializers"
    toolchain.run(
        cpp,
        toolchain.object(c, implementation, relaxed, name="object"),
        toolchain.object(cpp, main, name="main"),
    )


def guid_bytes(iid):
    return ", ".join(f"{byte:#04x}" for byte in uuid.UUID(iid).bytes_le)


@pytest.mark.parametrize("d3d12", [False, True])
@pytest.mark.parametrize("compiler", ["g++", *later("clang++")])
def test_uuidof(toolchain, catalog, compiler, d3d12):
    """Types, pointer types and expressions; IID_ constants; all against the bytes of the identifiers."""
    checks = []
    for interface in catalog.interfaces:
        name = interface.name
        forms = ("__uuidof({0})", "__uuidof({0}*)", "__uuidof(**&p)", "__uuidof(p)", "IID_{0}")
        tests = " && ".join(f"same({form.format(name)}, bytes)" for form in forms)
        checks.append(
            f"{{ {name}* p = nullptr; (void)p; const unsigned char bytes[] = {{{guid_bytes(interface.iid)}}};"
        )
        checks.append(f"  if (!({tests})) return 1; }}")
    body = "\n".join(checks)
    text = f"""
#include <DirectML.h>
#include <cstring>
static bool same(REFIID iid, const unsigned char* bytes) {{ return std::memcmp(&iid, bytes, 16) == 0; }}
int main()
{{
{body}
return __uuidof(IDMLDevice) == IID_IDMLDevice && __uuidof(IDMLDevice) != __uuidof(IDMLDevice1) ? 0 : 2;
}}
"""
    toolchain.run(compiler, toolchain.object(compiler, text, name="uuidof", d3d12=d3d12))


@pytest.mark.parametrize("compiler", ["gcc", *later("clang")])
def test_identifiers_in_c(toolchain, catalog, compiler):
    checks = "\n".join(
        f"{{ const unsigned char bytes[] = {{{guid_bytes(i.iid)}}};\n"
        f"  if (memcmp(&IID_{i.name}, bytes, 16)) return 1; }}"
        for i in catalog.interfaces
    )
    text = f"#include <DirectML.h>\n#include <string.h>\nint main(void)\n{{\n{checks}\nreturn 0;\n}}\n"
    toolchain.run(compiler, toolchain.object(compiler, text, name="identifiers"))


@pytest.mark.parametrize("d3d12", [False, True])
@pytest.mark.parametrize("compiler", ["g++", *later("clang++")])
def test_iid_ppv_args(toolchain, catalog, compiler, d3d12):
    """The pair reaches the callee as the identifier of the pointer's type and its address."""
    text = f"""
#include <DirectML.h>
static int called;
static void note(void*, int slot) {{ called = slot; }}
{mock(catalog, "IDMLCommandRecorder")}
static MockIDMLCommandRecorder recorder;
static HRESULT create(REFIID riid, void** ppv)
{{
    if (riid != IID_IDMLCommandRecorder) return E_NOINTERFACE;
    *ppv = &recorder;
    return S_OK;
}}
int main()
{{
    IDMLCommandRecorder* object = nullptr;
    if (FAILED(create(IID_PPV_ARGS(&object)))) return 1;
    if (object != &recorder) return 2;
    IDMLDevice* other = nullptr;
    if (create(IID_PPV_ARGS(&other)) != E_NOINTERFACE) return 3;
    IUnknown* unknown = object;
    unknown->QueryInterface(&other);
    return called == 0 ? 0 : 4;
}}
"""
    flags = ("-Wno-overloaded-virtual",)
    toolchain.run(compiler, toolchain.object(compiler, text, *flags, name="arguments", d3d12=d3d12))


@pytest.mark.parametrize("d3d12", [False, True])
@pytest.mark.parametrize("compiler", ["g++", *later("clang++")])
def test_iid_ppv_args_takes_interfaces_only(toolchain, compiler, d3d12):
    text = (
        "#include <DirectML.h>\nint* number;\nIDMLDevice* device;\nvoid take(REFIID, void**);\n"
        "void f() { take(IID_PPV_ARGS(&WHAT)); }\n"
    )
    assert toolchain.errors(compiler, text, "-DWHAT=device", d3d12=d3d12) == ""
    assert toolchain.errors(compiler, text, "-DWHAT=number", d3d12=d3d12) != ""


@pytest.mark.parametrize("d3d12", [False, True])
@pytest.mark.parametrize("compiler", ["g++", *later("clang++")])
def test_flag_operators(toolchain, compiler, d3d12):
    text = """
#include <DirectML.h>
#include <type_traits>
constexpr auto half = DML_EXECUTION_FLAG_ALLOW_HALF_PRECISION_COMPUTATION;
constexpr auto meta = DML_EXECUTION_FLAG_DISABLE_META_COMMANDS;
constexpr auto all = half | meta | DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE;
static_assert(std::is_same_v<decltype(all), const DML_EXECUTION_FLAGS>);
static_assert(all == 7 && (all & ~half) == 6 && (all ^ half) == 6 && ~all == -8);
static_assert(std::is_same_v<decltype(~DML_TENSOR_FLAG_OWNED_BY_DML), DML_TENSOR_FLAGS>);
static_assert(std::is_same_v<decltype(~DML_CREATE_DEVICE_FLAG_DEBUG), DML_CREATE_DEVICE_FLAGS>);
static_assert(std::is_same_v<decltype(DML_BINDING_TYPE_NONE | DML_BINDING_TYPE_BUFFER), int>);
int main()
{
    DML_EXECUTION_FLAGS flags = half;
    flags |= DML_EXECUTION_FLAG_DESCRIPTORS_VOLATILE;
    if (flags != 5) return 1;
    flags &= ~half;
    if (flags != 4) return 2;
    flags ^= all;
    return flags == 3 ? 0 : 3;
}
"""
    toolchain.run(compiler, toolchain.object(compiler, text, "-O2", name="flags", d3d12=d3d12))


@pytest.mark.parametrize("compiler", ["gcc", "g++"])
def test_functions_are_c_functions(toolchain, compiler):
    """A C library that defines the plain names satisfies the linker."""
    iid = "IID_IDMLDevice" if compiler == "g++" else "&IID_IDMLDevice"
    text = (
        "#include <DirectML.h>\n"
        f"int main(void) {{ return DMLCreateDevice(0, DML_CREATE_DEVICE_FLAG_NONE, {iid}, 0)\n"
        f"  + DMLCreateDevice1(0, DML_CREATE_DEVICE_FLAG_NONE, DML_FEATURE_LEVEL_1_0, {iid}, 0); }}\n"
    )
    library = (
        "int DMLCreateDevice(void);\nint DMLCreateDevice(void) { return 4; }\n"
        "int DMLCreateDevice1(void);\nint DMLCreateDevice1(void) { return -4; }\n"
    )
    toolchain.run(
        compiler,
        toolchain.object(compiler, text, name="main"),
        toolchain.object("gcc", library, name="library"),
    )
