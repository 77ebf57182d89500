"""``python -m directml_py dispatch``: runs DxDispatch models, with DxDispatch's options and output."""

from __future__ import annotations

import argparse
import platform
import re
import sys
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path

import numpy as np

from .._version import __version__
from ..abi.hresult import DMLError
from ..api.d3d12_enums import DXCoreAdapterProperty
from ..api.enums import DML_CREATE_DEVICE_FLAG_DEBUG, DML_CREATE_DEVICE_FLAG_NONE, DML_FEATURE_LEVEL
from ..capturing import capture
from ..d3d12 import D3D12CreateDevice, D3D12GetDebugInterface
from ..d3d12.adapters import HARDWARE
from ..d3d12.debug import debug_layer_enabled
from ..d3d12.dxcore import (
    DXCORE_ADAPTER_ATTRIBUTE_D3D12_CORE_COMPUTE,
    DXCORE_ADAPTER_ATTRIBUTE_D3D12_GENERIC_ML,
    DXCORE_ADAPTER_ATTRIBUTE_D3D12_GRAPHICS,
    DXCoreCreateAdapterFactory,
)
from ..dml import DMLCreateDevice, IDMLDevice
from ..kernels import backend
from ..validation.support_rules import HIGHEST_FEATURE_LEVEL
from .catalog_document import API_VERSION

HELP = "Run a DxDispatch model, with DxDispatch's options and output; exit code 1 on failure."
SUFFIXES = (".json", ".onnx")
# The values of a resource that a screen has room for.
MOST_PRINTED = 100
BARRIERS = {"none": False, "uav": True}


def _count(text: str) -> int:
    number = int(text)
    if not 0 <= number < 1 << 32:
        raise ValueError(text)
    return number


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("model", metavar="MODEL", nargs="?", help="a model, as JSON")
    parser.add_argument("-m", "--model", dest="model_option", metavar="MODEL", help="the same")
    parser.add_argument("-d", "--debug", action="store_true", help="report what the debug layers find")
    parser.add_argument("-s", "--show_adapters", action="store_true", help="list the adapters and exit")
    parser.add_argument(
        "-S",
        "--show_dependencies",
        action="store_true",
        help="list the software that models run on, with versions, and exit",
    )
    parser.add_argument("--input_path", metavar="PATH", type=Path, help="the folder of the model's files")
    parser.add_argument(
        "--output_path", metavar="PATH", type=Path, help="the folder that files are written to"
    )
    parser.add_argument(
        "--writes_outside",
        action="store_true",
        help="let the model write files outside of that folder and its own, as DxDispatch does",
    )
    parser.add_argument(
        "--print_all",
        action="store_true",
        help=f"print all values of a resource, as DxDispatch does, not {MOST_PRINTED} of more",
    )
    parser.add_argument("--print_commands", action="store_true", help="log the start and end of commands")
    parser.add_argument(
        "--dml_feature_level", metavar="LEVEL", help="emulate a DirectML of this level, such as 5.0"
    )
    parser.add_argument(
        "--post_dispatch_barriers",
        choices=BARRIERS,
        default="uav",
        help="barriers after each dispatch (uav)",
    )
    parser.add_argument(
        "-c",
        "--pix_capture_type",
        choices=("gpu", "manual"),
        default="manual",
        help="gpu writes a capture of this package, not of PIX: see capture --help (manual: none)",
    )
    parser.add_argument(
        "-o",
        "--pix_capture_name",
        metavar="FOLDER",
        default="dxdispatch",
        help="where -c gpu writes it, a new or an empty folder (%(default)s)",
    )
    parser.add_argument(
        "-p",
        "--print_onnx_bindings",
        action="store_true",
        help="accepted without effect: ONNX models do not run here",
    )
    timing = parser.add_argument_group("timing")
    for short, long, default, text in (
        ("-i", "--dispatch_iterations", 1, "how many times a dispatch is bound, executed and waited for (1)"),
        ("-r", "--dispatch_repeat", 1, "dispatches in each command list (1)"),
        ("-t", "--milliseconds_to_run", None, "iterate for this many milliseconds instead"),
        ("-I", "--dispatch_interval", 0, "minimum milliseconds from one iteration to the next (0)"),
        ("-w", "--warmup_samples", 1, "maximum number of samples that timings leave out (1)"),
    ):
        timing.add_argument(short, long, metavar="N", type=_count, default=default, help=text)
    timing.add_argument(
        "-v",
        "--timing_verbosity",
        type=int,
        choices=(0, 1, 2),
        default=0,
        help="verbosity of timings (0)",
    )


class ConsoleLog:
    """Log lines to standard output, failures to standard error, with undecodable bytes as they are."""

    def info(self, line: str) -> None:
        _write(sys.stdout, line)

    def error(self, line: str) -> None:
        _write(sys.stderr, line)


def _write(stream: object, line: str) -> None:
    try:
        data = line.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        data = line.encode("utf-8", "replace")
    binary = getattr(stream, "buffer", None)
    if binary is None:
        print(data.decode(errors="replace"), file=stream, flush=True)  # type: ignore[call-overload]
    else:
        binary.write(data + b"\n")
        binary.flush()


def run(arguments: argparse.Namespace) -> int:
    """The exit code: 0, or 1 if the model fails or the requested device cannot be created."""
    from ..dxdispatch import ModelError, RunOptions, load

    log = ConsoleLog()
    if arguments.show_adapters:
        log.info(adapter_lines())
        return 0
    if arguments.show_dependencies:
        log.info(dependency_lines())
        return 0
    name = arguments.model_option or arguments.model
    if name is None:
        log.error("dispatch: MODEL is missing; see --help")
        return 2
    try:
        device = _device(arguments.dml_feature_level, arguments.debug)
    except (DMLError, ValueError) as error:
        log.error(f"Failed to create a device: {error}")
        return 1
    log.info(f"Running on '{HARDWARE.description}'")
    if Path(name).suffix not in SUFFIXES:
        log.error("Expected a .json or .onnx file")
        return 1
    try:
        model = load(name, arguments.input_path, arguments.output_path, arguments.writes_outside)
    except ModelError as error:
        log.error(f"Failed to parse the model: {error}")
        return 1
    options = RunOptions(
        arguments.dispatch_iterations,
        arguments.dispatch_repeat,
        arguments.milliseconds_to_run,
        arguments.dispatch_interval,
        arguments.warmup_samples,
        arguments.timing_verbosity,
        BARRIERS[arguments.post_dispatch_barriers],
        arguments.print_commands,
        None if arguments.print_all else MOST_PRINTED,
    )
    try:
        with _capturing(arguments):
            model.run(device, options, log)
    except ModelError as error:
        log.error(f"Failed to execute the model: {error}")
        return 1
    except OSError as error:
        if arguments.pix_capture_type != "gpu" or isinstance(error, BrokenPipeError):
            # Of the output, which `main` reports.
            raise
        log.error(f"Failed to write the capture: {error}")
        return 1
    return 0


def _capturing(arguments: argparse.Namespace) -> AbstractContextManager[object]:
    return capture(arguments.pix_capture_name) if arguments.pix_capture_type == "gpu" else nullcontext()


def _device(level: str | None, debug: bool) -> IDMLDevice:
    """The device to run on. Raises ``ValueError`` for an unknown feature level."""
    was_enabled = debug_layer_enabled()
    if debug:
        D3D12GetDebugInterface().EnableDebugLayer()
    try:
        device = D3D12CreateDevice()
    finally:
        if debug and not was_enabled:
            D3D12GetDebugInterface().DisableDebugLayer()
    flags = DML_CREATE_DEVICE_FLAG_DEBUG if debug else DML_CREATE_DEVICE_FLAG_NONE
    return DMLCreateDevice(device, flags, feature_level=_level(level))


def _level(text: str | None) -> DML_FEATURE_LEVEL:
    if text is None:
        return HIGHEST_FEATURE_LEVEL
    numbers = re.fullmatch(r"(\d)(?:\.(\d))?f?", text)
    name = f"DML_FEATURE_LEVEL_{numbers[1]}_{numbers[2] or 0}" if numbers else ""
    if name not in DML_FEATURE_LEVEL.__members__:
        raise ValueError(f"--dml_feature_level is '{text}', which is not a DML_FEATURE_LEVEL")
    return DML_FEATURE_LEVEL[name]


def dependency_lines() -> str:
    """The versions of what models run on, as DxDispatch lists those of its libraries."""
    lines = {
        "directml-py": __version__,
        "DirectML": f"{API_VERSION}, emulated",
        "D3D12": "emulated",
        "Python": platform.python_version(),
        "NumPy": np.__version__,
        "kernels": backend.title,
    }
    return "\n".join(f"{name:<14} : {text}" for name, text in lines.items())


def adapter_lines() -> str:
    """The adapter's properties, as DxDispatch lists them."""
    adapter = DXCoreCreateAdapterFactory().GetAdapterByLuid(HARDWARE.luid)
    read, has, properties = adapter.GetProperty, adapter.IsAttributeSupported, DXCoreAdapterProperty
    version = read(properties.DriverVersion)
    lines = {
        "Version": ".".join(str(version >> shift & 0xFFFF) for shift in (48, 32, 16, 0)),
        "Hardware": read(properties.IsHardware),
        "Integrated": read(properties.IsIntegrated),
        "Dedicated Adapter Memory": _size(read(properties.DedicatedAdapterMemory)),
        "Dedicated System Memory": _size(read(properties.DedicatedSystemMemory)),
        "Shared System Memory": _size(read(properties.SharedSystemMemory)),
        "D3D12_GRAPHICS": has(DXCORE_ADAPTER_ATTRIBUTE_D3D12_GRAPHICS),
        "CORE_COMPUTE": has(DXCORE_ADAPTER_ATTRIBUTE_D3D12_CORE_COMPUTE),
        "GENERIC_ML": has(DXCORE_ADAPTER_ATTRIBUTE_D3D12_GENERIC_ML),
    }
    rows = (
        f"-{name}: {str(value).lower() if isinstance(value, bool) else value}"
        for name, value in lines.items()
    )
    return "\n".join([HARDWARE.description, *rows])


def _size(size: int) -> str:
    for unit, name in ((1 << 30, "GB"), (1 << 20, "MB"), (1 << 10, "KB")):
        if size > unit:
            return f"{size / unit:.2f} {name}"
    return f"{size} bytes"
