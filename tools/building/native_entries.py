"""Entry points of the native kernels: Python calls them instead of the declared functions, which run on the thread's
work stack (``directml_py/kernels/native/threads/work_stack.h``)."""

from __future__ import annotations

import re
from typing import NamedTuple

PROTOTYPE = re.compile(
    r"^(?P<returns>[a-z_0-9 ]+?[ *]+)(?P<name>dml_\w+)\((?P<params>[^()]*)\);$", re.MULTILINE
)


class EntryPoint(NamedTuple):
    """A function declared for cffi; ``params`` are C declarations."""

    name: str
    returns: str
    params: tuple[str, ...]

    @property
    def arguments(self) -> tuple[str, ...]:
        return tuple(re.split(r"[ *]", param)[-1] for param in self.params)

    def text(self) -> str:
        """C code: the entry point, and a macro through which the code after it calls it."""
        fields = [f"{param};" for param in self.params]
        arguments = ", ".join(f"call->{name}" for name in self.arguments)
        result = "" if self.returns == "void" else "call->result = "
        fields += [] if self.returns == "void" else [f"{self.returns} result;"]
        initial = ", ".join(f".{name} = {name}" for name in self.arguments) or "0"
        back = "" if self.returns == "void" else "    return call.result;\n"
        kind = f"{self.name}_call"
        return f"""\
typedef struct {{ {" ".join(fields) or "int none;"} }} {kind};
static void {self.name}_body(void *context)
{{
    {kind} *const call = context;
    (void)call;
    {result}{self.name}({arguments});
}}
static {self.returns} {self.name}_entry({", ".join(self.params) or "void"})
{{
    {kind} call = {{{initial}}};
    dml_call_on_work_stack({self.name}_body, &call);
{back}}}
#define {self.name} {self.name}_entry
"""


def entries(declarations: str) -> list[EntryPoint]:
    found = []
    for match in PROTOTYPE.finditer(declarations):
        params = [" ".join(param.split()) for param in match["params"].split(",")]
        found.append(
            EntryPoint(match["name"], match["returns"].strip(), () if params == ["void"] else tuple(params))
        )
    return found


def entry_code(declarations: str) -> str:
    return "".join(entry.text() for entry in entries(declarations))
