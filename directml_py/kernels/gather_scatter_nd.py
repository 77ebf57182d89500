"""Gather and scatter: along one axis, or by index tuples over any of the dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from math import prod
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided

from .backend import backend
from .decisions import ABSENT, Declined
from .elementwise.map import map_blocks
from .launch import NativeRun, launch_in_order
from .native_arrays import Array, Run, address, type_name

# One index array for each leading dimension of an array, all of the same sizes; None stands for the position's own
# coordinate.
Coordinates = Sequence["Array | None"]
Locate = Callable[[Array, int], Array]
INDEX_TYPES = {np.dtype(name.lower()): f"DML_INDEX_{name}" for name in ("UINT32", "INT32", "UINT64", "INT64")}
# This many indices or fewer are read by one copy each if they select pieces of at least so many bytes.
FEW_INDICES, FEW_BYTES = 16, 64


def gather(x: Array, indices: Array, output: Array, axis: int) -> Run:
    """Bind ``output[lead, index, trail] = x[lead, indices[index], trail]`` and return the call that runs it.

    The sizes of ``output`` are those of ``x`` with the sizes of ``indices`` in place of ``axis``; sizes of 1 may be
    missing or added anywhere. Indices are read, and clamped, at each call.
    """
    return native_gather(x, indices, output, axis) or partial(reference_gather, x, indices, output, axis)


def native_gather(x: Array, indices: Array, output: Array, axis: int) -> NativeRun | Declined:
    """The native kernel of ``gather``: that of index tuples, which consist of the leading dimensions' own coordinates
    and an index."""
    sizes = (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])
    if x.shape[axis] < 1:
        return Declined("gather_scatter_nd", "no index is within an axis of size 0")
    if is_few(indices, prod(x.shape[axis + 1 :]) * x.itemsize):
        # Leading dimensions become a part of what an index selects.
        output = as_strided(output, sizes, spread_strides(sizes, output))
        last = axis + indices.ndim
        output = np.moveaxis(output, range(axis, last), range(indices.ndim))
        x, axis = np.moveaxis(x, axis, 0), 0
    repeated = np.broadcast_to(indices, (*x.shape[:axis], *indices.shape))
    return native_gather_scatter("CLAMPED", x, [*[None] * axis, repeated], output)


def is_few(indices: Array, item: int) -> bool:
    """Whether each index is best read by one copy: of all that it selects, in which ``item`` bytes follow each
    other."""
    return indices.size == 1 or (indices.size <= FEW_INDICES and item >= FEW_BYTES)


def reference_gather(x: Array, indices: Array, output: Array, axis: int) -> None:
    """The reference."""
    # Unlike np.take, indexing does not copy a strided or broadcast input first.
    index: tuple[Any, ...] = (*(slice(None),) * axis, safe_indices(indices, x.shape[axis] - 1))
    np.copyto(output, x[index].reshape(output.shape))


def safe_indices(indices: Array, last: int) -> Array:
    """Indices clamped to [0, last], after counting negative ones from the end."""
    if indices.dtype.kind == "i":
        # An axis may be longer than INT32 reaches; clamped before the shift, INT64's lowest value cannot wrap.
        clamped = np.clip(indices.astype(np.int64), -last - 1, last)
        return np.where(clamped < 0, clamped + (last + 1), clamped)
    return np.minimum(indices, min(last, np.iinfo(indices.dtype).max)).astype(np.intp)


def exact_indices(indices: Array, last: int) -> Array:
    """Indices within [0, last], after counting negative ones from the end; -1 for those out of range."""
    if indices.dtype.kind == "i":
        wide = indices.astype(np.int64)
        counted = np.where(wide < 0, wide + (last + 1), wide)
        return np.where((counted < 0) | (counted > last), -1, counted)
    inside = indices <= last
    return np.where(inside, np.where(inside, indices, 0).astype(np.int64), -1)


def sizes_of(coordinates: Coordinates) -> tuple[int, ...]:
    """The sizes that all index arrays have."""
    return next(indices.shape for indices in coordinates if indices is not None)


def located(sizes: Sequence[int], coordinates: Coordinates, locate: Locate) -> tuple[Array, ...]:
    """An index array for every dimension, as NumPy takes to index an array of ``sizes``."""
    base = np.ix_(*map(np.arange, sizes_of(coordinates)))
    return tuple(
        base[dimension] if indices is None else locate(indices, size - 1)
        for dimension, (indices, size) in enumerate(zip(coordinates, sizes))
    )


def read_whole(x: Array, coordinates: Coordinates) -> Array:
    """The reference of ``gather_nd``."""
    picked: Array = x[located(x.shape, coordinates, safe_indices)]
    return picked


def written_whole(x: Array, coordinates: Coordinates, updates: Array) -> Array:
    """The reference of ``scatter_nd``: a copy of ``x`` with the updates applied."""
    result: Array = x.copy()
    coordinates_inside, inside = indices_inside(x.shape, coordinates)
    result[coordinates_inside] = np.reshape(updates, inside.shape + x.shape[len(coordinates) :])[inside]
    return result


def indices_inside(sizes: Sequence[int], coordinates: Coordinates) -> tuple[tuple[Array, ...], Array]:
    """The in-range index tuples, as one flat array per dimension, and the mask of tuples that are in range."""
    broadcast = np.broadcast_arrays(*located(sizes, coordinates, exact_indices))
    inside = np.logical_and.reduce([numbers >= 0 for numbers in broadcast])
    return tuple(numbers[inside] for numbers in broadcast), inside


def scratch_for(sizes: Sequence[int]) -> int:
    """The bytes of temporary memory for index arrays of ``sizes``."""
    return 8 * prod(sizes)


def gather_nd(x: Array, coordinates: Coordinates, output: Array, scratch: Array) -> Run:
    """Bind ``output[i, trail] = x[coordinates[i], trail]`` and return the call that runs it.

    The sizes of ``output`` are those of the index arrays, then those of the dimensions of ``x`` without coordinates;
    sizes of 1 may be missing or added anywhere. Indices are read at each call: negative ones count from the end, and
    those out of range are clamped.
    """
    return native_gather_scatter("CLAMPED", x, coordinates, output) or gather_rows_nd(
        x, coordinates, output, scratch
    )


def gather_rows_nd(x: Array, coordinates: Coordinates, output: Array, scratch: Array) -> Run:
    """``gather_nd`` by linear indices, where the native kernel declines."""
    find, rows, linear_indices = bind_linear_indices(x, coordinates, safe_indices, scratch)
    return launch_in_order([find, gather(rows, linear_indices, output, 0)])


def scatter_nd(output: Array, coordinates: Coordinates, updates: Array, scratch: Array) -> Run:
    """Bind ``output[coordinates[i], trail] = updates[i, trail]`` and return the call that runs it.

    Sizes and indices are as in ``gather_nd``, except that out-of-range updates are dropped. Of several updates of one
    element the last wins, in the order of ``i``.
    """
    native = native_gather_scatter("EXACT", output, coordinates, updates)
    if native:
        return native
    find, rows, indices = bind_linear_indices(output, coordinates, exact_indices, scratch)
    # NumPy visits index tuples of several dimensions in an unspecified memory order, but a single dimension from its
    # start.
    indices = indices.reshape(-1)

    def run() -> None:
        find()
        targets, values = indices, updates.reshape((len(indices), *rows.shape[1:]))
        if targets.min() < 0:
            inside = targets >= 0
            targets, values = targets[inside], values[inside]
        rows[targets] = values

    return run


def read_reversed(x: Array, coordinates: Coordinates, output: Array) -> Run | Declined:
    """As ``gather_nd``, but the indices are lengths: of as many leading elements along the dimension, the last is read
    first."""
    return native_gather_scatter("REVERSED", x, coordinates, output)


def native_gather_scatter(
    mode: str, array: Array, coordinates: Coordinates, values: Array
) -> NativeRun | Declined:
    """The native kernel: reads of ``array`` into ``values`` or, if ``mode`` is EXACT, writes of ``values``."""
    native = backend.native
    indexed = [(along, indices) for along, indices in enumerate(coordinates) if indices is not None]
    sizes, trail = sizes_of(coordinates), array.shape[len(coordinates) :]
    if native is None:
        return Declined("gather_scatter_nd", ABSENT)
    for _, axis_indices in indexed:
        if axis_indices.dtype not in INDEX_TYPES:
            return Declined(
                "gather_scatter_nd", f"indices of {type_name(axis_indices)} have no native kernel"
            )
    strides = spread_strides((*sizes, *trail), values)
    array_strides = [0] * len(sizes)
    for along, indices in enumerate(coordinates):
        if indices is None:
            array_strides[along] = array.strides[along]
    # Lengths along the dimension that they reverse are positions there, which must not be merged with other dimensions.
    alone = [along for along, _ in indexed] if mode == "REVERSED" else []
    joined, merged_strides, kept = merged(
        sizes, [array_strides, strides[: len(sizes)], *(indices.strides for _, indices in indexed)], alone
    )
    if max(len(joined), len(trail), len(indexed)) > (most := native.lib.DML_MAX_DIMENSIONS):
        return Declined(
            "gather_scatter_nd", f"index tuples or the slices they select have more than {most} dimensions"
        )
    # Positions that differ in their own coordinate are distinct.
    apart = [size if stride else 0 for size, stride in zip(joined, merged_strides[0])]
    task = native.ffi.new(
        "dml_gather_scatter_nd *",
        {
            "params": {
                "rank": len(joined),
                "is_write": mode == "EXACT",
                "mode": getattr(native.lib, f"DML_GATHER_SCATTER_ND_{mode}"),
                "count": len(indexed),
                "sizes": joined,
                "array_strides": merged_strides[0],
                "values_strides": merged_strides[1],
                "array": address(array),
                "values": address(values),
                "coordinates": [
                    {
                        "indices": address(indices),
                        "strides": index_strides,
                        "size": array.shape[along],
                        "array_stride": array.strides[along],
                        "type": getattr(native.lib, INDEX_TYPES[indices.dtype]),
                        "along": kept.get(along, -1),
                    }
                    for (along, indices), index_strides in zip(indexed, merged_strides[2:])
                ],
                "apart": apart.index(max(apart)) if any(apart) else -1,
            },
        },
    )
    if not native.lib.dml_gather_scatter_nd_prepare(
        task,
        array.itemsize,
        len(trail),
        trail,
        array.strides[len(coordinates) :],
        strides[len(strides) - len(trail) :],
    ):
        return Declined("gather_scatter_nd", f"elements of {array.itemsize} bytes have no native kernel")
    return NativeRun(
        "dml_gather_scatter_nd_run", task, keepalive=(array, values, *(indices for _, indices in indexed))
    )


def merged(
    sizes: Sequence[int], layouts: Sequence[Sequence[int]], alone: Sequence[int]
) -> tuple[list[int], list[list[int]], dict[int, int]]:
    """Merge adjacent dimensions where all layouts allow it, except those ``alone``: sizes, strides by layout, and the
    new positions of ``alone``."""
    joint: list[tuple[int, tuple[int, ...]]] = []
    kept: dict[int, int] = {}
    for dimension, (size, strides) in enumerate(zip(sizes, zip(*layouts))):
        if size == 1:
            continue
        outer = (
            joint[-1] if joint and dimension not in alone and len(joint) - 1 not in kept.values() else None
        )
        if outer is not None and outer[1] == tuple(stride * size for stride in strides):
            joint[-1] = outer[0] * size, strides
        else:
            joint.append((size, strides))
        if dimension in alone:
            kept[dimension] = len(joint) - 1
    if not joint:
        joint.append((1, (0,) * len(layouts)))
    return (
        [size for size, _ in joint],
        [list(strides) for strides in zip(*(strides_of_axis for _, strides_of_axis in joint))],
        kept,
    )


def bind_linear_indices(
    x: Array, coordinates: Coordinates, locate: Locate, scratch: Array
) -> tuple[Run, Array, Array]:
    """A call that computes linear indices; ``x`` with its leading dimensions flattened into one, to which they refer;
    and the array that the call fills, negative where an index is out of range."""
    rows, first = as_rows(x, len(coordinates))
    sizes = sizes_of(coordinates)
    found = scratch[: scratch_for(sizes)].view(np.int64).reshape(sizes)
    strides = [stride // x.itemsize for stride in x.strides[: len(coordinates)]]
    base = np.array(first)
    for dimension, (indices, stride) in enumerate(zip(coordinates, strides)):
        if indices is None:
            numbers = np.arange(sizes[dimension], dtype=np.int64) * stride
            base = base + numbers.reshape(-1, *(1,) * (len(sizes) - 1 - dimension))
    indexed = [
        (size - 1, stride)
        for indices, size, stride in zip(coordinates, x.shape, strides)
        if indices is not None
    ]

    def linear_indices(base: Array, *indices: Array) -> Array:
        located_indices = [locate(numbers, last) for numbers, (last, _) in zip(indices, indexed)]
        total = sum((numbers * stride for numbers, (_, stride) in zip(located_indices, indexed)), base)
        return (
            total if locate is safe_indices else np.where(reduce(np.minimum, located_indices) < 0, -1, total)
        )

    find = map_blocks(
        linear_indices, [base, *(indices for indices in coordinates if indices is not None)], [found]
    )
    return find, rows, found


def as_rows(x: Array, count: int) -> tuple[Array, int]:
    """A view with the first ``count`` dimensions flattened into one of stride one element, and the index there of the
    first element.

    The view includes the memory between the elements.
    """
    reaches = [(size - 1) * stride // x.itemsize for size, stride in zip(x.shape, x.strides[:count])]
    lowest = x[tuple(slice(-1, None) if reach < 0 else slice(1) for reach in reaches)]
    length = 1 + sum(map(abs, reaches))
    rows: Array = as_strided(lowest, (length, *x.shape[count:]), (x.itemsize, *x.strides[count:]))
    return rows, -sum(reach for reach in reaches if reach < 0)


def spread_strides(sizes: Sequence[int], array: Array) -> list[int]:
    """The strides of ``array`` for ``sizes``, which equal its own apart from sizes of 1. Reshaping never copies
    here."""
    strides = iter([stride for size, stride in zip(array.shape, array.strides) if size != 1])
    return [0 if size == 1 else next(strides) for size in sizes]
