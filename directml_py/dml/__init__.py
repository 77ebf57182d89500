"""DirectML's objects: device, operator, compiled operator, initializer, binding table, recorder."""

from .binding_table import IDMLBindingTable
from .compiled_operator import IDMLCompiledOperator, IDMLOperator
from .device import DMLCreateDevice, DMLCreateDevice1, IDMLDebugDevice, IDMLDevice, IDMLDevice1
from .dispatchable import IDMLDispatchable
from .initializer import IDMLOperatorInitializer
from .objects import IDMLDeviceChild, IDMLObject, IDMLPageable
from .profiles import PROFILES, Profile
from .recorder import IDMLCommandRecorder

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
