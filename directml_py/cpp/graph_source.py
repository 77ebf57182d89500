"""A compiled graph as a C++ program: its operators, its edges, and a file of constants."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from ..api.schema_data import STRUCTS
from ..descs.operator_desc import OperatorDesc
from ..descs.tensor import TensorDesc
from ..graph.compiled import CompiledGraph
from ..graph.nodes import OperatorNode
from ..graph.to_desc import LISTS, EdgeDesc, decoded, edges_of
from ..storage import write_whole
from .desc_source import CppWriter, declare_operator, declare_tensor, number, variable

HEADERS = ("machine.h", "run_graph.h")
SUFFIX = ".bin"
Array = npt.NDArray[Any]


def save_program(
    path: str | Path, compiled: CompiledGraph, constants: Mapping[int, Array], wanted: Collection[str]
) -> list[Path]:
    """Write ``compiled`` as one C++ file, and ``constants``, by graph input, to a file beside it.

    The program takes a file for each other input, in order, and one to write for each output in ``wanted``; the files
    hold the elements and nothing else. Returns the paths written. Raises ``ValueError`` for a path that is the file of
    constants, ``OSError`` if a file cannot be written.
    """
    path = Path(path)
    beside = path.with_name(path.stem + SUFFIX)
    if path == beside:
        raise ValueError(f"{path} is where the constants go; a C++ file does not end in {SUFFIX}")
    tensors = list(compiled.inputs.values())
    kept = {index: tensor for index in constants if (tensor := tensors[index]) is not None}
    text = "\n".join(_program(compiled, kept, wanted, beside.name)) + "\n"
    written = [path]
    if kept:
        write_whole(beside, lambda file: _write_constants(file, kept, constants))
        written.insert(0, beside)
    write_whole(path, lambda file: file.write(text.encode()))
    return written


def _write_constants(file: BinaryIO, kept: Mapping[int, TensorDesc], constants: Mapping[int, Array]) -> None:
    for index, tensor in kept.items():
        memory = np.zeros(tensor.total_size, np.uint8)
        tensor.store(memory, constants[index])
        file.write(memory[: tensor.content_size].data)


def _program(
    compiled: CompiledGraph, kept: Mapping[int, TensorDesc], wanted: Collection[str], file: str
) -> Iterator[str]:
    input_names = [
        name for index, (name, tensor) in enumerate(compiled.inputs.items()) if tensor and index not in kept
    ]
    results = [name for name in compiled.outputs if name in wanted]
    yield "// A DirectML graph. On Linux:"
    yield "// g++ -std=c++17 FILE.cpp $(python -m directml_py config --cflags --libs) -o PROGRAM"
    yield "// On Windows: cl /std:c++17 /EHsc FILE.cpp directml.lib d3d12.lib"
    yield ""
    yield from _common()
    nodes = [compiled.graph.nodes[index] for index in compiled.nodes]
    for index, node in enumerate(nodes):
        # A compiled graph's own constants are what it was given, which translations of models have as inputs.
        if not isinstance(node, OperatorNode):
            raise ValueError(f"the node {node.name!r} is a constant; make it an input of the graph")
        yield from _node(index, node.name, node.desc)
    yield "int main(int count, char** arguments)"
    yield "{"
    yield from _indented(_usage(compiled, input_names, results))
    if kept:
        yield from _indented(_constants_file(file))
    yield from _indented(_tensors("inputs", _inputs(compiled, kept)))
    yield from _indented(_tensors("outputs", _outputs(compiled, results, 1 + len(input_names))))
    yield from _indented(_parts(compiled))
    yield "    RunGraph(machine, parts, inputs, outputs);"
    yield "    return 0;"
    yield "}"


def _common() -> Iterator[str]:
    """The headers in one file, without what only a header needs."""
    for name in HEADERS:
        for line in Path(__file__).with_name(name).read_text(encoding="utf-8").splitlines():
            if line != "#pragma once" and not line.startswith('#include "'):
                yield line
        yield ""


def _indented(lines: Iterable[str]) -> Iterator[str]:
    return (f"    {line}" if line else "" for line in lines)


def _node(index: int, name: str, desc: OperatorDesc) -> Iterator[str]:
    writer = CppWriter()
    tensors: dict[str, str] = {}
    for slot in (*desc.inputs, *desc.outputs):
        if slot.tensor is not None:
            tensors[slot.path] = writer.name(variable(slot.path))
            declare_tensor(writer, tensors[slot.path], slot.tensor, "TensorDesc")
    struct = declare_operator(writer, desc, tensors)
    yield f"// {literal(name)}"
    yield f"static ComPtr<IDMLOperator> Node{index}(IDMLDevice* dml)"
    yield "{"
    yield from _indented(writer.lines)
    yield f"    return CreateNode(dml, {desc.schema.type_name}, &{struct});"
    yield "}"
    yield ""


def _usage(compiled: CompiledGraph, input_names: list[str], results: list[str]) -> Iterator[str]:
    yield f"if (count != {1 + len(input_names) + len(results)})"
    yield "{"
    yield '    std::fputs("give a file for each of these tensors, which has its elements:\\n"'
    for tensors, names, role in (
        (compiled.inputs, input_names, "input"),
        (compiled.outputs, results, "output"),
    ):
        for name in names:
            yield f"               {literal(f'  {role} {name}: {tensors[name]}' + chr(10))}"
    yield "               , stderr);"
    yield "    return 2;"
    yield "}"


def _constants_file(file: str) -> Iterator[str]:
    yield "// Beside the program."
    yield "const std::string self = arguments[0];"
    yield 'const size_t folder = self.find_last_of("/\\\\");'
    start = 'folder == std::string::npos ? "" : self.substr(0, folder + 1)'
    yield f"const std::string constants = ({start}) + {literal(file)};"


def _tensors(variable: str, rows: Iterable[str]) -> Iterator[str]:
    yield f"const std::vector<GraphTensor> {variable} = {{"
    for row in rows:
        yield f"    {{{row}}},"
    yield "};"


def _inputs(compiled: CompiledGraph, kept: Mapping[int, TensorDesc]) -> Iterator[str]:
    position, offset = 0, 0
    for index, (name, tensor) in enumerate(compiled.inputs.items()):
        if tensor is None:
            yield f'{literal(name)}, 0, false, 0, ""'
        elif index in kept:
            owned = "true" if tensor.is_owned_by_dml else "false"
            yield f"{_sizes(name, tensor, owned)}, constants, {number(offset)}"
            offset += tensor.content_size
        else:
            position += 1
            yield f"{_sizes(name, tensor, 'false')}, arguments[{position}]"


def _outputs(compiled: CompiledGraph, results: list[str], first: int) -> Iterator[str]:
    for name, tensor in compiled.outputs.items():
        file = f"arguments[{first + results.index(name)}]" if name in results else '""'
        yield f"{_sizes(name, tensor, 'false')}, {file}"


def _sizes(name: str, tensor: TensorDesc, owned: str) -> str:
    return f"{literal(name)}, {number(tensor.total_size)}, {owned}, {number(tensor.content_size)}"


def _parts(compiled: CompiledGraph) -> Iterator[str]:
    yield "Machine machine;"
    yield "GraphParts parts;"
    yield from (
        f"parts.nodes.push_back(Node{number}(machine.dml.Get()));" for number in range(len(compiled.nodes))
    )
    edges = edges_of(compiled.graph, decoded(compiled.graph).desc)
    for kind, (member, _) in LISTS.items():
        rows = [edge for edge in edges if type(edge) is kind]
        if rows:
            yield f"parts.{member[0].lower()}{member[1:]} = {{"
            yield from (f"    {{{_numbers(edge)}, nullptr}}," for edge in rows)
            yield "};"


def _numbers(edge: EdgeDesc) -> str:
    """The members before the name."""
    return ", ".join(str(getattr(edge, entry.name)) for entry in STRUCTS[type(edge).__name__].fields[:-1])


def literal(text: str) -> str:
    """``text`` as a C string of ASCII characters."""
    return '"' + "".join(map(_character, text.encode("utf-8", "backslashreplace"))) + '"'


def _character(byte: int) -> str:
    if byte == ord("\n"):
        return "\\n"
    char = chr(byte)
    if not 0x20 <= byte < 0x7F:
        # Three octal digits end where they end, whatever follows.
        return f"\\{byte:03o}"
    return f"\\{char}" if char in '"\\' else char
