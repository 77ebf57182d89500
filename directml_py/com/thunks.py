"""One function for C per method and per exported function, made from its signature."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from ..abi.arguments import WrongObject
from ..abi.hresult import E_NOTIMPL, E_POINTER, S_FALSE, S_OK, DMLError
from .argument_memory import NULL, poke_pointer
from .boundary import explain, failed, signed
from .custom_marshalling import PROTOCOLS
from .marshalling import ArgumentPlan, Values, plan, struct_type
from .object_table import Objects
from .signatures import FunctionSignature, MethodSignature

# Where C may pass null for the object that is made, in order to learn whether it could be, and the answer if so.
# Direct3D's pages say S_FALSE; DirectML's allow null without a word of the answer, which Microsoft's library gives. Its
# CreateOperator writes through null, whatever the page says: here that fails.
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

# What a call does with the Python callable that does the work, and C's arguments.
Runner = Callable[[Callable[..., Any], Values], Any]


class NotEmulated(DMLError):
    """``E_NOTIMPL`` for a method that nothing in Python does."""


class Calls:
    """Makes what stands in the vtables."""

    def __init__(self, objects: Objects, ffi: Any) -> None:
        self._objects = objects
        self._ffi = ffi
        self._said: set[str] = set()

    def method(self, interface: str, method: MethodSignature) -> Callable[..., Any]:
        """C's arguments after ``this``, which may be of any interface that inherits the method."""
        title = f"{interface}::{method.name}"
        name, at = method.name, self._objects.at
        steps = plan(method.params, self._objects, self._ffi)
        run = self._protocol(name) if name in PROTOCOLS else self._runner(title, steps)
        result = self._result(method.returns)
        fail = self._failure(title, method.returns)
        refuse = self._refusal(title, steps)

        def call(this: int, *values: Any) -> Any:
            try:
                body = getattr(at(this), name, None)
                if body is None:
                    refuse(values)
                return result(run(body, values))
            except BaseException as error:
                if method.returns == "void" and self._consequence(at(this), name, error):
                    return None
                return fail(error)

        return call

    def _consequence(self, item: Any, name: str, error: BaseException) -> bool:
        """What becomes of ``item`` when one of its void methods fails; whether the debug layer has said so.

        C cannot be told by a result: a list becomes invalid, a device is removed.
        """
        removal = getattr(item, "removal", None)
        if removal is not None and isinstance(error, WrongObject):
            removal.wrong_object(f"{name} failed:", error)
            return bool(removal.debug)
        refuse = getattr(item, "refuse", None)
        told = isinstance(error, DMLError) and error.reported and not isinstance(error, NotEmulated)
        if refuse is None or told:
            return told
        try:
            return bool(refuse(name, error.args[0] if isinstance(error, DMLError) else explain(error)))
        except DMLError as broken:
            return broken.reported

    def function(self, function: FunctionSignature, body: Callable[..., Any] | None) -> Callable[..., Any]:
        """An exported function; ``body`` is what does it in Python, if anything does."""
        steps = plan(function.params, self._objects, self._ffi)
        run = self._runner(function.name, steps)
        refuse = self._refusal(function.name, steps)
        result = self._result(function.returns)
        fail = self._failure(function.name, function.returns)

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
            self._objects.query(self._objects.at(this), riid, ppv)
        except BaseException as error:
            return failed("IUnknown::QueryInterface", error)
        return S_OK

    def _runner(self, title: str, steps: ArgumentPlan) -> Runner:
        inputs, outputs = steps.inputs, steps.outputs
        if steps.result is not None:
            return self._creator(title, inputs, *steps.result)
        if not outputs:
            return lambda body, values: body(*[read(values) for read in inputs])

        def run(body: Callable[..., Any], values: Values) -> int:
            value = body(*[read(values) for read in inputs])
            for place, result in zip(outputs, (value,) if len(outputs) == 1 else value):
                try:
                    place(values, result)
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

    def _refusal(self, title: str, steps: ArgumentPlan) -> Callable[[Values], NoReturn]:
        """For what is not emulated: looks at no argument, and says so once."""

        def refuse(values: Values) -> NoReturn:
            known = title in self._said
            self._said.add(title)
            if steps.result is not None and values[steps.result[1]]:
                poke_pointer(values[steps.result[1]], NULL, title)
            raise NotEmulated(E_NOTIMPL, "not emulated; the call does nothing", reported=known)

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
        """How a value becomes what C gets by ``return``; zeros for None."""
        if returns == "void":
            return lambda value: None
        if returns == "HRESULT":
            return lambda value: S_OK if value is None else signed(int(value))
        if struct_type(returns) is None:
            return lambda value: 0 if value is None else int(value)

        def by_value(value: Any) -> Any:
            place = self._ffi.new(f"{returns}*")
            if value is not None:
                self._ffi.buffer(place)[:] = bytes(value)
            return place[0]

        return by_value
