"""A real DirectML library: validation and execution of operators."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from ..abi.hresult import E_INVALIDARG, NAMES, DMLError
from ..api.enums import DML_FEATURE_FEATURE_LEVELS, DML_FEATURE_LEVEL
from ..api.structs import (
    DML_FEATURE_DATA_FEATURE_LEVELS,
    DML_FEATURE_QUERY_FEATURE_LEVELS,
    DML_GRAPH_DESC,
    DML_OPERATOR_DESC,
)
from ..descs.decode import decode_operator_desc
from ..descs.encode import encode
from ..descs.operator_desc import OperatorDesc
from ..dml import IDMLCompiledOperator
from ..runner import Runner
from ..shortcuts import input_array
from .com_calls import Object, RealDevice, RealOperator, iid_of
from .comparison import Comparison, compare_with
from .loading import HardwareError, Libraries, PathLike, load_libraries

Array = npt.NDArray[Any]
# D3D_FEATURE_LEVEL_11_0, and D3D_FEATURE_LEVEL_1_0_CORE of compute-only devices.
D3D_LEVELS = (0xB000, 0x1000)


class Verdict(NamedTuple):
    """A library's verdict on a desc: the HRESULT, and the method that returned it."""

    hresult: int
    stage: str

    @property
    def accepted(self) -> bool:
        return self.hresult == 0

    def __str__(self) -> str:
        if self.accepted:
            return "accepted"
        return f"refused by {self.stage}: {NAMES.get(self.hresult, 'HRESULT')}, 0x{self.hresult:08X}"


class Library:
    """A DirectML device of a real library. Close it, or use it in a ``with`` statement.

    ``compiles`` tells whether its Direct3D 12 device creates pipelines, ``executes`` whether it runs them.
    """

    def __init__(self, libraries: Libraries) -> None:
        self.compiles = self.executes = not libraries.emulated
        self._libraries = libraries
        self._d3d12 = _create_d3d12(libraries)
        try:
            self._dml = _create_dml(libraries, self._d3d12)
            self.feature_level = self._feature_level()
        except BaseException:
            self.close()
            raise

    def device(self) -> RealDevice:
        """Another DirectML device, which an error may remove."""
        return _create_dml(self._libraries, self._d3d12)

    def close(self) -> None:
        """Release the devices; idempotent."""
        for name in ("_dml", "_d3d12"):
            owned = getattr(self, name, None)
            if owned is not None:
                owned.release()

    def __enter__(self) -> Library:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def validate(self, desc: Any) -> Verdict:
        """The library's verdict on an operator desc, by CreateOperator and, if the library compiles, CompileOperator.

        Raises ``TypeError`` for an argument that is not a desc, ``ValueError`` for one that cannot be read.
        """
        created: list[Object] = []
        try:
            self._compile(_decoded(desc), created, self.compiles)
        except _Refused as refusal:
            return refusal.verdict
        finally:
            _release(created)
        return Verdict(0, "CreateOperator")

    def validate_graph(self, descs: Sequence[Any], connect: Callable[[list[int]], DML_GRAPH_DESC]) -> Verdict:
        """The library's verdict on a graph of operators, by CreateOperator for each and CompileGraph. ``connect``
        builds the graph desc from the operators' addresses.

        On the emulated device, which has no shaders, CompileGraph fails for a valid graph with another error than
        E_INVALIDARG when it creates shaders; such a graph counts as accepted.
        """
        created: list[Object] = []
        stage = "CompileGraph"
        try:
            for desc in descs:
                self._compile(_decoded(desc), created, False)
            graph = connect([operator.address for operator in created])
            created.append(self._dml.create(stage, "IDMLCompiledOperator", graph, 0))
        except _Refused as refusal:
            return refusal.verdict
        except DMLError as error:
            if self.compiles or error.hresult == E_INVALIDARG:
                return Verdict(error.hresult, stage)
        finally:
            _release(created)
        return Verdict(0, stage)

    def evaluate(self, desc: Any, inputs: Sequence[Any]) -> list[Array | None]:
        """Run one operator on arrays, as ``directml_py.evaluate`` does.

        Raises ``HardwareError`` if the library was opened for validation only, ``DMLError`` if a call fails,
        ``TypeError`` and ``ValueError`` for invalid inputs.
        """
        if not self.executes:
            raise HardwareError(
                "this library was opened without d3d12, on the emulated device, which runs no shaders"
            )
        decoded = _decoded(desc)
        if len(inputs) != len(decoded.inputs):
            raise ValueError(
                f"inputs has {len(inputs)} arrays; the operator has {len(decoded.inputs)} input tensors"
            )
        arrays = [input_array(slot, value) for slot, value in zip(decoded.inputs, inputs)]
        created: list[Object] = []
        try:
            compiled = self._compile(decoded, created)
            assert isinstance(compiled, RealOperator)
            compiled.device, compiled.inputs, compiled.outputs = self._dml, decoded.inputs, decoded.outputs
            # The methods and properties that a runner asks for are those of the emulator's class.
            return Runner(cast(IDMLCompiledOperator, compiled)).run(arrays)
        except _Refused as refusal:
            raise DMLError(refusal.verdict.hresult, f"{refusal.verdict.stage} failed") from None
        finally:
            _release(created)

    def compare(self, desc: Any, inputs: Sequence[Any] | None = None) -> Comparison:
        """Compare both sides' verdicts on a desc and, if both accept it and the library executes, their outputs for
        ``inputs`` (None: random ones)."""
        decoded = _decoded(desc)
        return compare_with(self, decoded, inputs, self.feature_level)

    def _compile(self, desc: OperatorDesc, created: list[Object], compiles: bool = True) -> Object:
        typed = encode(desc)
        holder = DML_OPERATOR_DESC(desc.schema.value, ctypes.addressof(typed))
        stage = "CreateOperator"
        try:
            op = self._dml.create(stage, "IDMLOperator", holder)
            created.append(op)
            if compiles:
                stage = "CompileOperator"
                created.append(self._dml.create(stage, "IDMLCompiledOperator", op, 0))
        except DMLError as error:
            raise _Refused(Verdict(error.hresult, stage)) from None
        return created[-1]

    def _feature_level(self) -> DML_FEATURE_LEVEL:
        levels = (ctypes.c_uint32 * len(DML_FEATURE_LEVEL))(*DML_FEATURE_LEVEL)
        query = DML_FEATURE_QUERY_FEATURE_LEVELS(len(levels), ctypes.addressof(levels))
        support = DML_FEATURE_DATA_FEATURE_LEVELS()
        sizes = ctypes.sizeof(query), ctypes.sizeof(support)
        arguments = (int(DML_FEATURE_FEATURE_LEVELS), sizes[0], query, sizes[1], support)
        self._dml.call("CheckFeatureSupport", *arguments)
        return DML_FEATURE_LEVEL(support.MaxSupportedFeatureLevel)


class _Refused(Exception):
    def __init__(self, verdict: Verdict) -> None:
        super().__init__(str(verdict))
        self.verdict = verdict


def _release(created: list[Object]) -> None:
    while created:
        created.pop().release()


def _decoded(desc: Any) -> OperatorDesc:
    if isinstance(desc, OperatorDesc):
        return desc
    decoded, diagnostics = decode_operator_desc(desc)
    if decoded is None or diagnostics:
        raise ValueError("; ".join(map(str, diagnostics)) or "desc is null")
    assert isinstance(decoded, OperatorDesc)
    return decoded


def _create_d3d12(libraries: Libraries) -> Object:
    function = libraries.d3d12.D3D12CreateDevice
    function.restype = ctypes.c_int32
    function.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_void_p]
    device, iid = ctypes.c_void_p(), iid_of("ID3D12Device")
    result = 0
    for level in D3D_LEVELS:
        result = function(None, level, ctypes.addressof(iid), ctypes.addressof(device))
        if result >= 0 and device.value:
            return Object(device.value, "ID3D12Device")
    raise HardwareError(f"D3D12CreateDevice found no device: 0x{result & 0xFFFFFFFF:08X}")


def _create_dml(libraries: Libraries, d3d12: Object) -> RealDevice:
    function = libraries.directml.DMLCreateDevice1
    function.restype = ctypes.c_int32
    function.argtypes = [
        ctypes.c_void_p,
        ctypes.c_int32,
        ctypes.c_int32,
        ctypes.c_void_p,
        ctypes.c_void_p,
    ]
    device, iid = ctypes.c_void_p(), iid_of("IDMLDevice1")
    lowest = int(DML_FEATURE_LEVEL.DML_FEATURE_LEVEL_1_0)
    result = function(d3d12.address, 0, lowest, ctypes.addressof(iid), ctypes.addressof(device))
    if result < 0 or not device.value:
        raise HardwareError(f"DMLCreateDevice1 failed: 0x{result & 0xFFFFFFFF:08X}")
    created = RealDevice(device.value, "IDMLDevice1")
    created.d3d12_device = d3d12
    return created


_opened: list[Library] = []


def open(directml: PathLike, d3d12: PathLike | None = None, dxcore: PathLike | None = None) -> Library:
    """Open the DirectML library ``directml`` on a device of the library ``d3d12``.

    Without ``d3d12`` the device is emulated: it supports validation and executes nothing. ``dxcore`` is loaded before
    ``d3d12``; by default the one beside it. The module's ``validate``, ``evaluate`` and ``compare`` use the open
    library. Raises ``HardwareError`` if a library cannot be used.
    """
    library = Library(load_libraries(directml, d3d12, dxcore))
    close()
    _opened.append(library)
    return library


def close() -> None:
    """Close the open library."""
    while _opened:
        _opened.pop().close()


def _current() -> Library:
    if not _opened:
        raise HardwareError("no library is open: call hardware.open(directml=PATH) first")
    return _opened[-1]


def validate(desc: Any) -> Verdict:
    """``Library.validate`` of the open library."""
    return _current().validate(desc)


def evaluate(desc: Any, inputs: Sequence[Any]) -> list[np.ndarray[Any, Any] | None]:
    """``Library.evaluate`` of the open library."""
    return _current().evaluate(desc, inputs)


def compare(desc: Any, inputs: Sequence[Any] | None = None) -> Comparison:
    """``Library.compare`` of the open library."""
    return _current().compare(desc, inputs)
