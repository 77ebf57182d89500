"""``IDMLDevice``, ``IDMLDevice1``, ``IDMLDebugDevice`` and device creation."""

from __future__ import annotations

from functools import partial
from typing import Any

from ..abi.arguments import counted, enumerator, instance, is_series, signed_int
from ..abi.arguments import flags as known_flags
from ..abi.hresult import DXGI_ERROR_UNSUPPORTED, E_INVALIDARG
from ..abi.interface import IUnknown
from ..abi.rules import LIBRARY, Severity, rule, violation
from ..api.enums import (
    DML_CREATE_DEVICE_FLAGS,
    DML_EXECUTION_FLAG_ALLOW_HALF_PRECISION_COMPUTATION,
    DML_EXECUTION_FLAGS,
    DML_FEATURE_LEVEL,
    DML_FEATURE_LEVEL_1_0,
    DML_FEATURE_LEVEL_2_1,
)
from ..api.iids import IID_IDMLDebugDevice, IID_IDMLDevice, IID_IDMLDevice1
from ..d3d12 import ID3D12Device
from ..garbage_collector import paused
from ..late import loading
from ..operators import check, kernel_of, operator_of
from ..operators.program import Kernels, OperatorProgram
from ..runtime.observers import created, watchers
from ..validation.decode_rules import FAULT_RULES
from ..validation.report import Report
from ..validation.support_rules import HIGHEST_FEATURE_LEVEL, LEVEL
from ..validation.tensor_rules import level_name
from .binding_table import IDMLBindingTable
from .command_recorder import IDMLCommandRecorder
from .compiled_operator import IDMLCompiledOperator, IDMLOperator, desc_of_operator
from .device_removal import hresult_method, make_removal, same_device
from .dml_object import SAME_DEVICE, IDMLPageable, OwnerDevice
from .feature_support import check_feature_support, check_types
from .initializer import IDMLOperatorInitializer, read_operators
from .profiles import KIND, Profile, ProfileLike, profile_of

KNOWN_LEVELS = frozenset(DML_FEATURE_LEVEL)

CREATE_FLAGS = rule(
    "DML-CreateDevice-flags",
    "flags has only bits of DML_CREATE_DEVICE_FLAGS",
    "ne-directml-dml_create_device_flags",
)
# A number above all known levels may be a level of a later version, which is not supported.
MINIMUM_LEVEL = rule(
    "DML-CreateDevice-minimum-feature-level",
    "minimumFeatureLevel is not above the level that the device supports",
    "nf-directml-dmlcreatedevice1",
)
# Microsoft's library compares it as a signed number, and also accepts 0 and -1.
KNOWN_MINIMUM = rule(
    "DML-CreateDevice-minimum-feature-level-known",
    "minimumFeatureLevel is one of DML_FEATURE_LEVEL",
    "nf-directml-dmlcreatedevice1",
    Severity.WARNING,
)
TOO_OLD = rule(
    "DML-CreateDevice1-level",
    "DMLCreateDevice1 requires DML_FEATURE_LEVEL_2_0, as it came with DirectML 1.1.0",
    "nf-directml-dmlcreatedevice1",
)
# Up to 5_1 the page calls Direct3D's debug layer a requirement, but names an error code only for layers that are not
# installed, which does not occur here. So omitting it is a warning at all levels, as in newer versions.
DEBUG_LAYER = rule(
    "DML-CreateDevice-debug-layer",
    "The Direct3D 12 debug layer is enabled before a device with DML_CREATE_DEVICE_FLAG_DEBUG is created",
    "dml-debug-layer",
    Severity.WARNING,
    debug=True,
)
EXECUTION_FLAGS = rule(
    "DML-CompileOperator-flags",
    "flags has only bits of DML_EXECUTION_FLAGS",
    "ne-directml-dml_execution_flags",
)
PAGEABLE_COUNT = rule(
    "DML-Pageable-count", "count is the number of objects given", "nf-directml-idmldevice-makeresident"
)
PAGEABLES = rule("DML-Pageable-null", "ppObjects is not null, even where count is 0", LIBRARY)


class IDMLDevice(OwnerDevice):
    """A DirectML device, a thread-safe factory (nn-directml-idmldevice).

    Every method but GetDeviceRemovedReason raises ``DMLError`` ``DXGI_ERROR_DEVICE_REMOVED`` once the device is
    removed.
    """

    IID = IID_IDMLDevice
    _additions_ = ("d3d12_device", "feature_level", "flags", "profile")

    def __init__(
        self,
        d3d12_device: ID3D12Device,
        flags: DML_CREATE_DEVICE_FLAGS,
        feature_level: DML_FEATURE_LEVEL,
        profile: Profile = KIND,
    ) -> None:
        super().__init__()
        self.profile = profile
        self.d3d12_device = d3d12_device
        self.flags = flags
        self.feature_level = feature_level
        self.removal = make_removal(d3d12_device, flags, profile)

    @property
    def is_observed(self) -> bool:
        return bool(
            watchers.all
            or self.removal.debug
            or self.d3d12_device.sync_validator is not None
            or self.profile != KIND
            or not self.removal.alive()
        )

    def _about(self) -> str:
        debug = ", debug layer" if self.removal.debug else ""
        profile = "" if self.profile == KIND else f", profile {self.profile.name}"
        removed = ", removed" if self.removal.reason else ""
        return f"{self.feature_level.name}{debug}{profile}{removed}"

    def QueryInterface(self, riid: Any) -> Any:
        """Also returns the IDMLDebugDevice.

        The page wants a device with DML_CREATE_DEVICE_FLAG_DEBUG. Microsoft's library returns that of any device;
        without the flag there is nothing to mute.
        """
        if riid in (IID_IDMLDebugDevice, IDMLDebugDevice):
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
        """Fill ``featureSupportData``; the sizes may be left out: ``(feature, query, support)``.

        Raises ``DMLError`` ``DXGI_ERROR_UNSUPPORTED`` or ``E_INVALIDARG``
        (nf-directml-idmldevice-checkfeaturesupport).
        """
        if featureSupportData is None and featureSupportDataSize is None:
            arguments = (None, featureQueryDataSize, None, featureQueryData)
        else:
            arguments = (featureQueryDataSize, featureQueryData, featureSupportDataSize, featureSupportData)
        check_feature_support(self.removal, self.feature_level, self.profile.denied, feature, *arguments)

    @hresult_method
    def CreateOperator(self, desc: Any) -> IDMLOperator:
        """Validate an operator desc. Raises ``DMLError`` ``E_INVALIDARG`` with a diagnostic for every violation,
        including types that the device does not support, ``DXGI_ERROR_UNSUPPORTED`` for operator types internal to
        Microsoft's library, and ``TypeError`` if it is not a desc."""
        decoded, report = check(desc, self.feature_level)
        if self.profile.denied and decoded is not None:
            check_types(self.profile, decoded, report)
        if report.diagnostics:
            name = "the operator" if decoded is None else decoded.struct.name
            reserved = any(diagnostic.rule == FAULT_RULES["reserved"].id for diagnostic in report.errors)
            hresult = DXGI_ERROR_UNSUPPORTED if reserved else E_INVALIDARG
            self.removal.fail(f"CreateOperator refuses {name}:", report, hresult)
        assert decoded is not None
        return IDMLOperator(self, decoded)

    @hresult_method
    def CompileOperator(self, op: IDMLOperator, flags: int = 0) -> IDMLCompiledOperator:
        """Select the kernel of an operator (nf-directml-idmldevice-compileoperator).

        Raises ``DMLError`` for operators that Microsoft's library creates but does not compile.
        """
        report = Report()
        same_device(IDMLOperator, op, "op", self, report, SAME_DEVICE)
        self.removal.fail("CompileOperator failed:", report)
        kind = known_flags(flags, DML_EXECUTION_FLAGS, "flags", EXECUTION_FLAGS)
        hresult = operator_of(op.desc.name).check_compilation(op.desc, report)
        self.removal.fail("CompileOperator failed:", report, hresult)
        return created(IDMLCompiledOperator(self, kind, OperatorProgram(op.desc, self._kernels(kind)), op))

    def _kernels(self, flags: DML_EXECUTION_FLAGS) -> Kernels:
        """The kernel selection of this device under ``flags``."""
        if not flags & DML_EXECUTION_FLAG_ALLOW_HALF_PRECISION_COMPUTATION:
            return kernel_of
        # Imported on demand: few programs pass the flag.
        with loading:
            from ..operators.half_precision import allowed_kernel_of, half_kernel_of
        return half_kernel_of if self.profile.halves else allowed_kernel_of

    @hresult_method
    def CreateOperatorInitializer(
        self, operatorCount: Any = 0, operators: Any = None
    ) -> IDMLOperatorInitializer:
        """``(count, operators)`` or ``(operators)``."""
        return created(
            IDMLOperatorInitializer(
                self, read_operators(self, operatorCount, operators, "CreateOperatorInitializer")
            )
        )

    @hresult_method
    def CreateCommandRecorder(self) -> IDMLCommandRecorder:
        return IDMLCommandRecorder(self)

    @hresult_method
    def CreateBindingTable(self, desc: Any = None) -> IDMLBindingTable:
        """``desc`` is a DML_BINDING_TABLE_DESC; None gives an empty table. Raises ``DMLError`` ``E_INVALIDARG``."""
        return IDMLBindingTable(self, desc)

    @hresult_method
    def Evict(self, count: Any, ppObjects: Any = None) -> None:
        """``(count, objects)`` or ``(objects)``. No memory is moved; the debug layer reports uses while evicted."""
        for item in self._pageables(count, ppObjects, "Evict"):
            item.life.evict()

    @hresult_method
    def MakeResident(self, count: Any, ppObjects: Any = None) -> None:
        """``(count, objects)`` or ``(objects)``. Needs one call per Evict, as these are counted."""
        for item in self._pageables(count, ppObjects, "MakeResident"):
            item.life.make_resident()

    def _pageables(self, count: Any, objects: Any, method: str) -> list[IDMLPageable]:
        report = Report()
        items = counted(count, objects, "count", "ppObjects", PAGEABLE_COUNT)
        if not items and objects is None and not is_series(count):
            report.add(PAGEABLES, "ppObjects", "is null")
        for index, item in enumerate(items):
            same_device(IDMLPageable, item, f"ppObjects[{index}]", self, report, SAME_DEVICE)
        self.removal.fail(f"{method} failed:", report)
        return items

    def GetDeviceRemovedReason(self) -> int:
        """S_OK, or the HRESULT that removed the device."""
        return self.removal.reason

    @hresult_method
    def GetParentDevice(self) -> ID3D12Device:
        return self.d3d12_device


class IDMLDevice1(IDMLDevice):
    """A device that compiles graphs; feature level 2_1 and later (nn-directml-idmldevice1)."""

    IID = IID_IDMLDevice1

    @hresult_method
    def CompileGraph(self, desc: Any, flags: int = 0) -> IDMLCompiledOperator:
        """Compile a graph of operators into one (nf-directml-idmldevice1-compilegraph).

        ``desc`` is a DML_GRAPH_DESC, or one that is decoded, of operators that this device created. Raises ``DMLError``
        ``E_INVALIDARG`` with a diagnostic for every violation.
        """
        # Imported on demand: most programs compile no graph.
        with loading:
            from .compiler.graph_desc import read_graph_desc
            from .compiler.graph_program import GraphProgram
            from .compiler.graph_validation import check_graph, check_padding, refusal
        with paused():
            report = self.removal.new_report()
            graph = read_graph_desc(partial(desc_of_operator, self), desc, report)
            if graph is not None:
                check_graph(graph, self.feature_level, report)
                if self.removal.debug and not report.errors:
                    check_padding(graph, report)
            self.removal.fail("CompileGraph refuses the graph:", report, refusal(report))
            assert graph is not None
            kind = known_flags(flags, DML_EXECUTION_FLAGS, "flags", EXECUTION_FLAGS)
            program = GraphProgram(graph, self._kernels(kind), self.removal.debug)
            return created(IDMLCompiledOperator(self, kind, program))


class IDMLDebugDevice(IUnknown):
    """Mutes the debug output of a device (nn-directml-idmldebugdevice)."""

    IID = IID_IDMLDebugDevice

    def __init__(self, device: IDMLDevice) -> None:
        self._device = device

    @property
    def identity(self) -> IUnknown:
        return self._device

    def QueryInterface(self, riid: Any) -> Any:
        """Also returns the device's interfaces: both are one COM object."""
        if riid in (IDMLDebugDevice, IID_IDMLDebugDevice):
            return self
        return self._device.QueryInterface(riid)

    def SetMuteDebugOutput(self, mute: bool) -> None:
        """Suppress or allow messages to the ID3D12InfoQueue and the logger ``directml_py``."""
        self._device.removal.muted = bool(mute)


def DMLCreateDevice(
    d3d12Device: ID3D12Device,
    flags: int = 0,
    *,
    feature_level: int = HIGHEST_FEATURE_LEVEL,
    profile: ProfileLike = None,
) -> IDMLDevice:
    """A DirectML device on a Direct3D 12 device (nf-directml-dmlcreatedevice).

    ``feature_level`` is the highest level that this emulated DirectML supports. From 2_1 the device is an IDMLDevice1.
    ``profile`` is a ``Profile``, a name in ``PROFILES``, or None for the one named by the environment variable
    ``DIRECTML_PY_PROFILE``, else ``kind``. Raises ``TypeError`` if ``d3d12Device`` is not a device, and ``DMLError``
    ``E_INVALIDARG`` for unknown flags, levels or profiles.
    """
    return _device(d3d12Device, flags, DML_FEATURE_LEVEL_1_0, feature_level, profile)


def DMLCreateDevice1(
    d3d12Device: ID3D12Device,
    flags: int = 0,
    minimumFeatureLevel: int = DML_FEATURE_LEVEL_1_0,
    *,
    feature_level: int = HIGHEST_FEATURE_LEVEL,
    profile: ProfileLike = None,
) -> IDMLDevice:
    """Like DMLCreateDevice; raises ``DMLError`` ``DXGI_ERROR_UNSUPPORTED`` if ``minimumFeatureLevel``, any signed
    32-bit number, is above ``feature_level``, or if that is 1_0, whose DirectML lacks this function
    (nf-directml-dmlcreatedevice1)."""
    if feature_level == DML_FEATURE_LEVEL_1_0:
        text = "is DML_FEATURE_LEVEL_1_0, whose DirectML has only DMLCreateDevice"
        raise violation(TOO_OLD, "feature_level", text, DXGI_ERROR_UNSUPPORTED)
    return _device(d3d12Device, flags, minimumFeatureLevel, feature_level, profile)


def _device(
    d3d12Device: ID3D12Device, flags: int, minimumFeatureLevel: int, feature_level: int, profile: ProfileLike
) -> IDMLDevice:
    instance(d3d12Device, ID3D12Device, "d3d12Device")
    kind = known_flags(flags, DML_CREATE_DEVICE_FLAGS, "flags", CREATE_FLAGS)
    level = enumerator(feature_level, DML_FEATURE_LEVEL, "feature_level", LEVEL)
    minimum = signed_int(minimumFeatureLevel, "minimumFeatureLevel", LEVEL)
    if minimum > level:
        name = level_name(minimum) if minimum in KNOWN_LEVELS else f"{minimum:#x}"
        text = f"is {name}; this device has {level.name}"
        raise violation(MINIMUM_LEVEL, "minimumFeatureLevel", text, DXGI_ERROR_UNSUPPORTED)
    has_graphs = level >= DML_FEATURE_LEVEL_2_1
    device = (IDMLDevice1 if has_graphs else IDMLDevice)(d3d12Device, kind, level, profile_of(profile))
    if device.profile.undefined:
        d3d12Device.leaves_garbage = True
    if device.profile.reorders:
        d3d12Device.reorders = True
    report = Report()
    if minimum not in KNOWN_LEVELS:
        report.add(KNOWN_MINIMUM, "minimumFeatureLevel", f"is {minimum:#x}, which is not a DML_FEATURE_LEVEL")
    if device.removal.debug and d3d12Device.info_queue is None:
        text = "has DML_CREATE_DEVICE_FLAG_DEBUG, but the Direct3D 12 debug layer was not enabled before"
        report.add(DEBUG_LAYER, "flags", text)
    device.removal.fail("DMLCreateDevice1 failed:", report)
    return device
