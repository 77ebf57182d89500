"""DirectMLX's classes: TensorDesc, TensorPolicy, Graph and what belongs to them, with the names of C++."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias, overload

from ...abi.hresult import E_INVALIDARG, DMLError
from ...abi.structure import Structure
from ...api.enums import DML_TENSOR_DATA_TYPE_UNKNOWN, DML_TENSOR_FLAG_NONE
from ...api.structs import DML_BUFFER_TENSOR_DESC, DML_TENSOR_DESC
from ...descs.data_types import DataTypeLike
from ...descs.decode import decode_struct
from ...descs.encode import encode_tensor
from ...descs.tensor import TensorDesc as TensorValue
from ...dml import IDMLCompiledOperator, IDMLDevice
from ..compiled import CompiledGraph
from ..expression import Expression
from ..graph import Graph as PlainGraph
from ..graph import Outputs, checked_name, tensor
from ..inference import TensorProperties as PlainProperties
from ..inference import interleaved_channel, packed

# What DirectMLX.h names of C++'s library.
SmallVector = Span = TensorDimensions = TensorStrides = list
StringView = str
Byte = int
NullOpt = None
# What follows the data type, in both orders of C++. ``strides`` may also be a TensorPolicy.
SIZES_FIRST = "sizes", "strides", "flags", "totalTensorSizeInBytes", "guaranteedBaseOffsetAlignment"
FLAGS_FIRST = "flags", "sizes", "strides", "totalTensorSizeInBytes", "guaranteedBaseOffsetAlignment"


class TensorProperties:
    """What a TensorPolicy decides: ``strides`` in elements (None: packed), ``totalTensorSizeInBytes`` (None: the least
    possible) and ``guaranteedBaseOffsetAlignment`` in bytes."""

    def __init__(
        self,
        strides: Sequence[int] | None = None,
        totalTensorSizeInBytes: int | None = None,
        guaranteedBaseOffsetAlignment: int = 0,
    ) -> None:
        self.strides = strides
        self.totalTensorSizeInBytes = totalTensorSizeInBytes
        self.guaranteedBaseOffsetAlignment = guaranteedBaseOffsetAlignment


class TensorPolicy:
    """The layout of tensors: ``TensorPolicy.Default()``, ``TensorPolicy.InterleavedChannel()``, or a function of the
    data type, flags and sizes that returns TensorProperties."""

    Func: TypeAlias = "Callable[[int, int, Sequence[int]], TensorProperties | PlainProperties]"

    def __init__(self, impl: Func | None = None) -> None:
        if impl is not None and not callable(impl):
            raise TypeError(f"TensorPolicy: impl must be a function, not {type(impl).__name__}")
        self._impl = impl or packed

    @staticmethod
    def Default() -> TensorPolicy:
        """Packed tensors."""
        return TensorPolicy()

    @staticmethod
    def InterleavedChannel() -> TensorPolicy:
        """Channels last: NCHW sizes in NHWC memory."""
        return TensorPolicy(interleaved_channel)

    def Get(self, dataType: int, flags: int, sizes: Sequence[int]) -> TensorProperties:
        """The properties of a tensor."""
        strides, total_size, alignment = self(dataType, flags, sizes)
        desc = tensor("TensorPolicy", dataType, sizes, strides, flags, total_size, alignment)
        return TensorProperties(strides and list(strides), desc.total_size, alignment)

    def __call__(self, data_type: int, flags: int, sizes: Sequence[int]) -> PlainProperties:
        """The policy as ``directml_py.graph`` calls it."""
        properties = self._impl(data_type, flags, sizes)
        if isinstance(properties, TensorProperties):
            return PlainProperties(*vars(properties).values())
        return properties

    @property
    def function(self) -> Callable[[int, int, Sequence[int]], PlainProperties]:
        """``packed`` itself for the default, which graphs know."""
        return packed if self._impl is packed else self


class TensorDesc:
    """A tensor: ``TensorDesc(type, sizes)``, ``TensorDesc(type, flags, sizes)``, either followed by a TensorPolicy, or
    ``TensorDesc(type, flags, sizes, strides, totalTensorSizeInBytes, guaranteedBaseOffsetAlignment)``.

    It is also made of a DML_TENSOR_DESC, a DML_BUFFER_TENSOR_DESC or a ``directml_py.TensorDesc``, whose form ``desc``
    is. Fields may be assigned, as in C++. Raises ``TypeError`` and ``ValueError``, which name the argument, and
    ``DMLError`` for a struct that cannot be read.
    """

    Dimensions = list
    Strides = list
    dataType: int
    flags: int
    sizes: list[int]
    strides: list[int] | None
    totalTensorSizeInBytes: int
    guaranteedBaseOffsetAlignment: int

    @overload
    def __init__(self) -> None: ...

    @overload
    def __init__(self, desc: DML_TENSOR_DESC | DML_BUFFER_TENSOR_DESC | TensorValue, /) -> None: ...

    @overload
    def __init__(
        self,
        dataType: DataTypeLike,
        sizes: Sequence[int],
        strides: Sequence[int] | TensorPolicy | None = None,
        flags: int = DML_TENSOR_FLAG_NONE,
        totalTensorSizeInBytes: int | None = None,
        guaranteedBaseOffsetAlignment: int = 0,
    ) -> None: ...

    @overload
    def __init__(
        self,
        dataType: DataTypeLike,
        flags: int,
        sizes: Sequence[int],
        strides: Sequence[int] | TensorPolicy | None = None,
        totalTensorSizeInBytes: int | None = None,
        guaranteedBaseOffsetAlignment: int = 0,
    ) -> None: ...

    def __init__(self, dataType: Any = DML_TENSOR_DATA_TYPE_UNKNOWN, *arguments: Any, **named: Any) -> None:
        if isinstance(dataType, TensorValue):
            self._assign(dataType)
        elif isinstance(dataType, Structure):
            self._assign(_decoded(dataType))
        elif arguments or named or dataType != DML_TENSOR_DATA_TYPE_UNKNOWN:
            self._assign(_from_arguments(dataType, arguments, named))
        else:
            self._assign(TensorValue(dataType, (), total_size=0))

    def _assign(self, desc: TensorValue) -> None:
        self.dataType = desc.data_type
        self.flags = desc.flags
        self.sizes = list(desc.sizes)
        self.strides = None if desc.strides is None else list(desc.strides)
        self.totalTensorSizeInBytes = desc.total_size
        self.guaranteedBaseOffsetAlignment = desc.alignment

    @property
    def desc(self) -> TensorValue:
        """The tensor as ``directml_py.graph`` takes it."""
        return tensor(
            "TensorDesc",
            self.dataType,
            self.sizes,
            self.strides,
            self.flags,
            self.totalTensorSizeInBytes,
            self.guaranteedBaseOffsetAlignment,
        )

    @overload
    def AsPtr(self, type: type[DML_TENSOR_DESC]) -> DML_TENSOR_DESC: ...

    @overload
    def AsPtr(self, type: type[DML_BUFFER_TENSOR_DESC]) -> DML_BUFFER_TENSOR_DESC: ...

    def AsPtr(self, type: Any) -> DML_TENSOR_DESC | DML_BUFFER_TENSOR_DESC:
        """C++'s ``AsPtr<DML_TENSOR_DESC>()``, or that of DML_BUFFER_TENSOR_DESC: a struct that owns its arrays."""
        tensor = self.desc
        if type is DML_TENSOR_DESC:
            return encode_tensor(tensor)
        if type is not DML_BUFFER_TENSOR_DESC:
            raise TypeError("TensorDesc.AsPtr: type must be DML_TENSOR_DESC or DML_BUFFER_TENSOR_DESC")
        return DML_BUFFER_TENSOR_DESC(
            tensor.data_type,
            tensor.flags,
            len(tensor.sizes),
            tensor.sizes,
            tensor.strides,
            tensor.total_size,
            tensor.alignment,
        )

    def __repr__(self) -> str:
        return f"TensorDesc({self.desc})"


def _decoded(struct: Structure) -> TensorValue:
    if isinstance(struct, DML_BUFFER_TENSOR_DESC):
        struct = DML_TENSOR_DESC(1, struct)
    desc, faults = decode_struct(struct, "DML_TENSOR_DESC", "TensorDesc: desc")
    if faults or not isinstance(desc, TensorValue):
        raise DMLError(E_INVALIDARG, "\n".join(map(str, faults)))
    return desc


def _from_arguments(data_type: Any, arguments: tuple[Any, ...], named: dict[str, Any]) -> TensorValue:
    order = FLAGS_FIRST if arguments and isinstance(arguments[0], int) else SIZES_FIRST
    if len(arguments) > len(order):
        raise TypeError(f"TensorDesc takes at most {len(order) + 1} arguments, not {len(arguments) + 1}")
    policy = named.pop("policy", None)
    values = dict(zip(order, arguments))
    wrong = [name for name in named if name not in order or name in values]
    if wrong:
        raise TypeError(
            f"TensorDesc has no argument {wrong[0]!r} here; it takes dataType, {', '.join(order)}"
        )
    values |= named
    if "sizes" not in values:
        raise TypeError("TensorDesc: sizes are missing")
    flags = values.get("flags", DML_TENSOR_FLAG_NONE)
    strides = values.get("strides")
    total_size = values.get("totalTensorSizeInBytes")
    alignment = values.get("guaranteedBaseOffsetAlignment", 0)
    if callable(strides):
        policy, strides = strides, None
    if policy is not None:
        strides, total_size, alignment = TensorPolicy(policy)(data_type, flags, values["sizes"])
    return tensor("TensorDesc", data_type, values["sizes"], strides, flags, total_size, alignment)


class NameScope:
    """What ``Graph.CreateNameScope`` returns. The scope ends with its ``with`` block, or with the object, as in C++."""

    def __init__(self, graph: Graph, name: str) -> None:
        graph.PushName(name)
        self._graph: Graph | None = graph

    def __enter__(self) -> NameScope:
        return self

    def __exit__(self, *error: object) -> None:
        self.__del__()

    def __del__(self) -> None:
        graph = getattr(self, "_graph", None)
        self._graph = None
        if graph is not None:
            graph.PopName()


class Graph(PlainGraph):
    """``directml_py.graph.Graph`` with the methods of ``dml::Graph``, too."""

    def __init__(
        self,
        device: IDMLDevice | None = None,
        tensorPolicy: TensorPolicy | Callable[..., Any] | None = None,
        **named: Any,
    ) -> None:
        super().__init__(device)
        self._pushed: list[str] = []
        self.SetTensorPolicy(named.pop("tensor_policy", tensorPolicy))
        if named:
            raise TypeError(f"Graph has no argument {min(named)!r}; it takes device and tensorPolicy")

    def SetTensorPolicy(self, policy: TensorPolicy | TensorPolicy.Func | None) -> None:
        """The layout of the outputs of what is added from now on."""
        self._policy = policy if isinstance(policy, TensorPolicy) else TensorPolicy(policy)
        self.tensor_policy = self._policy.function

    def GetTensorPolicy(self) -> TensorPolicy:
        """The policy that ``SetTensorPolicy`` or the constructor set."""
        return self._policy

    def CreateNameScope(self, name: str) -> NameScope:
        """A scope that prefixes the names of nodes: ``with graph.CreateNameScope("block"):``."""
        return NameScope(self, name)

    def PushName(self, name: str) -> None:
        """Prefix the names of nodes with ``name`` and an underscore until PopName."""
        self._pushed.append(self._prefix)
        self._prefix += f"{checked_name(name)}_"

    def PopName(self) -> None:
        """Undo the last PushName; without one it does nothing, as in C++."""
        if self._pushed:
            self._prefix = self._pushed.pop()

    def Compile(self, flags: int, outputs: Outputs, inputCount: int = 0) -> IDMLCompiledOperator:
        """The compiled operator with these outputs, and ``inputCount`` inputs if it is not 0.

        Raises ``ValueError`` as ``Graph.compile`` does, and if the graph has more inputs, ``DMLError`` as CompileGraph
        does.
        """
        count = max(self.inputs, default=-1) + 1
        if inputCount and inputCount < count:
            raise ValueError(f"Graph.Compile: inputCount is {inputCount}; the graph has {count} inputs")
        self.outputs = outputs
        return CompiledGraph(self, flags, inputCount).operator


AnyTensorDesc: TypeAlias = TensorDesc | TensorValue | DML_TENSOR_DESC | DML_BUFFER_TENSOR_DESC


def input_value(desc: AnyTensorDesc) -> TensorValue:
    """What a function of DirectMLX takes as a TensorDesc."""
    if isinstance(desc, TensorValue):
        return desc
    wrapped = desc if isinstance(desc, TensorDesc) else TensorDesc(desc)
    return wrapped.desc


def output_desc(expression: Expression) -> TensorDesc:
    """``Expression.GetOutputDesc``."""
    return TensorDesc(expression.desc)
