"""``IDMLDevice``, ``IDMLDevice1``, ``IDMLDebugDevice``, and how a device is made."""

from __future__ import annotations

from typing import Any

from ..api.arguments import counted, enumerator, instance
from ..api.arguments import flags as known_flags
from ..api.enums import DML_CREATE_DEVICE_FLAGS, DML_EXECUTION_FLAGS, DML_FEATURE_LEVEL
from ..api.hresult import DXGI_ERROR_UNSUPPORTED, E_NOTIMPL, DMLError
from ..api.iids import IID_IDMLDebugDevice, IID_IDMLDevice, IID_IDMLDevice1
from ..api.interface import IUnknown
from ..d3d12 import ID3D12Device
from ..operators import OPERATORS, check
from ..validation.report import Report
from .binding_table import IDMLBindingTable
from .compiled_operator import IDMLCompiledOperator, IDMLOperator
from .feature_support import check_feature_support
from .initializer import IDMLOperatorInitializer, read_operators
from .objects import SAME_DEVICE, IDMLObject, IDMLPageable
from .recorder import IDMLCommandRecorder
from .removal import Removal, hresult_method, same_device

HIGHEST_FEATURE_LEVEL = max(DML_FEATURE_LEVEL)


class IDMLDevice(IDMLObject):
    """A DirectML device, a thread-safe factory (nn-directml-idmldevice).

    Every method but GetDeviceRemovedReason raises ``DMLError`` ``DXGI_ERROR_DEVICE_REMOVED`` once the device is
    removed.
    """

    IID = IID_IDMLDevice

    def __init__(
        self, d3d12_device: ID3D12Device, flags: DML_CREATE_DEVICE_FLAGS, feature_level: DML_FEATURE_LEVEL
    ) -> None:
        super().__init__()
        self.d3d12_device = d3d12_device
        self.flags = flags
        self.feature_level = feature_level
        self.removal = Removal(d3d12_device, flags)

    def QueryInterface(self, riid: Any) -> Any:
        """Also gives the IDMLDebugDevice of a device made with DML_CREATE_DEVICE_FLAG_DEBUG."""
        if self.removal.debug and riid in (IID_IDMLDebugDevice, IDMLDebugDevice):
            return IDMLDebugDevice(self)
        return super().QueryInterface(riid)

    @hresult_method
    def CheckFeatureSupport(
        self,
        feature: int,
        featureQueryDataSize: Any,
        featureQueryData: Any,
        featureSupportDataSize: Any = None,
        featureSupportData: Any = None,
    ) -> None:
        """Fill ``featureSupportData``; ``(feature, query, support)`` without the sizes will do.

        Raises ``DMLError`` ``DXGI_ERROR_UNSUPPORTED`` or ``E_INVALIDARG``
        (nf-directml-idmldevice-checkfeaturesupport).
        """
        if featureSupportData is None and featureSupportDataSize is None:
            arguments = (None, featureQueryDataSize, None, featureQueryData)
        else:
            arguments = (featureQueryDataSize, featureQueryData, featureSupportDataSize, featureSupportData)
        check_feature_support(self.feature_level, feature, *arguments)

    @hresult_method
    def CreateOperator(self, desc: Any) -> IDMLOperator:
        """Check an operator desc. Raises ``DMLError`` ``E_INVALIDARG`` with a diagnostic for every broken rule,
        ``TypeError`` for what is no desc."""
        decoded, report = check(desc, self.feature_level)
        name = "the operator" if decoded is None else decoded.struct.name
        self.removal.report(f"CreateOperator refuses {name}:", report)
        assert decoded is not None
        return IDMLOperator(self, decoded)

    @hresult_method
    def CompileOperator(self, op: IDMLOperator, flags: int = 0) -> IDMLCompiledOperator:
        """Choose the kernel of an operator. Raises ``DMLError`` ``E_NOTIMPL`` if there is none yet."""
        report = Report()
        same_device(IDMLOperator, op, "op", self, report, SAME_DEVICE)
        self.removal.report("CompileOperator failed:", report)
        kind = known_flags(flags, DML_EXECUTION_FLAGS, "flags")
        implementation = OPERATORS.get(op.desc.name)
        if implementation is None:
            raise DMLError(E_NOTIMPL, f"{op.desc.schema.type_name} cannot be executed yet; its desc is valid")
        return IDMLCompiledOperator(op, kind, implementation)

    @hresult_method
    def CreateOperatorInitializer(
        self, operatorCount: Any = 0, operators: Any = None
    ) -> IDMLOperatorInitializer:
        """``(count, operators)`` or ``(operators)``."""
        return IDMLOperatorInitializer(
            self, read_operators(self, operatorCount, operators, "CreateOperatorInitializer")
        )

    @hresult_method
    def CreateCommandRecorder(self) -> IDMLCommandRecorder:
        return IDMLCommandRecorder(self)

    @hresult_method
    def CreateBindingTable(self, desc: Any = None) -> IDMLBindingTable:
        """``desc`` is a DML_BINDING_TABLE_DESC; None makes an empty table. Raises ``DMLError`` ``E_INVALIDARG``."""
        return IDMLBindingTable(self, desc)

    @hresult_method
    def Evict(self, count: Any, ppObjects: Any = None) -> None:
        """``(count, objects)`` or ``(objects)``. Memory here is always resident: this only checks."""
        self._pageables(count, ppObjects, "Evict")

    @hresult_method
    def MakeResident(self, count: Any, ppObjects: Any = None) -> None:
        """``(count, objects)`` or ``(objects)``. Memory here is always resident: this only checks."""
        self._pageables(count, ppObjects, "MakeResident")

    def _pageables(self, count: Any, objects: Any, method: str) -> None:
        report = Report()
        for index, item in enumerate(counted(count, objects, "count", "ppObjects")):
            same_device(IDMLPageable, item, f"ppObjects[{index}]", self, report, SAME_DEVICE)
        self.removal.report(f"{method} failed:", report)

    def GetDeviceRemovedReason(self) -> int:
        """S_OK, or the HRESULT that removed the device."""
        return self.removal.reason

    @hresult_method
    def GetParentDevice(self) -> ID3D12Device:
        return self.d3d12_device


class IDMLDevice1(IDMLDevice):
    """A device that compiles graphs, from feature level 2_1 on (nn-directml-idmldevice1)."""

    IID = IID_IDMLDevice1

    @hresult_method
    def CompileGraph(self, desc: Any, flags: int = 0) -> IDMLCompiledOperator:
        """Raises ``DMLError`` ``E_NOTIMPL``: graphs cannot be compiled yet."""
        raise DMLError(E_NOTIMPL, "CompileGraph is not there yet")


class IDMLDebugDevice(IUnknown):
    """The switch of a debug device's output (nn-directml-idmldebugdevice)."""

    IID = IID_IDMLDebugDevice

    def __init__(self, device: IDMLDevice) -> None:
        self._device = device

    def QueryInterface(self, riid: Any) -> Any:
        """The device's interfaces too: they are one COM object."""
        if riid in (IDMLDebugDevice, IID_IDMLDebugDevice):
            return self
        return self._device.QueryInterface(riid)

    def SetMuteDebugOutput(self, mute: bool) -> None:
        """Whether messages stay out of the ID3D12InfoQueue and of the logger ``directml_py``."""
        self._device.removal.muted = bool(mute)


def DMLCreateDevice(
    d3d12Device: ID3D12Device, flags: int = 0, *, feature_level: int = HIGHEST_FEATURE_LEVEL
) -> IDMLDevice:
    """A DirectML device on a Direct3D 12 device (nf-directml-dmlcreatedevice).

    ``feature_level`` is the highest level that this emulated DirectML supports. From 2_1 on the device is an
    IDMLDevice1. Raises ``TypeError`` for what is no device, ``DMLError`` ``E_INVALIDARG`` for unknown flags or
    levels.
    """
    return DMLCreateDevice1(
        d3d12Device, flags, DML_FEATURE_LEVEL.DML_FEATURE_LEVEL_1_0, feature_level=feature_level
    )


def DMLCreateDevice1(
    d3d12Device: ID3D12Device,
    flags: int = 0,
    minimumFeatureLevel: int = DML_FEATURE_LEVEL.DML_FEATURE_LEVEL_1_0,
    *,
    feature_level: int = HIGHEST_FEATURE_LEVEL,
) -> IDMLDevice:
    """As DMLCreateDevice; raises ``DMLError`` ``DXGI_ERROR_UNSUPPORTED`` if ``minimumFeatureLevel`` is above
    ``feature_level`` (nf-directml-dmlcreatedevice1)."""
    instance(d3d12Device, ID3D12Device, "d3d12Device")
    kind = known_flags(flags, DML_CREATE_DEVICE_FLAGS, "flags")
    level = enumerator(feature_level, DML_FEATURE_LEVEL, "feature_level")
    minimum = enumerator(minimumFeatureLevel, DML_FEATURE_LEVEL, "minimumFeatureLevel")
    if minimum > level:
        raise DMLError(
            DXGI_ERROR_UNSUPPORTED, f"minimumFeatureLevel is {minimum.name}; this device has {level.name}"
        )
    has_graphs = level >= DML_FEATURE_LEVEL.DML_FEATURE_LEVEL_2_1
    return (IDMLDevice1 if has_graphs else IDMLDevice)(d3d12Device, kind, level)
