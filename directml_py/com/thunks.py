"""Thunks: functions callable from C for each method and exported function, built from its signature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from ..abi.arguments import WrongObject
from ..abi.hresult import E_NOTIMPL, E_POINTER, S_FALSE, S_OK, DMLError
from ..abi.interface import IUnknown
from ..d3d12 import ID3D12Resource
from ..dml import IDMLBindingTable, IDMLCommandRecorder, IDMLCompiledOperator
from ..dml.bindings import names_at
from .argument_memory import NULL, poke_pointer
from .boundary import explain, failed, signed
from .custom_marshalling import PROTOCOLS
from .marshalling import ArgumentPlan, Values, address_of, plan, struct_type
from .object_table import Objects
from .signatures import FunctionSignature, MethodSignature

# Calls where C may pass null for the created object to test whether it could be created, and the result in that case.
# Direct3D's pages say S_FALSE. DirectML's allow null but name no result; S_OK is that of Microsoft's library, whose
# CreateOperator crashes on null contrary to its page: here it fails.
OPTIONAL_RESULTS = {
    **dict.fromkeys(
        (
            "ID3D12Device::CreateCommittedResource",
            "ID3D12Device4::CreateCommittedResource1",
            "ID3D12Device8::CreateCommittedResource2",
            "ID3D12Device::CreateHeap",
            "ID3D12Device4::CreateHeap1",
            "ID3D12Device::CreatePlacedResource",
            "ID3D12Device8::CreatePlacedResource1",
            "ID3D12Device::CreateReservedResource",
            "ID3D12Device4::CreateReservedResource1",
            "ID3D12Device::CreateDescriptorHeap",
            "ID3D12Device::CreateQueryHeap",
            "D3D12CreateDevice",
            "D3D12GetDebugInterface",
            "ID3D12DeviceChild::GetDevice",
        ),
        S_FALSE,
    ),
    **dict.fromkeys(
        ("DMLCreateDevice", "DMLCreateDevice1", "IDMLDevice::CompileOperator", "IDMLDevice1::CompileGraph"),
        S_OK,
    ),
}
OPTIONAL_OUTPUTS = frozenset(
    {
        "ID3D12Device::GetCopyableFootprints",
        "ID3D12Device8::GetCopyableFootprints1",
        "ID3D12Resource::GetHeapProperties",
        "ID3D12Resource::Map",
    }
)

# Methods that return a struct which never changes for objects of a class: once asked for, C answers with it.
CONSTANTS: dict[str, type[IUnknown]] = {
    "ID3D12Resource::GetDesc": ID3D12Resource,
    "IDMLDispatchable::GetBindingProperties": IDMLCompiledOperator,
}

# The kinds of binding points of methods that bind an array of bindings.
BOUND = {"IDMLBindingTable::BindInputs": "input", "IDMLBindingTable::BindOutputs": "output"}

QUERY_INTERFACE = "IUnknown::QueryInterface"

# Calls the Python implementation with the marshalled C arguments.
Runner = Callable[[Callable[..., Any], Values], Any]


class NotEmulated(DMLError):
    """``E_NOTIMPL`` for a method without a Python implementation."""


class Calls:
    """Factory of the functions in the vtables."""

    def __init__(self, objects: Objects, ffi: Any) -> None:
        self._objects = objects
        self._ffi = ffi
        self._reported_titles: set[str] = set()

    def method(self, interface: str, method: MethodSignature) -> Callable[..., Any]:
        """The thunk of a method, which takes ``this``, of any interface that inherits the method, and C's arguments."""
        title = f"{interface}::{method.name}"
        name, held, object_at = method.name, self._objects.held, self._objects.at
        arguments = plan(method.params, self._objects, self._ffi)
        run = self._protocol(name) if name in PROTOCOLS else self._runner(title, arguments)
        result = self._result(method.returns)
        nothing = result(None)
        fail = self._failure(title, method.returns)
        refuse = self._refusal(title, arguments)
        returns_nothing = method.returns == "void"
        constant, keep = CONSTANTS.get(title), self._objects.keep_answer
        is_done = self._shortcut(title)

        def call(this: int, *values: Any) -> Any:
            item = None
            try:
                item = held(this) or object_at(this, title)
                if is_done is not None and is_done(item, values):
                    return nothing
                body = getattr(item, name, None)
                if body is None:
                    refuse(values)
                value = run(body, values)
                if constant is not None and isinstance(item, constant):
                    keep(this, bytes(value))
                return nothing if value is None else result(value)
            except BaseException as error:
                if returns_nothing and item is not None and self._consequence(item, name, error):
                    return None
                return fail(error)

        return call

    def _shortcut(self, title: str) -> Callable[[IUnknown, Values], bool] | None:
        """For the methods of an operator's dispatch: does most calls without what a report takes, and returns whether
        it did. The method does all others."""
        held = self._objects.held
        kind = BOUND.get(title)
        if kind is not None:

            def bind(item: IUnknown, values: Values) -> bool:
                return type(item) is IDMLBindingTable and item.bind_plain(
                    kind, names_at(values[1], values[0])
                )

            return bind
        if title != "IDMLCommandRecorder::RecordDispatch":
            return None

        def record(item: IUnknown, values: Values) -> bool:
            commands, dispatchable, table = values
            return type(item) is IDMLCommandRecorder and item.record_again(
                held(commands), held(dispatchable), held(table)
            )

        return record

    def _consequence(self, item: Any, name: str, error: BaseException) -> bool:
        """Invalidate a list or remove a device when one of its void methods fails, as C gets no result.

        Returns whether the debug layer has reported it.
        """
        removal = getattr(item, "removal", None)
        if removal is not None and isinstance(error, WrongObject):
            removal.fail_call(f"{name} failed:", error)
            return bool(removal.debug)
        fail_call = getattr(item, "fail_call", None)
        reported = isinstance(error, DMLError) and error.reported and not isinstance(error, NotEmulated)
        if fail_call is None or reported:
            return reported
        try:
            return bool(fail_call(name, error.args[0] if isinstance(error, DMLError) else explain(error)))
        except DMLError as break_error:
            return break_error.reported

    def function(self, function: FunctionSignature, body: Callable[..., Any] | None) -> Callable[..., Any]:
        """The thunk of an exported function; ``body`` is its Python implementation, if any."""
        arguments = plan(function.params, self._objects, self._ffi)
        name = function.name
        run = self._protocol(name) if name in PROTOCOLS else self._runner(name, arguments)
        refuse = self._refusal(name, arguments)
        result = self._result(function.returns)
        fail = self._failure(name, function.returns)

        def call(*values: Any) -> Any:
            try:
                return result(refuse(values) if body is None else run(body, values))
            except BaseException as error:
                return fail(error)

        return call

    def query_interface(self, this: int, riid: int, ppv: int) -> int:
        try:
            if not ppv:
                raise DMLError(E_POINTER, "ppvObject is null")
            poke_pointer(ppv, NULL, "ppvObject")
            self._objects.query(self._objects.at(this, QUERY_INTERFACE), riid, ppv)
        except BaseException as error:
            return failed(QUERY_INTERFACE, error)
        return S_OK

    def _runner(self, title: str, arguments: ArgumentPlan) -> Runner:
        inputs, outputs = arguments.inputs, arguments.outputs
        if arguments.result is not None:
            return self._creator(title, inputs, *arguments.result)
        if not outputs:
            return _reader(inputs)

        def run(body: Callable[..., Any], values: Values) -> int:
            value = body(*[read(values) for read in inputs])
            for output, result in zip(outputs, (value,) if len(outputs) == 1 else value):
                try:
                    output(values, result)
                except DMLError as error:
                    if error.hresult != E_POINTER or title not in OPTIONAL_OUTPUTS:
                        raise
            return S_OK

        return run

    def _protocol(self, name: str) -> Runner:
        protocol, objects = PROTOCOLS[name], self._objects
        return lambda body, values: protocol(objects, body, *values)

    def _creator(self, title: str, inputs: Sequence[Callable[[Values], Any]], riid: int, ppv: int) -> Runner:
        answer = OPTIONAL_RESULTS.get(title)

        def run(body: Callable[..., Any], values: Values) -> int:
            target = values[ppv]
            if target:
                poke_pointer(target, NULL, "the pointer that receives the object")
            elif answer is None:
                raise DMLError(E_POINTER, "the pointer that receives the object is null")
            item = body(*[read(values) for read in inputs])
            if answer is not None and not target:
                return answer
            self._objects.query(item, values[riid], target)
            return S_OK

        return run

    def _refusal(self, title: str, arguments: ArgumentPlan) -> Callable[[Values], NoReturn]:
        """The function for a call that is not emulated: ignores its arguments, and reports itself once."""

        def refuse(values: Values) -> NoReturn:
            already_reported = title in self._reported_titles
            self._reported_titles.add(title)
            if arguments.result is not None and values[arguments.result[1]]:
                poke_pointer(values[arguments.result[1]], NULL, title)
            raise NotEmulated(E_NOTIMPL, "not emulated; the call does nothing", reported=already_reported)

        return refuse

    def _failure(self, title: str, returns: str) -> Callable[[BaseException], Any]:
        if returns == "HRESULT":
            return lambda error: failed(title, error)
        zeros = self._result(returns)

        def fail(error: BaseException) -> Any:
            failed(title, error)
            return zeros(None)

        return fail

    def _result(self, returns: str) -> Callable[[Any], Any]:
        """The conversion of a Python result to the C return value; zeros for None."""
        if returns == "void":
            return lambda value: None
        if returns == "HRESULT":
            return lambda value: S_OK if value is None else signed(int(value))
        if returns.endswith("*"):
            return lambda value: NULL if value is None else address_of(value)
        if struct_type(returns) is None:
            return lambda value: 0 if value is None else int(value)

        new, buffer, pointer = self._ffi.new, self._ffi.buffer, self._ffi.typeof(f"{returns}*")

        def by_value(value: Any) -> Any:
            output = new(pointer)
            if value is not None:
                buffer(output)[:] = value
            return output[0]

        return by_value


def _reader(inputs: Sequence[Callable[[Values], Any]]) -> Runner:
    """Calls a method with its inputs. Most have few, for which a list takes longer than the rest."""
    if not inputs:
        return lambda body, values: body()
    if len(inputs) == 1:
        (read,) = inputs
        return lambda body, values: body(read(values))
    if len(inputs) == 2:
        first, second = inputs
        return lambda body, values: body(first(values), second(values))
    if len(inputs) == 3:
        one, two, three = inputs
        return lambda body, values: body(one(values), two(values), three(values))
    return lambda body, values: body(*[read(values) for read in inputs])
