"""The buffers of a model's resources."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from ..api.d3d12_enums import D3D12_HEAP_TYPE_UPLOAD
from ..api.enums import DML_TENSOR_DATA_TYPE_UNKNOWN
from ..d3d12 import ID3D12Resource
from ..descs.data_types import data_type_of
from ..session import Session
from .model import BindingSource, ModelResource
from .model_files import ModelError

UINT64_MAX = (1 << 64) - 1


class ModelBuffers:
    """A buffer for each resource that is not deferred, and the sizes and offsets of bindings in bytes."""

    def __init__(self, session: Session, resources: Iterable[ModelResource]) -> None:
        self.session = session
        self.resources = {resource.name: resource for resource in resources}
        self.buffers: dict[str, ID3D12Resource] = {
            resource.name: upload(session, resource.content(), resource.size)
            for resource in self.resources.values()
            if not resource.deferred
        }

    def element_size(self, source: BindingSource) -> int:
        """The element size in bytes; 0 where neither the binding nor the resource defines it."""
        data_type = self.resources[source.name].data_type
        if source.element_size or data_type == DML_TENSOR_DATA_TYPE_UNKNOWN:
            return source.element_size
        bits = data_type_of(data_type).bits
        if bits < 8:
            raise ModelError("Unexpected DML_TENSOR_DATA_TYPE")
        return bits // 8

    def element_count(self, source: BindingSource) -> int:
        size = self.element_size(source)
        return source.element_count or (self.resources[source.name].value_size // size if size else 0)


def upload(session: Session, content: bytes, size: int) -> ID3D12Resource:
    """A buffer of ``size`` bytes that begins with ``content``."""
    target = session.buffer(size)
    staging = session.buffer(size, D3D12_HEAP_TYPE_UPLOAD)
    staging.Map()[: len(content)] = np.frombuffer(content, np.uint8)
    staging.Unmap()
    session.run(lambda commands: commands.CopyResource(target, staging))
    return target


def product(count: int, size: int) -> int:
    if count * size > UINT64_MAX:
        raise ModelError("Overflow in size calculation")
    return count * size
