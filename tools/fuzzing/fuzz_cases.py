"""Fuzz cases: a valid desc that is executed, one that breaks one rule, and corrupted memory, with checks of each."""

from __future__ import annotations

import ctypes
import random
import time
import warnings
from collections import Counter
from typing import Any

import numpy as np

from directml_py import validate
from directml_py.abi.hresult import DXGI_ERROR_UNSUPPORTED, E_INVALIDARG, E_NOTIMPL, DMLError
from directml_py.abi.rules import Severity
from directml_py.api import operator_descs
from directml_py.api.enums import DML_FEATURE_LEVEL
from directml_py.api.structs import DML_OPERATOR_DESC, DML_TENSOR_DESC
from directml_py.d3d12 import D3D12CreateDevice
from directml_py.descs import decode_operator_desc, encode
from directml_py.descs.operator_desc import OperatorDesc
from directml_py.dml import DMLCreateDevice, IDMLDevice
from directml_py.operators.program import OperatorProgram
from directml_py.testing.decision_source import RandomSource
from directml_py.testing.mutations import broken_desc
from directml_py.testing.valid_descs import valid_desc

from .image import PAGE, GuardedMemory, Image, image_of

LEVELS = tuple(DML_FEATURE_LEVEL)
TYPED = tuple(getattr(operator_descs, name) for name in operator_descs.__all__)
NO_DESCS: tuple[Any, ...] = (
    "desc",
    b"desc",
    1.5,
    object(),
    [],
    DML_TENSOR_DESC(),
    ctypes.c_float(),
    ctypes.c_double * 4,
)
SPOILT_PER_CASE = 4
# The time limit of a case, which has a few kilobytes of descs.
SLOW_SECONDS = 4
# The largest tensor, in elements, for which compilation is tried: some operators precompute data of that size.
LARGE = 1 << 20
# Addresses that are never mapped, or at which a struct would wrap around the address space.
NOWHERE = (
    *(1, 8, 0xFFF, 0xFFFF, 0xDEADBEEF, 0x7FFFFFFFF000, 0x7FFFFFFFFFFF),
    *(0x800000000000, 0xFFFF800000000000, (1 << 63) - 1, 1 << 63, (1 << 64) - 8, (1 << 64) - 1),
)


class Wrong(AssertionError):
    """A failed check of the package's behaviour."""


def want(condition: object, text: str, *details: object) -> None:
    if not condition:
        raise Wrong("\n  ".join([text, *map(str, details)]))


class Fuzzer:
    """Runs cases by seed and counts descs: valid, broken and corrupted, the latter by outcome."""

    def __init__(self) -> None:
        d3d12 = D3D12CreateDevice()
        self.devices: dict[int, IDMLDevice] = {
            level: DMLCreateDevice(d3d12, feature_level=level) for level in LEVELS
        }
        self.region = GuardedMemory()
        self.counts: Counter[str] = Counter()
        # Memory that stays constant while a case runs, unlike that of Python's objects.
        self._block = ctypes.create_string_buffer(random.Random(0).randbytes(1 << 12), 1 << 12)
        self._code = ctypes.cast(ctypes.CDLL(None).memcpy, ctypes.c_void_p).value or 0

    @property
    def descs(self) -> int:
        return self.counts["valid"] + self.counts["broken"] + self.counts["corrupted"]

    def case(self, seed: int) -> None:
        """Run a case. Raises ``Wrong``, or any unexpected exception of the package."""
        start = time.process_time()
        self._case(seed)
        seconds = time.process_time() - start
        want(seconds < SLOW_SECONDS, f"took {seconds:.1f} seconds of the processor")

    def _case(self, seed: int) -> None:
        source = RandomSource(seed)
        level = source.choice(LEVELS)
        desc = valid_desc(source, None, level)
        image = image_of(desc)
        self.valid(source, desc, image, level)
        self.broken(source, level)
        for _ in range(SPOILT_PER_CASE):
            self.corrupted(source, image, level)

    def valid(self, source: RandomSource, desc: OperatorDesc, image: Image, level: DML_FEATURE_LEVEL) -> None:
        """Check that no rule is reported, and that the operator is created, compiled and run, from ctypes structs or
        flat memory."""
        self.counts["valid"] += 1
        holder: Any = encode(desc) if source.chance(50) else self.write_before_guard(image, bytes(image.data))
        decoded = decode_operator_desc(holder)
        want(decoded.desc == desc and not decoded.faults, "decoded wrongly", desc, *decoded)
        diagnostics = validate(holder, feature_level=level)
        want(not diagnostics, f"a valid desc is rejected at {level.name}", desc, *diagnostics)
        self.create(holder, level)
        self.execute(source, desc)

    def broken(self, source: RandomSource, level: DML_FEATURE_LEVEL) -> None:
        """Check that exactly the broken rule is reported, at its path."""
        self.counts["broken"] += 1
        desc, rule, path = broken_desc(source, None, level)
        diagnostics = validate(desc, feature_level=level)
        is_right = {item.rule for item in diagnostics} == {rule} and diagnostics[0].path == path
        want(is_right, f"expected {rule} at {path} alone at {level.name}", desc, *diagnostics)

    def corrupted(self, source: RandomSource, image: Image, level: DML_FEATURE_LEVEL) -> None:
        """Check that arbitrary memory is accepted or rejected with diagnostics, and is not modified."""
        self.counts["corrupted"] += 1
        data = bytearray(image.data)
        for _ in range(source.integer(1, 4)):
            self.corrupt(source, image, data)
        # A truncated image is misaligned and extends into the guard page.
        kept = source.integer(0, len(data)) if source.chance(10) else len(data)
        address = self.write_before_guard(image, bytes(data), kept)
        before = self.region.read(address)
        holder = self.holder(source, address)
        try:
            diagnostics = validate(holder, feature_level=level)
        except TypeError:
            self.counts["type_errors"] += 1
            return
        finally:
            want(self.region.read(address) == before, "validation changed the memory of a desc")
        self.counts["refused" if diagnostics else "accepted"] += 1
        if not diagnostics:
            self.create(holder, level)
        elif source.chance(5):
            self.refuse(holder, level, diagnostics)

    def create(self, holder: Any, level: DML_FEATURE_LEVEL) -> None:
        device = self.devices[level]
        op = device.CreateOperator(holder)
        if any(
            slot.tensor and slot.tensor.element_count > LARGE for slot in (*op.desc.inputs, *op.desc.outputs)
        ):
            return
        try:
            device.CompileOperator(op)
        except DMLError as error:
            want(error.hresult == E_NOTIMPL, "an accepted desc does not compile", error)

    def execute(self, source: RandomSource, desc: OperatorDesc) -> None:
        """Execute on random memory, which includes out-of-range indices, NaN and infinity."""
        program = OperatorProgram(desc)
        inputs = [
            None if slot.tensor is None else self.memory(source, slot.tensor.total_size)
            for slot in desc.inputs
        ]
        outputs = [
            None if slot.tensor is None else np.empty(slot.tensor.total_size, np.uint8)
            for slot in desc.outputs
        ]
        for position, packing in program.packed.items():
            tensor, plain = desc.inputs[position].tensor, inputs[position]
            assert tensor is not None
            assert plain is not None
            inputs[position] = packed = np.empty(packing.size, np.uint8)
            packing.store(tensor.view(plain), packed)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            program.bind(inputs, outputs, np.empty(program.temporary_size, np.uint8))()

    @staticmethod
    def memory(source: RandomSource, size: int) -> Any:
        kind = source.integer(0, 3)
        data = source.random.randbytes(size) if kind else bytes(size)
        memory = np.frombuffer(bytearray(data), np.uint8)
        if kind == 1:
            # Small numbers in any integer type.
            memory[np.arange(size) % 8 > 0] = 0
        return memory

    def refuse(self, holder: Any, level: DML_FEATURE_LEVEL, diagnostics: list[Any]) -> None:
        try:
            self.devices[level].CreateOperator(holder)
        except DMLError as error:
            reserved = any(item.rule == "DML-Desc-reserved-type" for item in diagnostics)
            expected = DXGI_ERROR_UNSUPPORTED if reserved else E_INVALIDARG
            want(error.hresult == expected, "CreateOperator fails with a different HRESULT", error)
            # Besides errors it reports violations of documentation-only rules.
            errors = [item for item in error.diagnostics if item.severity is Severity.ERROR]
            same = [item[1:3] for item in errors] == [item[1:3] for item in diagnostics]
            want(same, "CreateOperator and validate disagree", error, *diagnostics)
        else:
            raise Wrong("CreateOperator accepts what validate rejects")

    def holder(self, source: RandomSource, address: int) -> Any:
        """The address in one of the forms that callers may use, sometimes as another desc's, or not a desc at all."""
        kind = source.integer(0, 20)
        if kind < 2:
            # The typed desc follows the DML_OPERATOR_DESC.
            return ctypes.cast(address + 16 * kind, ctypes.POINTER(source.choice(TYPED)))
        if kind == 2:
            return source.choice(NO_DESCS)
        kind %= 4
        if kind == 0:
            return address
        if kind == 1:
            return ctypes.c_void_p(address)
        pointer = ctypes.cast(address, ctypes.POINTER(DML_OPERATOR_DESC))
        return pointer if kind == 2 else pointer.contents

    def write_before_guard(self, image: Image, data: bytes, kept: int | None = None) -> int:
        """Write the first ``kept`` bytes before the guard page, with the image's pointers as addresses."""
        placed = bytearray(data)
        base = self.region.end - (len(data) if kept is None else kept)
        for offset in image.pointers:
            pointer = image.data[offset : offset + 8]
            # Corrupted and null pointers are not relocated.
            if placed[offset : offset + 8] == pointer and any(pointer):
                placed[offset : offset + 8] = (int.from_bytes(pointer, "little") + base).to_bytes(8, "little")
        return self.region.write(bytes(placed[:kept]))

    def corrupt(self, source: RandomSource, image: Image, data: bytearray) -> None:
        kind = source.integer(0, 6)
        if kind == 0:
            data[source.integer(0, len(data) - 1)] = source.integer(0, 255)
        elif kind == 1:
            data[source.integer(0, len(data) - 1)] ^= 1 << source.integer(0, 7)
        elif kind in (2, 3):
            offset = source.choice(image.pointers)
            data[offset : offset + 8] = self.wild(source).to_bytes(8, "little")
        elif kind == 4:
            offset = source.choice(image.counts)
            data[offset : offset + 4] = self.number(source).to_bytes(4, "little")
        elif kind == 5:
            offset = source.choice(image.enums)
            data[offset : offset + 4] = self.number(source).to_bytes(4, "little")
        else:
            offset = source.integer(0, len(data) // 4 - 1) * 4
            data[offset : offset + 4] = self.number(source).to_bytes(4, "little")

    def number(self, source: RandomSource) -> int:
        near = source.integer(-4, 4)
        far = source.choice((8, 64, 1 << 8, 1 << 16, 1 << 20, 1 << 31, (1 << 32) - 5))
        return source.integer(0, 200) if source.chance(40) else (far + near) & 0xFFFFFFFF

    def wild(self, source: RandomSource) -> int:
        """A wild pointer: unmapped, into or just before the guard page, or to unrelated memory."""
        kind = source.integer(0, 5)
        region = self.region
        if kind == 0:
            return source.choice(NOWHERE)
        if kind == 1:
            return region.end + source.integer(-64, PAGE - 1)
        if kind == 2:
            return region.end - source.integer(1, 2048)
        if kind == 3:
            return ctypes.addressof(self._block) + source.integer(0, 4000)
        if kind == 4:
            return source.choice((region.start, self._code, self._code + 3))
        return source.random.getrandbits(64)
