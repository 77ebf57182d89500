"""The COM interfaces: classes in C++, structs with a table of function pointers in C."""

from __future__ import annotations

import uuid
from collections.abc import Iterable, Iterator, Sequence

from ..catalog import Interface, Method
from .declarations import gated, parameters, signature

IUNKNOWN = Interface(
    "IUnknown",
    "00000000-0000-0000-c000-000000000046",
    "",
    0x1000,
    (
        Method("QueryInterface", "HRESULT", (("REFIID", "riid"), ("void**", "ppvObject"))),
        Method("AddRef", "ULONG", ()),
        Method("Release", "ULONG", ()),
    ),
)
IN_REGISTER = ("HRESULT", "ULONG", "UINT", "BOOL", "void")


def forward_declarations(interfaces: Iterable[Interface]) -> str:
    return gated((i.since, f"typedef struct {i.name} {i.name};") for i in interfaces)


def identifiers(interfaces: Iterable[Interface]) -> str:
    return gated((i.since, f"DML_IID({i.name}, {guid_arguments(i.iid)})") for i in interfaces)


def guid_arguments(text: str) -> str:
    guid = uuid.UUID(text)
    head = (f"{guid.time_low:#010x}", f"{guid.time_mid:#06x}", f"{guid.time_hi_version:#06x}")
    return ", ".join((*head, *(f"{byte:#04x}" for byte in guid.bytes[8:])))


def interfaces(values: Sequence[Interface]) -> str:
    known = {IUNKNOWN.name: IUNKNOWN, **{i.name: i for i in values}}
    classes = gated(((i.since, class_text(i)) for i in values), "\n\n")
    tables = gated(((i.since, table_text(i, every_method(i, known))) for i in values), "\n\n")
    macros = gated(((i.since, macros_text(i, every_method(i, known))) for i in values), "\n\n")
    return (
        f"#if defined(__cplusplus) && !defined(CINTERFACE)\n\n{classes}\n\n"
        f"#else\n\n{tables}\n\n"
        f"#ifdef COBJMACROS\n\n{macros}\n\n#endif // COBJMACROS\n\n"
        f"#endif // __cplusplus"
    )


def inherited(interface: Interface, known: dict[str, Interface]) -> Iterator[tuple[Interface, Method]]:
    """Every method in vtable order, those of the bases first, with the interface that declares it."""
    if interface.base:
        yield from inherited(known[interface.base], known)
    yield from ((interface, method) for method in interface.methods)


def every_method(interface: Interface, known: dict[str, Interface]) -> list[Method]:
    return [method for _, method in inherited(interface, known)]


def class_text(interface: Interface) -> str:
    methods = "\n\n".join(map(member_text, interface.methods))
    body = f"{{\n{methods}\n}};" if methods else "{\n};"
    return f'MIDL_INTERFACE("{interface.iid}")\n{interface.name} : public {interface.base}\n{body}'


def member_text(method: Method) -> str:
    """A member function. MinGW's compilers pass the pointer to a struct that is returned before ``this``, Microsoft's
    after it: where MinGW's headers say so by a macro, the virtual function has an explicit parameter for it."""
    name, params = f"STDMETHODCALLTYPE {method.name}", parameters(method.params)
    plain = signature(f"virtual {method.returns} {name}", params, " = 0;", "    ")
    if method.returns in IN_REGISTER:
        return plain
    head = f"virtual {method.returns}* {name}"
    explicit = signature(head, [f"{method.returns}* result", *params], " = 0;", "    ")
    wrapper = signature(f"{method.returns} {name}", params, "", "    ")
    arguments = ", ".join(("&result", *(parameter for _, parameter in method.params)))
    return (
        f"#ifdef WIDL_EXPLICIT_AGGREGATE_RETURNS\n{explicit}\n\n{wrapper}\n    {{\n"
        f"        {method.returns} result;\n        return *{method.name}({arguments});\n    }}\n"
        f"#else\n{plain}\n#endif"
    )


def table_text(interface: Interface, methods: Iterable[Method]) -> str:
    name = interface.name
    members = "\n".join(pointer_text(name, method) for method in methods)
    return (
        f"typedef struct {name}Vtbl\n{{\n{members}\n}} {name}Vtbl;\n\n"
        f"struct {name}\n{{\n    const {name}Vtbl* lpVtbl;\n}};"
    )


def pointer_text(interface: str, method: Method) -> str:
    """One vtable entry. A struct is returned as the platform's C++ compilers return it from a member function: on
    Windows through a pointer after ``This``, elsewhere as from C functions."""
    params = [f"{interface}* This", *parameters(method.params)]
    by_value = signature(f"{method.returns} (STDMETHODCALLTYPE* {method.name})", params, ";", "    ")
    if method.returns in IN_REGISTER:
        return by_value
    head = f"{method.returns}* (STDMETHODCALLTYPE* {method.name})"
    by_pointer = signature(head, [params[0], f"{method.returns}* result", *params[1:]], ";", "    ")
    return f"#ifdef _WIN32\n{by_pointer}\n#else\n{by_value}\n#endif"


def macros_text(interface: Interface, methods: Iterable[Method]) -> str:
    return "\n".join(macro_text(interface.name, method) for method in methods)


def macro_text(interface: str, method: Method) -> str:
    head = f"#define {interface}_{method.name}"
    call = f"(This)->lpVtbl->{method.name}"
    plain = f"{head}(This) ({call}(This))"
    with_arguments = f"{head}(This, ...) ({call}((This), __VA_ARGS__))"
    by_value = with_arguments if method.params else plain
    if method.returns in IN_REGISTER:
        return by_value
    return f"#ifdef _WIN32\n{with_arguments}\n#else\n{by_value}\n#endif"
