"""A DxDispatch model: resources, dispatchables and commands, and their deserialization from JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..abi.physical_memory import physical_memory
from ..api.enums import DML_EXECUTION_FLAG_NONE, DML_EXECUTION_FLAGS, DML_TENSOR_DATA_TYPE
from ..descs.operator_desc import OperatorDesc
from . import json_values as values
from .initializers import UNKNOWN, initial_values
from .json_descs import operator_desc
from .json_values import field, members, optional, parse_json
from .model_files import ModelError, check_target, read_file, source_path

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    from ..dml import IDMLDevice
    from .model_run import Log, RunOptions

# Copies of a resource in memory: the buffer, the bytes uploaded to it, and their source.
COPIES = 3
NO_NUMBERS: tuple[int, ...] = ()


@dataclass(frozen=True)
class ModelResource:
    """A buffer of ``size`` bytes that begins with ``value_size`` bytes of ``content()``.

    A ``deferred`` resource gets its memory from an ONNX dispatchable; DirectML operators cannot use it.
    """

    name: str
    data_type: DML_TENSOR_DATA_TYPE
    size: int
    value_size: int
    content: Callable[[], bytes]
    deferred: bool = False


@dataclass(frozen=True)
class BindingSource:
    """A resource bound at ``element_offset``. An ``element_size`` of 0 means that of the resource's initial values."""

    name: str
    element_count: int = 0
    element_size: int = 0
    element_offset: int = 0
    counter: str | None = None


Bindings = Mapping[str, tuple[BindingSource, ...]]


@dataclass(frozen=True)
class OperatorDispatchable:
    """An operator; ``bindings`` are for its initialization. ``as_graph``: compiled by CompileGraph."""

    name: str
    desc: OperatorDesc
    bindings: Bindings
    as_graph: bool = False
    flags: DML_EXECUTION_FLAGS = DML_EXECUTION_FLAG_NONE


@dataclass(frozen=True)
class GraphDispatchable:
    """A serialized graph in the file ``source``, with the files of its constants beside it."""

    name: str
    source: Path
    bindings: Bindings


@dataclass(frozen=True)
class ForeignDispatchable:
    """A dispatchable that this package cannot run; ``needs`` says why."""

    name: str
    needs: str


Dispatchable = OperatorDispatchable | GraphDispatchable | ForeignDispatchable


@dataclass(frozen=True)
class DispatchCommand:
    text: str
    dispatchable: str
    bindings: Bindings


@dataclass(frozen=True)
class PrintCommand:
    text: str
    resource: str
    verbose: bool = False


@dataclass(frozen=True)
class WriteFileCommand:
    """``target`` is an absolute path; ``dimensions`` is the shape of an ``.npy`` file, () for a flat array."""

    text: str
    resource: str
    target: str
    dimensions: tuple[int, ...] = ()


Command = DispatchCommand | PrintCommand | WriteFileCommand


@dataclass(frozen=True)
class Model:
    """The contents of a model file. A command's ``text`` is its JSON."""

    resources: Mapping[str, ModelResource]
    dispatchables: Mapping[str, Dispatchable]
    commands: tuple[Command, ...]

    def run(
        self,
        device: IDMLDevice | None = None,
        options: RunOptions | None = None,
        log: Log | None = None,
    ) -> dict[str, npt.NDArray[np.generic]]:
        """Run all commands; returns the final elements of each resource, by name.

        They have the type (bytes for UNKNOWN) and count of the resource's initial values. ``device`` is a DirectML
        device (None creates one). ``log`` receives the lines that DxDispatch would write. Raises ``ModelError`` where
        DxDispatch would fail.
        """
        from .model_run import ModelRun

        return ModelRun(self, device, options, log).run()


def load(
    path: str | Path,
    input_path: str | Path | None = None,
    output_path: str | Path | None = None,
    writes_outside: bool = False,
) -> Model:
    """The model in a JSON file.

    The files that it refers to are looked up in ``input_path`` (None: the model's folder), then in the current
    directory; its output files go to ``output_path`` (None: the current directory). Unlike in DxDispatch, they may be
    in that folder or in the model's only, unless ``writes_outside``. Raises ``ModelError`` with DxDispatch's text for
    what DxDispatch rejects.
    """
    path = Path(path)
    folder = path.parent if input_path is None else Path(input_path)
    if path.suffix == ".onnx":
        raise ModelError(ONNX)
    try:
        found = next((one for one in (path, folder / path) if one.exists()), None)
    except OSError as error:
        raise ModelError(f"Model cannot be opened: {error.strerror}. Path given: '{path}'.") from None
    if found is None:
        raise ModelError(f"Model does not exist. Path given: '{path}'.")
    path = found
    if path.is_dir():
        raise ModelError(f"Model must be a JSON file, not a directory. Path given: '{path}'")
    target = Path.cwd() if output_path is None else Path(output_path)
    return parse_model(read_file(path), folder, target, None if writes_outside else (target, path.parent))


def parse_model(
    content: bytes, input_path: Path, output_path: Path, writable: Sequence[Path] | None = None
) -> Model:
    """The model in JSON text, with output files in the ``writable`` folders (None: anywhere); raises ``ModelError``."""
    top = parse_json(content)
    if not isinstance(top, dict) or not isinstance(top.get("resources"), dict):
        raise ModelError("Expected an object named 'resources'")
    resources = {
        name: _part(f"resource {name}", partial(_resource, name, value, input_path))
        for name, value in top["resources"].items()
    }
    dispatchables = parse_dispatchables(top, input_path)
    if not isinstance(top.get("commands"), list):
        raise ModelError("Expected an array field named 'commands'")
    commands = tuple(
        _part(f"command at index {index}", partial(_command, value, output_path, writable))
        for index, value in enumerate(top["commands"])
    )
    model = Model(resources, dispatchables, commands)
    _check_names(model)
    return model


def parse_dispatchables(top: Mapping[str, Any], input_path: Path) -> dict[str, Dispatchable]:
    """The dispatchables of a model's root object; raises ``ModelError``."""
    if not isinstance(top.get("dispatchables"), dict):
        raise ModelError("Expected an object named 'dispatchables'")
    return {
        name: _part(f"dispatchable {name}", partial(_dispatchable, name, value, input_path))
        for name, value in top["dispatchables"].items()
    }


def _part(part: str, parse: Callable[[], values.T]) -> values.T:
    try:
        return parse()
    except ModelError as error:
        raise ModelError(f"Failed to parse {part}: {error}") from None


def _resource(name: str, value: Any, folder: Path) -> ModelResource:
    mapping = members(value)
    data_type = optional(mapping, "initialValuesDataType", values.data_type, UNKNOWN)
    if "initialValues" not in mapping:
        raise ModelError("Field 'initialValues' is required.")
    initial = mapping["initialValues"]
    if isinstance(initial, str):
        if initial != "deferred":
            raise ModelError("The 'initialValuesDataType' only supports deferred")
        return ModelResource(name, data_type, 0, 0, bytes, deferred=True)
    content, value_size, data_type = initial_values(data_type, initial, folder)
    if not value_size:
        raise ModelError("'initialValues' must be non-empty.")
    size = optional(mapping, "sizeInBytes", values.uint64, -(-value_size // 4) * 4)
    offset = optional(mapping, "initialValuesOffsetInBytes", values.uint64, 0)
    if value_size + offset > size:
        raise ModelError(
            f"The buffer size ({size} bytes) is too small for the initialValues ({value_size} bytes) "
            f"at offset {offset} bytes."
        )
    memory = physical_memory()
    if memory is not None and COPIES * size > memory:
        raise ModelError(f"There is no memory for a buffer of {size} bytes.")
    return ModelResource(name, data_type, size, value_size, content)


COMPILE_TYPES = {"DmlCompileOp": False, "DmlCompileGraph": True}
HLSL = "HLSL dispatchables require DXCompiler"
ONNX = "ONNX dispatchables require ONNX Runtime"
FOREIGN = {"hlsl": HLSL, "onnx": ONNX}


def _dispatchable(name: str, value: Any, folder: Path) -> Dispatchable:
    mapping = members(value)
    kind = field(mapping, "type", values.text).lower()
    if kind in FOREIGN:
        return ForeignDispatchable(name, FOREIGN[kind])
    if kind == "dmlserializedgraph":
        source = source_path(folder, field(mapping, "sourcePath", values.text))
        _flags(mapping)
        return GraphDispatchable(name, source, _bindings(mapping.get("bindings")))
    desc = operator_desc(mapping)
    as_graph = optional(mapping, "dmlCompileType", _compile_type, False)
    return OperatorDispatchable(name, desc, _bindings(mapping.get("bindings")), as_graph, _flags(mapping))


def _flags(mapping: Mapping[str, Any]) -> DML_EXECUTION_FLAGS:
    return optional(mapping, "executionFlags", values.flags("DML_EXECUTION_FLAGS"), DML_EXECUTION_FLAG_NONE)


def _compile_type(value: Any) -> bool:
    kind = values.text(value)
    if kind not in COMPILE_TYPES:
        raise ModelError(f"'{kind}' is not a recognized value for DmlCompileType.")
    return COMPILE_TYPES[kind]


def _bindings(value: Any) -> Bindings:
    sources = value if isinstance(value, dict) else {}
    return {
        point: tuple(_source(item) for item in (source if isinstance(source, list) else [source]))
        for point, source in sources.items()
    }


def _source(value: Any) -> BindingSource:
    if not isinstance(value, dict):
        return BindingSource(value if isinstance(value, str) else "")
    optional(value, "format", values.text, "")
    optional(value, "shape", values.array(values.integer(64, signed=True)), NO_NUMBERS)
    counter = field(value, "counter", values.text) if "counter" in value else None
    if counter is not None:
        optional(value, "counterOffsetBytes", values.uint64, 0)
    return BindingSource(
        field(value, "name", values.text),
        optional(value, "elementCount", values.uint64, 0),
        optional(value, "elementSizeInBytes", values.uint64, 0),
        optional(value, "elementOffset", values.uint64, 0),
        counter,
    )


def _command(value: Any, folder: Path, writable: Sequence[Path] | None) -> Command:
    mapping = members(value)
    kind = field(mapping, "type", values.text).lower()
    text = json.dumps(value, separators=(",", ":"), ensure_ascii=False)
    if kind == "dispatch":
        name = field(mapping, "dispatchable", values.text)
        _check_groups(mapping.get("threadGroupCount", [1, 1, 1]))
        if not isinstance(mapping.get("bindings"), dict):
            raise ModelError("Expected an object field named 'bindings'.")
        return DispatchCommand(text, name, _bindings(mapping["bindings"]))
    if kind == "print":
        resource = field(mapping, "resource", values.text)
        return PrintCommand(text, resource, optional(mapping, "verbose", values.boolean, False))
    if kind == "writefile":
        resource = field(mapping, "resource", values.text)
        target = str(folder.absolute() / field(mapping, "targetPath", values.text))
        if writable is not None:
            check_target(target, writable)
        dimensions = optional(mapping, "dimensions", values.array(values.uint32), NO_NUMBERS)
        return WriteFileCommand(text, resource, target, dimensions)
    raise ModelError("Unrecognized command")


def _check_groups(value: Any) -> None:
    if (
        not isinstance(value, list)
        or len(value) != 3
        or any(type(count) is not int or count < 0 for count in value)
    ):
        raise ModelError("If 'threadGroupCount' is present it must be an array with 3 integers larger than 1")


def _check_names(model: Model) -> None:
    """Raise ``ModelError`` for a reference to a resource or a dispatchable that does not exist."""
    gone = "which does not exist in the model"
    for dispatchable in model.dispatchables.values():
        if isinstance(dispatchable, ForeignDispatchable):
            continue
        kind = "DML" if isinstance(dispatchable, OperatorDispatchable) else "DmlSerializedGraph"
        for source in _sources(dispatchable.bindings):
            if source.name not in model.resources:
                raise ModelError(
                    f"{kind} dispatchable attempts to bind resource '{source.name}' for initialization, {gone}"
                )
    for command in model.commands:
        if isinstance(command, DispatchCommand):
            if command.dispatchable not in model.dispatchables:
                raise ModelError(f"Command attempts to dispatch '{command.dispatchable}', {gone}")
            for source in _sources(command.bindings):
                if source.name not in model.resources:
                    raise ModelError(f"Command attempts to bind resource '{source.name}', {gone}")
                if source.counter is not None and source.counter not in model.resources:
                    raise ModelError(
                        f"Command attempts to bind resource '{source.counter}' as a counter, {gone}"
                    )
        elif command.resource not in model.resources:
            verb = "print" if isinstance(command, PrintCommand) else "write to a file the"
            raise ModelError(f"Command attempts to {verb} resource '{command.resource}', {gone}")


def _sources(bindings: Bindings) -> list[BindingSource]:
    return [source for sources in bindings.values() for source in sources]
