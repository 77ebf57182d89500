"""The DirectML object model: device, operator, compiled operator, initializer, binding table, recorder."""

from .binding_table import IDMLBindingTable
from .command_recorder import IDMLCommandRecorder
from .compiled_operator import IDMLCompiledOperator, IDMLOperator
from .dispatchable import IDMLDispatchable
from .dml_device import DMLCreateDevice, DMLCreateDevice1, IDMLDebugDevice, IDMLDevice, IDMLDevice1
from .dml_object import IDMLDeviceChild, IDMLObject, IDMLPageable
from .initializer import IDMLOperatorInitializer
from .profiles import PROFILES, Profile

__all__ = [
    "PROFILES",
    "DMLCreateDevice",
    "DMLCreateDevice1",
    "IDMLBindingTable",
    "IDMLCommandRecorder",
    "IDMLCompiledOperator",
    "IDMLDebugDevice",
    "IDMLDevice",
    "IDMLDevice1",
    "IDMLDeviceChild",
    "IDMLDispatchable",
    "IDMLObject",
    "IDMLOperator",
    "IDMLOperatorInitializer",
    "IDMLPageable",
    "Profile",
]
