"""Device profiles: how demanding a device is where the pages leave it the choice.

A program that passes only because an emulated device requires little fails on other GPUs. A ``Profile`` sets what a
device requires and denies within the limits of the pages. It has no offset alignments: tensors may lie at any multiple
of DML_MINIMUM_BUFFER_TENSOR_ALIGNMENT, temporary and persistent resources at any of 256 (directml-constants), so that
no device can require more.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, TypeAlias

import numpy as np

from ..abi.hresult import E_INVALIDARG
from ..abi.rules import rule, violation
from ..api.enums import (
    DML_TENSOR_DATA_TYPE,
    DML_TENSOR_DATA_TYPE_FLOAT16,
    DML_TENSOR_DATA_TYPE_FLOAT64,
    DML_TENSOR_DATA_TYPE_INT64,
    DML_TENSOR_DATA_TYPE_UINT64,
)
from ..kernels.native_arrays import Run
from ..runtime.allocation import PATTERN
from ..runtime.buffer import BufferRange
from ..runtime.observers import PROFILE_VARIABLE

if TYPE_CHECKING:
    import numpy.typing as npt

Bytes: TypeAlias = "npt.NDArray[np.uint8]"

REMOVAL = "removal_after="
# Sizes are rounded up to this before a profile adds to them, so that the addend determines their alignment.
UNIT = 16

PROFILE = rule(
    "DML-CreateDevice-profile",
    "profile is a Profile or the name of one; DIRECTML_PY_PROFILE names one, optionally with ,removal_after=n",
    "dml-binding",
)


@dataclass(frozen=True)
class Profile:
    """The behaviour of a device. By default it requires nothing beyond what operators use.

    ``temporary`` and ``persistent`` are extra bytes, multiples of 4, that every operator requires, and every
    initializer as temporary memory. ``descriptors`` is the count that every dispatchable requires beyond one per
    binding; None means that only those with DESCRIPTORS_VOLATILE need any. ``denied`` are the tensor types that
    CheckFeatureSupport denies and CreateOperator rejects. With ``undefined``, memory with undefined content never reads
    as zero: CREATE_NOT_ZEROED heaps, temporary resources, the previous content of outputs and the gaps between their
    elements. With ``strict`` an error that the debug layer would report for a dispatch removes the device, and
    violations of a page are errors even where Microsoft's library accepts them. With ``reorders`` dispatches of one
    ExecuteCommandLists are reordered where no barrier separates them, except in lists watched by the debug layer or a
    capture. With ``halves`` FLOAT16 is computed in FLOAT16, rounded at each step, where
    DML_EXECUTION_FLAG_ALLOW_HALF_PRECISION_COMPUTATION allows it: in element-wise functions, activations, REDUCE and
    GEMM, in addition to cumulative sums and products, for which every device does. The device is removed at call
    number ``removal_after`` of its methods and those of objects that it created.
    """

    name: str
    temporary: int = 0
    persistent: int = 0
    descriptors: int | None = 0
    denied: frozenset[DML_TENSOR_DATA_TYPE] = frozenset()
    undefined: bool = False
    strict: bool = False
    reorders: bool = False
    halves: bool = False
    removal_after: int | None = None

    def __post_init__(self) -> None:
        for field in ("temporary", "persistent"):
            value = getattr(self, field)
            if value < 0 or value % 4:
                raise ValueError(f"{field} is {value}; it must be a multiple of 4, and not negative")
        if self.descriptors is not None and self.descriptors < 0:
            raise ValueError(f"descriptors is {self.descriptors}; it must not be negative")
        if self.removal_after is not None and self.removal_after < 1:
            raise ValueError(f"removal_after is {self.removal_after}; it must be at least 1")

    # Hashing all fields would take longer than what profiles are looked up for; few have the same name.
    def __hash__(self) -> int:
        return hash(self.name)

    def temporary_size(self, size: int) -> int:
        """The TemporaryResourceSize of a dispatchable that uses ``size`` bytes."""
        return _grown(size, self.temporary)

    def persistent_size(self, size: int) -> int:
        """The PersistentResourceSize of an operator that keeps ``size`` bytes."""
        return _grown(size, self.persistent)


def _grown(size: int, extra: int) -> int:
    return -(-size // UNIT) * UNIT + extra if extra else size


WIDE: Final = frozenset(
    {DML_TENSOR_DATA_TYPE_FLOAT64, DML_TENSOR_DATA_TYPE_INT64, DML_TENSOR_DATA_TYPE_UINT64}
)
KIND: Final = Profile("kind")
PROFILES: Final = {
    profile.name: profile
    for profile in (
        KIND,
        Profile(
            "demanding",
            temporary=36,
            persistent=28,
            descriptors=3,
            denied=WIDE,
            undefined=True,
            strict=True,
            reorders=True,
            halves=True,
        ),
        Profile("no-descriptors", descriptors=None),
        Profile("more-memory", temporary=36, persistent=28, descriptors=3),
        Profile("no-optional-types", denied=WIDE | {DML_TENSOR_DATA_TYPE_FLOAT16}),
        Profile("undefined-memory", undefined=True),
        Profile("strict", strict=True),
        Profile("reordered", reorders=True),
        Profile("half-precision", halves=True),
    )
}
ProfileLike: TypeAlias = "Profile | str | None"


def profile_of(value: ProfileLike) -> Profile:
    """A profile itself or by name; None is that of ``DIRECTML_PY_PROFILE``, or ``kind``.

    A name may be followed by ``,removal_after=n``. Raises ``DMLError`` ``E_INVALIDARG`` for unknown names.
    """
    if isinstance(value, Profile):
        return value
    origin, text = "profile", value
    if text is None:
        if PROFILE_VARIABLE not in os.environ:
            return KIND
        origin, text = PROFILE_VARIABLE, os.environ[PROFILE_VARIABLE] or KIND.name
    if not isinstance(text, str):
        raise TypeError(f"profile must be a Profile, a name or None, not {type(text).__name__}")
    name, _, rest = text.partition(",")
    profile = PROFILES.get(name)
    if profile is None:
        raise violation(PROFILE, origin, f"is {text!r}; the profiles are {', '.join(PROFILES)}", E_INVALIDARG)
    if not rest:
        return profile
    count = rest.removeprefix(REMOVAL)
    if rest == count or not (count.isascii() and count.isdecimal()) or not int(count[:20]):
        raise violation(
            PROFILE,
            origin,
            f"is {text!r}; only ,{REMOVAL}n may follow the name, with n at least 1",
            E_INVALIDARG,
        )
    return replace(profile, removal_after=int(count[:20]))


def poisoned(run: Run, outputs: Iterable[BufferRange], inputs: Sequence[BufferRange], scratch: Bytes) -> Run:
    """``run`` with outputs poisoned before it, and temporary memory before and after it.

    An output that is written in place of an input is not poisoned.
    """
    fresh = [out.bytes for out in outputs if not any(out.overlaps(source) for source in inputs)]

    def call() -> None:
        for memory in fresh:
            memory[:] = PATTERN
        scratch[:] = PATTERN
        run()
        scratch[:] = PATTERN

    return call
