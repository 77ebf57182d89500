"""One real DirectML: what it accepts and what it computes."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

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
from ..shortcuts import input_array
from .com_calls import Object, iid_of
from .comparison import Comparison, compare_with
from .gpu_execution import GpuExecution
from .hardware_error import HardwareError
from .loading import Libraries, PathLike, load_libraries

Array = npt.NDArray[Any]
# D3D_FEATURE_LEVEL_11_0, and that of devices that compute and do not draw.
D3D_LEVELS = (0xB000, 0x1000)


class Verdict(NamedTuple):
    """What a library says of a desc: the HRESULT, and the method that returned it."""

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
    """A DirectML device of a real library. Close it, or use it in a ``with``."""

    def __init__(self, libraries: Libraries) -> None:
        self.executes = not libraries.emulated
        self._d3d12 = _create_d3d12(libraries)
        try:
            self._dml = _create_dml(libraries, self._d3d12)
            self.feature_level = self._feature_level()
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Release the devices. What is closed already stays so."""
        for name in ("_dml", "_d3d12"):
            owned = getattr(self, name, None)
            if owned is not None:
                owned.release()

    def __enter__(self) -> Library:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def validate(self, desc: Any) -> Verdict:
        """Whether the library takes an operator desc: by CreateOperator, and by CompileOperator too where the library
        executes.

        Raises ``TypeError`` for what is no desc, ``ValueError`` for one that cannot be read.
        """
        created: list[Object] = []
        try:
            self._compile(_decoded(desc), created, self.executes)
        except _Refused as refusal:
            return refusal.verdict
        finally:
            _release(created)
        return Verdict(0, "CreateOperator")

    def validate_graph(self, descs: Sequence[Any], connect: Callable[[list[int]], DML_GRAPH_DESC]) -> Verdict:
        """Whether the library takes a graph of operators: by CreateOperator of each, and by CompileGraph. ``connect``
        makes the desc, of the addresses of the operators.

        On the emulated device, which has no shaders, a graph in which CompileGraph finds no mistake before it makes
        some ends with another error than E_INVALIDARG, and counts as accepted.
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
            if self.executes or error.hresult == E_INVALIDARG:
                return Verdict(error.hresult, stage)
        finally:
            _release(created)
        return Verdict(0, stage)

    def evaluate(self, desc: Any, inputs: Sequence[Any]) -> list[Array | None]:
        """Run one operator on arrays, as ``directml_py.evaluate`` does.

        Raises ``HardwareError`` for a library that was opened for validation alone, ``DMLError`` for a call that
        fails, ``TypeError`` and ``ValueError`` for inputs that do not fit.
        """
        if not self.executes:
            raise HardwareError(
                "this library was opened without d3d12, on the emulated device, which runs no shaders"
            )
        own = _decoded(desc)
        if len(inputs) != len(own.inputs):
            raise ValueError(
                f"inputs has {len(inputs)} arrays; the operator has {len(own.inputs)} input tensors"
            )
        arrays = [input_array(slot, value) for slot, value in zip(own.inputs, inputs)]
        created: list[Object] = []
        execution = GpuExecution(self._d3d12, self._dml)
        try:
            compiled = self._compile(own, created)
            return execution.run(compiled, own.inputs, own.outputs, arrays)
        except _Refused as refusal:
            raise DMLError(refusal.verdict.hresult, f"{refusal.verdict.stage} failed") from None
        finally:
            execution.release()
            _release(created)

    def compare(self, desc: Any, inputs: Sequence[Any] | None = None) -> Comparison:
        """What both sides say of a desc and, where both take it and the library executes, compute of ``inputs``
        (None: random ones)."""
        own = _decoded(desc)
        return compare_with(self, own, inputs, self.feature_level)

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
    decoded, faults = decode_operator_desc(desc)
    if decoded is None or faults:
        raise ValueError("; ".join(map(str, faults)) or "desc is null")
    assert isinstance(decoded, OperatorDesc)
    return decoded


def _create_d3d12(libraries: Libraries) -> Object:
    function = libraries.d3d12.D3D12CreateDevice
    function.restype = ctypes.c_int32
    function.argtypes = [ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_void_p]
    found, iid = ctypes.c_void_p(), iid_of("ID3D12Device")
    result = 0
    for level in D3D_LEVELS:
        result = function(None, level, ctypes.addressof(iid), ctypes.addressof(found))
        if result >= 0 and found.value:
            return Object(found.value, "ID3D12Device")
    raise HardwareError(f"D3D12CreateDevice found no device: 0x{result & 0xFFFFFFFF:08X}")


def _create_dml(libraries: Libraries, d3d12: Object) -> Object:
    function = libraries.directml.DMLCreateDevice1
    function.restype = ctypes.c_int32
    function.argtypes = [
        ctypes.c_void_p,
        ctypes.c_int32,
        ctypes.c_int32,
        ctypes.c_void_p,
        ctypes.c_void_p,
    ]
    found, iid = ctypes.c_void_p(), iid_of("IDMLDevice1")
    lowest = int(DML_FEATURE_LEVEL.DML_FEATURE_LEVEL_1_0)
    result = function(d3d12.address, 0, lowest, ctypes.addressof(iid), ctypes.addressof(found))
    if result < 0 or not found.value:
        raise HardwareError(f"DMLCreateDevice1 failed: 0x{result & 0xFFFFFFFF:08X}")
    return Object(found.value, "IDMLDevice1")


_opened: list[Library] = []


def open(directml: PathLike, d3d12: PathLike | None = None, dxcore: PathLike | None = None) -> Library:
    """The DirectML in the library ``directml``, on the device of the library ``d3d12``.

    Without ``d3d12`` that device is the emulated one: it answers what descs are checked with and executes nothing.
    ``dxcore`` is loaded before ``d3d12``; left out, the one beside it. What is open is what ``validate``, ``evaluate``
    and ``compare`` of this package ask. Raises ``HardwareError`` for what cannot be used.
    """
    library = Library(load_libraries(directml, d3d12, dxcore))
    close()
    _opened.append(library)
    return library


def close() -> None:
    """Close the library that is open."""
    while _opened:
        _opened.pop().close()


def _open_one() -> Library:
    if not _opened:
        raise HardwareError("no library is open: call hardware.open(directml=PATH) first")
    return _opened[-1]


def validate(desc: Any) -> Verdict:
    """As ``Library.validate``, of the library that is open."""
    return _open_one().validate(desc)


def evaluate(desc: Any, inputs: Sequence[Any]) -> list[np.ndarray[Any, Any] | None]:
    """As ``Library.evaluate``, of the library that is open."""
    return _open_one().evaluate(desc, inputs)


def compare(desc: Any, inputs: Sequence[Any] | None = None) -> Comparison:
    """As ``Library.compare``, of the library that is open."""
    return _open_one().compare(desc, inputs)
