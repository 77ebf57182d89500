"""The mapping from the model's hazards to the debug layers' rules."""

from __future__ import annotations

from collections.abc import Iterable

from . import contents, modelled_states, player, reference_model

RULES: dict[str, tuple[str, ...]] = {
    reference_model.MISSING_BARRIER: ("D3D12-UAVBarrier-missing",),
    reference_model.MISSING_ALIASING: ("D3D12-AliasingBarrier-missing",),
    reference_model.MISSING_WAIT: ("D3D12-CommandQueue-wait",),
    reference_model.OVERLAP: ("DML-Binding-", "D3D12_MESSAGE_ID_COPY_ON_SAME_SUBRESOURCE"),
    reference_model.RELEASED: ("D3D12-Object-released",),
    reference_model.IN_FLIGHT: ("D3D12_MESSAGE_ID_COMMAND_LIST_SYNC",),
    reference_model.STALE: ("D3D12_MESSAGE_ID_COMMAND_ALLOCATOR_RESET",),
    reference_model.WRONG_ENGINE: (
        "DML-RecordDispatch-list-type",
        # The message of a clear, which has no message ID on Windows.
        "D3D12_MESSAGE_ID_UNKNOWN",
        "D3D12_MESSAGE_ID_SET_DESCRIPTOR_HEAP_INVALID",
        "D3D12_MESSAGE_ID_RESOURCE_BARRIER_INVALID_COMMAND_LIST_TYPE",
        "D3D12_MESSAGE_ID_EXECUTECOMMANDLISTS_COMMANDLISTMISMATCH",
    ),
    reference_model.RESET: ("D3D12_MESSAGE_ID_COMMAND_ALLOCATOR_SYNC",),
    reference_model.UPLOAD: ("D3D12-Upload-written-in-flight",),
    reference_model.READBACK: ("D3D12-Readback-read-in-flight",),
    reference_model.DEADLOCK: (player.STUCK,),
    modelled_states.WRONG_STATE: ("D3D12-ResourceState-mismatch", "D3D12-ResourceBarrier-before"),
    # Also the rules about halves in two calls, and about a first half without a second.
    modelled_states.SPLIT: ("D3D12-ResourceState-split", "D3D12-ResourceBarrier-split"),
    modelled_states.ASSUMED: ("D3D12-ResourceBarrier-before-common",),
    contents.UNDEFINED: ("D3D12-Contents-undefined",),
    contents.LOST: ("D3D12-AliasingBarrier-contents",),
    contents.INHERITED: ("D3D12-AliasingBarrier-inherited",),
    contents.UNINITIALIZED: ("DML-RecordDispatch-initialized",),
    contents.TWICE: ("DML-OperatorInitializer-once",),
    contents.OTHER_PERSISTENT: ("DML-BindPersistentResource-same",),
    contents.CHANGED: ("DML-BindPersistentResource-unchanged",),
}


# A premature read returns arbitrary numbers, which may break these rules.
OF_VALUES = {"DML-REDUCE-sum-range"}


def speaking_of(hazards: Iterable[str], rules: Iterable[str]) -> set[str]:
    """The subset of ``rules`` that report one of ``hazards``."""
    beginnings = tuple(beginning for hazard in hazards for beginning in RULES.get(hazard, ()))
    return {rule for rule in rules if rule.startswith(beginnings)} if beginnings else set()
