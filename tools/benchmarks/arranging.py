"""Data movement with static patterns: padding, slices, tiles, space-to-depth blocks and windows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

import directml_py as dml

from .benchmark_case import LARGE, TYPES, BenchmarkCase, Contest, cube, filled, matrix
from .peers import onnx_call, torch, torch_call
from .replay_cost import output_like, recorded, tensor

# The names of the modes in ONNX, NumPy and PyTorch.
MODES = {
    "CONSTANT": ("constant", "constant"),
    "EDGE": ("edge", "replicate"),
    "REFLECTION": ("reflect", "reflect"),
    "SYMMETRIC": ("symmetric", ""),
    "WRAP": ("wrap", "circular"),
}
ORDERS = {"depth column row": ("DCR", "DEPTH_COLUMN_ROW"), "column row depth": ("CRD", "COLUMN_ROW_DEPTH")}


def cases() -> Iterator[BenchmarkCase]:
    """Limits are copies of the bytes written or read, whichever are more."""
    kinds: list[tuple[str, Callable[..., Contest], str]] = [
        *((f"PADDING {mode.lower()}", partial(padding, mode), "copy") for mode in MODES),
        *((f"SLICE steps of {step}", partial(sliced, step, 1), "") for step in (2, 3)),
        ("SLICE rows", partial(sliced, 2, 0), ""),
        ("REVERSE backwards", partial(sliced, -1, 1), "copy"),
        ("SLICE_GRAD steps of 2", partial(slice_gradient, 2), "copy"),
        ("SLICE_GRAD window", partial(slice_gradient, 1), "copy"),
        ("REVERSE_SUBSEQUENCES rows", partial(subsequences, 1), "copy"),
        ("REVERSE_SUBSEQUENCES columns", partial(subsequences, 0), "copy"),
        ("TILE 2 x 2", tiled, ""),
        *((f"SPACE_TO_DEPTH {order}", partial(to_depth, order), "copy") for order in ORDERS),
        *((f"DEPTH_TO_SPACE {order}", partial(to_space, order), "copy") for order in ORDERS),
        ("UNFOLD 3 x 3", unfolded, "copy"),
        ("FOLD 3 x 3", folded, "read"),
        ("VALUE_SCALE_2D", scaled, "copy"),
    ]
    for name, make, limit in kinds:
        for dtype in TYPES:
            if name.startswith(("FOLD", "VALUE")) and not dtype.startswith("float"):
                continue
            bound = (limit, LARGE) if limit else None
            yield BenchmarkCase(name.split()[0], f"{name}, {dtype}, 64 MiB", partial(make, dtype), bound)


def padding(mode: str, dtype: str, threads: int) -> Contest:
    """A border of three elements around each plane."""
    planes, height, width = cube(dtype, LARGE)
    x = filled(dtype, (1, planes, height, width))
    pads = [0, 0, 3, 3]
    desc = dml.DML_PADDING_OPERATOR_DESC(
        InputTensor=tensor(x),
        OutputTensor=output_like(x, [1, planes, height + 6, width + 6]),
        PaddingMode=dml.DML_PADDING_MODE[f"DML_PADDING_MODE_{mode}"],
        StartPadding=pads,
        EndPadding=pads,
    )
    ours = recorded(desc, [x])
    (x,), (out,) = ours.inputs, ours.outputs
    node, function = MODES[mode]
    several = onnx_call("Pad", [x], [out], threads, {"mode": node}, {"pads": np.array(pads * 2)})
    peers = {
        "NumPy": lambda: np.pad(x, [(pad, pad) for pad in pads], node),  # type: ignore[call-overload]
        "PyTorch": torch_call(lambda a: torch.nn.functional.pad(a, (3, 3, 3, 3), function), [x], []),
        "ONNX Runtime": several,
    }
    return Contest(ours, peers)


def sliced(stride: int, axis: int, dtype: str, threads: int) -> Contest:
    """A strided slice along one dimension."""
    x = filled(dtype, matrix(dtype, LARGE))
    sizes = list(x.shape)
    length = sizes[axis]
    sizes[axis] = 1 + (length - 1) // abs(stride)
    slices = (slice(None),) * axis + (slice(None, None, stride),)
    desc = dml.DML_SLICE1_OPERATOR_DESC(
        InputTensor=tensor(x),
        OutputTensor=output_like(x, sizes),
        InputWindowOffsets=[0, 0],
        InputWindowSizes=list(x.shape),
        InputWindowStrides=[stride if each == axis else 1 for each in range(2)],
    )
    ours = recorded(desc, [x])
    (x,), (out,) = ours.inputs, ours.outputs
    torch_slice = torch_call(lambda a, o: o.copy_(a[slices]), [x], [out]) if stride > 0 else None
    names = ("starts", "ends", "axes", "steps")
    values = (0, length, axis, stride) if stride > 0 else (length - 1, -(2**62), axis, stride)
    constants = {name: np.array([value]) for name, value in zip(names, values)}
    peers = {
        "NumPy": lambda: np.copyto(out, x[slices]),
        "PyTorch": torch_slice or torch_call(lambda a: torch.flip(a, (axis,)), [x], []),
        "ONNX Runtime": onnx_call("Slice", [x], [out], threads, {}, constants),
    }
    return Contest(ours, peers)


def slice_gradient(stride: int, dtype: str, threads: int) -> Contest:
    """With a step of 1 all elements of the output but a border; otherwise zeros are in between."""
    sizes = matrix(dtype, LARGE)
    offset = 3 if stride == 1 else 0
    counts = (sizes[0], (sizes[1] - 2 * offset) // stride)
    gradient = filled(dtype, counts)
    desc = dml.DML_SLICE_GRAD_OPERATOR_DESC(
        InputGradientTensor=tensor(gradient),
        OutputGradientTensor=output_like(gradient, sizes),
        InputWindowOffsets=[0, offset],
        InputWindowSizes=[sizes[0], sizes[1] - 2 * offset],
        InputWindowStrides=[1, stride],
    )
    ours = recorded(desc, [gradient])
    (gradient,), (out,) = ours.inputs, ours.outputs
    slices = (slice(None), slice(offset, sizes[1] - offset, stride))

    def numpy() -> None:
        out.fill(0)
        out[slices] = gradient

    def pytorch(a: Any, o: Any) -> None:
        o.zero_()
        o[slices].copy_(a)

    return Contest(ours, {"NumPy": numpy, "PyTorch": torch_call(pytorch, [gradient], [out])})


def subsequences(axis: int, dtype: str, threads: int) -> Contest:
    """One length per row, or per column."""
    x = filled(dtype, matrix(dtype, LARGE))
    sizes = [size if each != axis else 1 for each, size in enumerate(x.shape)]
    lengths = np.random.default_rng(11).integers(1, x.shape[axis], sizes).astype(np.uint32)
    desc = dml.DML_REVERSE_SUBSEQUENCES_OPERATOR_DESC(
        InputTensor=tensor(x), SequenceLengthsTensor=tensor(lengths), OutputTensor=tensor(x), Axis=axis
    )
    ours = recorded(desc, [x, lengths])
    (x, lengths), (out,) = ours.inputs, ours.outputs
    longs = lengths.reshape(-1).astype(np.int64)
    attributes = {"time_axis": axis, "batch_axis": 1 - axis}
    peers = {"ONNX Runtime": onnx_call("ReverseSequence", [x, longs], [out], threads, attributes)}
    return Contest(ours, peers)


def tiled(dtype: str, threads: int) -> Contest:
    x = filled(dtype, matrix(dtype, LARGE // 4))
    desc = dml.DML_TILE_OPERATOR_DESC(
        InputTensor=tensor(x), OutputTensor=output_like(x, [2 * size for size in x.shape]), Repeats=[2, 2]
    )
    ours = recorded(desc, [x])
    (x,), (out,) = ours.inputs, ours.outputs
    peers = {
        "NumPy": lambda: np.tile(x, (2, 2)),
        "PyTorch": torch_call(lambda a: torch.tile(a, (2, 2)), [x], []),
        "ONNX Runtime": onnx_call("Tile", [x], [out], threads, {}, {"repeats": np.array([2, 2])}),
    }
    return Contest(ours, peers)


def to_depth(order: str, dtype: str, threads: int) -> Contest:
    planes, height, width = cube(dtype, LARGE)
    x = filled(dtype, (1, planes, height, width))
    return blocks("SPACE_TO_DEPTH", order, x, [1, planes * 4, height // 2, width // 2], threads)


def to_space(order: str, dtype: str, threads: int) -> Contest:
    planes, height, width = cube(dtype, LARGE)
    x = filled(dtype, (1, planes, height, width))
    return blocks("DEPTH_TO_SPACE", order, x, [1, planes // 4, height * 2, width * 2], threads)


def blocks(operator: str, order: str, x: Any, sizes: Sequence[int], threads: int) -> Contest:
    """Space-to-depth blocks of two by two."""
    mode, name = ORDERS[order]
    desc = getattr(dml, f"DML_{operator}1_OPERATOR_DESC")(
        InputTensor=tensor(x),
        OutputTensor=output_like(x, sizes),
        BlockSize=2,
        Order=dml.DML_DEPTH_SPACE_ORDER[f"DML_DEPTH_SPACE_ORDER_{name}"],
    )
    ours = recorded(desc, [x])
    (x,), (out,) = ours.inputs, ours.outputs
    is_spread = operator == "DEPTH_TO_SPACE"
    depth, space = (x, out) if is_spread else (out, x)
    _, channels, height, width = depth.shape
    if mode == "CRD":
        apart = depth.reshape(channels // 4, 2, 2, height, width).transpose(0, 3, 1, 4, 2)
    else:
        apart = depth.reshape(2, 2, channels // 4, height, width).transpose(2, 3, 0, 4, 1)
    whole = space.reshape(apart.shape)
    source, target = (apart, whole) if is_spread else (whole, apart)
    node = "DepthToSpace" if is_spread else "SpaceToDepth"
    attributes = {"blocksize": 2, **({"mode": mode} if is_spread else {})}
    knows = is_spread or mode == "DCR"
    peers = {
        "NumPy": lambda: np.copyto(target, source),
        "PyTorch": torch_call(lambda a, b: b.copy_(a), [source], [target]),
        "ONNX Runtime": onnx_call(node, [x], [out], threads, attributes) if knows else None,
    }
    return Contest(ours, peers)


def windows(desc: Any, **tensors: Any) -> Any:
    """Windows of three by three, with a padding of one."""
    return desc(
        **tensors,
        WindowSizes=[3, 3],
        Strides=[1, 1],
        Dilations=[1, 1],
        StartPadding=[1, 1],
        EndPadding=[1, 1],
    )


def unfolded(dtype: str, threads: int) -> Contest:
    planes, height, width = cube(dtype, LARGE // 8)
    x = filled(dtype, (1, planes, height, width))
    columns = output_like(x, [1, 1, planes * 9, height * width])
    ours = recorded(windows(dml.DML_UNFOLD_OPERATOR_DESC, InputTensor=tensor(x), OutputTensor=columns), [x])
    (x,) = ours.inputs
    peers = {"PyTorch": torch_call(lambda a: torch.nn.functional.unfold(a, 3, padding=1), [x], [])}
    return Contest(ours, peers)


def folded(dtype: str, threads: int) -> Contest:
    planes, height, width = cube(dtype, LARGE // 8)
    columns = filled(dtype, (1, 1, planes * 9, height * width))
    whole = output_like(columns, [1, planes, height, width])
    desc = windows(dml.DML_FOLD_OPERATOR_DESC, InputTensor=tensor(columns), OutputTensor=whole)
    ours = recorded(desc, [columns])
    flat = ours.inputs[0][0]

    def pytorch(a: Any) -> None:
        torch.nn.functional.fold(a, (height, width), 3, padding=1)

    return Contest(ours, {"PyTorch": torch_call(pytorch, [flat], [])})


def scaled(dtype: str, threads: int) -> Contest:
    x = filled(dtype, (4, 1, *matrix(dtype, LARGE // 4)))
    bias = np.array([0.5], np.float32)
    desc = dml.DML_VALUE_SCALE_2D_OPERATOR_DESC(
        InputTensor=tensor(x), OutputTensor=tensor(x), Scale=0.25, ChannelCount=1, Bias=list(bias)
    )
    ours = recorded(desc, [x])
    (x,), (out,) = ours.inputs, ours.outputs
    wide = bias.astype(dtype).reshape(1, 1, 1, 1)
    scale = np.array(0.25, dtype)

    def numpy() -> None:
        np.multiply(x, scale, out=out)
        np.add(out, wide, out=out)

    def pytorch(a: Any, b: Any, o: Any) -> None:
        torch.add(b, a, alpha=0.25, out=o)

    return Contest(ours, {"NumPy": numpy, "PyTorch": torch_call(pytorch, [x, wide], [out])})
