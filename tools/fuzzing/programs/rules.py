"""Which rules of the debug layers speak of which hazards of the model."""

from __future__ import annotations

from collections.abc import Iterable

from . import contents, model, player, states

RULES: dict[str, tuple[str, ...]] = {
    model.MISSING_BARRIER: ("D3D12-UAVBarrier-missing",),
    model.MISSING_ALIASING: ("D3D12-AliasingBarrier-missing",),
    model.MISSING_WAIT: ("D3D12-CommandQueue-wait",),
    model.OVERLAP: ("DML-Binding-", "D3D12_MESSAGE_ID_COPY_ON_SAME_SUBRESOURCE"),
    model.RELEASED: ("D3D12-Object-released",),
    model.IN_FLIGHT: ("D3D12_MESSAGE_ID_COMMAND_LIST_SYNC",),
    model.STALE: ("D3D12_MESSAGE_ID_COMMAND_ALLOCATOR_RESET",),
    model.WRONG_ENGINE: (
        "DML-RecordDispatch-list-type",
        # What a clear says, for which Windows has no number.
        "D3D12_MESSAGE_ID_UNKNOWN",
        "D3D12_MESSAGE_ID_SET_DESCRIPTOR_HEAP_INVALID",
        "D3D12_MESSAGE_ID_RESOURCE_BARRIER_INVALID_COMMAND_LIST_TYPE",
        "D3D12_MESSAGE_ID_EXECUTECOMMANDLISTS_COMMANDLISTMISMATCH",
    ),
    model.RESET: ("D3D12_MESSAGE_ID_COMMAND_ALLOCATOR_SYNC",),
    model.UPLOAD: ("D3D12-Upload-written-in-flight",),
    model.READBACK: ("D3D12-Readback-read-in-flight",),
    model.DEADLOCK: (player.STUCK,),
    states.WRONG_STATE: ("D3D12-ResourceState-mismatch", "D3D12-ResourceBarrier-before"),
    states.SPLIT: ("D3D12-ResourceState-split", "D3D12-ResourceBarrier-split"),
    contents.UNDEFINED: ("D3D12-Contents-undefined",),
    contents.LOST: ("D3D12-AliasingBarrier-contents",),
    contents.INHERITED: ("D3D12-AliasingBarrier-inherited",),
    contents.UNINITIALIZED: ("DML-RecordDispatch-initialized",),
    contents.TWICE: ("DML-OperatorInitializer-once",),
    contents.OTHER_PERSISTENT: ("DML-BindPersistentResource-same",),
    contents.CHANGED: ("DML-BindPersistentResource-unchanged",),
}


# What is read too early may be any number.
OF_VALUES = {"DML-REDUCE-sum-range"}


def speaking_of(hazards: Iterable[str], rules: Iterable[str]) -> set[str]:
    """Those of ``rules`` that are about one of ``hazards``."""
    beginnings = tuple(beginning for hazard in hazards for beginning in RULES.get(hazard, ()))
    return {rule for rule in rules if rule.startswith(beginnings)} if beginnings else set()
