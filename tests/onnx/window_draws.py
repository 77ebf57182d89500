"""Random nodes whose attributes describe windows, regions and coordinates."""

from __future__ import annotations

import numpy as np

from .drawn_nodes import DrawnNode, drawn, longs


@drawn("Resize")
def resize(draw):
    opset = draw.choice((10, 11, 13, 18, 19))
    rank = draw.choice((1, 2, 3, 4, 4, 4, 5))
    shape = tuple(draw.numbers(rank, 1, 7))
    mode = draw.choice(("nearest", "linear", *(("cubic",) if opset > 10 else ())))
    scales = np.array(
        [draw.choice((0.3, 0.5, 0.6, 0.7, 1.0, 1.3, 1.4, 1.5, 2.0, 2.8)) for _ in shape], np.float32
    )
    if (mode != "nearest" and rank > 3) or mode == "cubic":
        free = (
            draw.choice(((rank - 2, rank - 1), (1, 2))) if rank == 4 else range(2 if rank == 5 else 0, rank)
        )
        scales = np.array([s if axis in free else 1 for axis, s in enumerate(scales)], np.float32)
    dtype = (
        draw.choice((np.float32, np.float32, np.int32, np.uint8, np.int8)) if mode != "cubic" else np.float32
    )
    x = draw.array(shape, dtype)
    if opset == 10:
        return DrawnNode(draw.kind, opset, [x, scales], [1], {"mode": mode})
    words = ["asymmetric", "half_pixel", "pytorch_half_pixel", "align_corners", "tf_crop_and_resize"]
    words += ["half_pixel_symmetric"] if opset >= 19 else []
    words += ["tf_half_pixel_for_nn"] if opset < 13 else []
    word = draw.choice(words)
    attributes = {"mode": mode, "coordinate_transformation_mode": word}
    if mode == "nearest":
        attributes["nearest_mode"] = draw.choice(("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"))
    if mode == "cubic":
        attributes |= draw.some(cubic_coeff_a=draw.choice((-0.5, -0.75)), exclude_outside=1)
    if opset >= 18 and mode != "nearest":
        attributes |= draw.some(antialias=draw.number(0, 1))
    axes = list(range(rank))
    if opset >= 18 and draw.maybe(0.3):
        axes = sorted(draw.random.permutation(rank)[: draw.number(1, rank)].tolist())
        attributes["axes"] = axes
    roi = None
    if word == "tf_crop_and_resize":
        ends = (
            [draw.choice((0.0, 0.1, 0.4, -0.2)) for _ in axes],
            [draw.choice((1.0, 0.9, 0.6, 1.3)) for _ in axes],
        )
        roi = np.array([*ends[0], *ends[1]], np.float32)
        attributes |= draw.some(extrapolation_value=3.0)
    own = scales[axes]
    if draw.maybe(0.4):
        sizes = longs([max(1, int(shape[axis] * scale)) for axis, scale in zip(axes, own)])
        if opset >= 18:
            attributes |= draw.some(
                keep_aspect_ratio_policy=draw.choice(("stretch", "not_larger", "not_smaller"))
            )
        return DrawnNode(draw.kind, opset, [x, roi, None, sizes], [1, 3], attributes)
    return DrawnNode(draw.kind, opset, [x, roi, own], [1, 2], attributes)


@drawn("Upsample")
def upsample(draw):
    opset = draw.choice((7, 9))
    rank = draw.choice((2, 3, 4, 4))
    shape = tuple(draw.numbers(rank, 1, 6))
    mode = draw.choice(("nearest", "linear"))
    scales = np.array([draw.choice((1.0, 1.3, 1.4, 2.0, 2.8)) for _ in shape], np.float32)
    if mode == "linear" and rank == 4:
        scales[:2] = 1
    x = draw.array(shape)
    if opset == 7:
        return DrawnNode(draw.kind, opset, [x], (), {"mode": mode, "scales": scales.tolist()})
    return DrawnNode(draw.kind, opset, [x, scales], [1], {"mode": mode})


def window(draw, dims, with_dilations=True):
    kernel = draw.numbers(dims, 1, 3)
    attributes = draw.some(
        strides=draw.numbers(dims, 1, 4), dilations=draw.numbers(dims, 1, 2) if with_dilations else None
    )
    word = draw.choice(("NOTSET", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"))
    if word != "NOTSET":
        attributes["auto_pad"] = word
    elif draw.maybe():
        attributes["pads"] = [draw.number(0, size - 1) for size in (*kernel, *kernel)]
    return kernel, attributes


@drawn("MaxPool", "AveragePool", "LpPool")
def pool(draw):
    opset = draw.choice(
        {"MaxPool": (7, 8, 10, 11, 12, 22), "AveragePool": (7, 10, 11, 19, 22), "LpPool": (7, 11, 18, 22)}[
            draw.kind
        ]
    )
    dims = draw.number(1, 3)
    dilations = opset >= {"MaxPool": 10, "AveragePool": 19, "LpPool": 18}[draw.kind]
    kernel, attributes = window(draw, dims, dilations)
    if opset >= {"MaxPool": 10, "AveragePool": 10, "LpPool": 18}[draw.kind]:
        attributes |= draw.some(ceil_mode=1)
    outputs = 1
    if draw.kind == "AveragePool":
        attributes |= draw.some(count_include_pad=1)
    if draw.kind == "LpPool":
        attributes |= draw.some(p=draw.number(1, 3))
    if draw.kind == "MaxPool" and opset >= 8:
        outputs = draw.number(1, 2)
        attributes |= draw.some(storage_order=draw.number(0, 1))
    x = draw.array((draw.number(1, 2), draw.number(1, 2), *draw.numbers(dims, 3, 8)))
    if draw.kind == "MaxPool" and opset >= 12 and draw.maybe(0.2):
        x = x.astype(draw.choice((np.int8, np.uint8)))
    return DrawnNode(draw.kind, opset, [x], (), {"kernel_shape": kernel, **attributes}, outputs)


@drawn("GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool")
def global_pool(draw):
    x = draw.array((2, 3, *draw.numbers(draw.number(1, 3), 1, 6)))
    attributes = draw.some(p=draw.number(1, 3)) if draw.kind == "GlobalLpPool" else {}
    return DrawnNode(draw.kind, draw.choice((7, 22)), [x], (), attributes)


@drawn("MaxUnpool")
def max_unpool(draw):
    dims = draw.number(1, 3)
    sizes = draw.numbers(dims, 1, 3)
    kernel, strides = draw.numbers(dims, 2, 3), draw.numbers(dims, 2, 3)
    least = [(size - 1) * stride + extent for size, stride, extent in zip(sizes, strides, kernel)]
    count = int(np.prod(least))
    places = draw.random.permutation(count)[: int(np.prod(sizes))].reshape(1, 1, *sizes)
    inputs = [draw.array((1, 1, *sizes)), longs(places)]
    attributes = {"kernel_shape": kernel, "strides": strides}
    if draw.maybe(0.3):
        inputs.append(longs([1, 1, *(size + draw.number(0, 2) for size in least)]))
    return DrawnNode(draw.kind, draw.choice((9, 11)), inputs, [2] if len(inputs) > 2 else (), attributes)


@drawn("Conv")
def conv(draw):
    dims, group = draw.number(1, 3), draw.choice((1, 1, 2))
    kernel, attributes = window(draw, dims)
    x = draw.array((draw.number(1, 2), 2 * group, *draw.numbers(dims, 3, 8)))
    filters = draw.array((3 * group, 2, *kernel))
    bias = draw.array((3 * group,)) if draw.maybe() else None
    attributes |= {"group": group} | draw.some(kernel_shape=kernel)
    return DrawnNode(draw.kind, draw.choice((7, 11, 22)), [x, filters, bias], [1, 2], attributes)


@drawn("ConvTranspose")
def conv_transpose(draw):
    dims, group = draw.number(1, 3), draw.choice((1, 1, 2))
    kernel, attributes = window(draw, dims)
    x = draw.array((draw.number(1, 2), 2 * group, *draw.numbers(dims, 1, 5)))
    filters = draw.array((2 * group, 3, *kernel))
    bias = draw.array((3 * group,)) if draw.maybe() else None
    strides = attributes.get("strides", [1] * dims)
    attributes |= {"group": group} | draw.some(kernel_shape=kernel)
    if draw.maybe(0.3):
        attributes["output_padding"] = [draw.number(0, stride - 1) for stride in strides]
    if draw.maybe(0.3):
        attributes["output_shape"] = [
            max(1, size * stride + draw.number(-3, 1)) for size, stride in zip(x.shape[2:], strides)
        ]
    return DrawnNode(draw.kind, draw.choice((7, 11, 22)), [x, filters, bias], [1, 2], attributes)


@drawn("ConvInteger")
def conv_integer(draw):
    dims = draw.number(1, 2)
    kernel, attributes = window(draw, dims)
    x = draw.array((1, 2, *draw.numbers(dims, 3, 6)), np.uint8)
    return DrawnNode(draw.kind, 10, [x, draw.array((3, 2, *kernel), np.uint8)], [1], attributes)


@drawn("Slice")
def slice_(draw):
    opset, rank = draw.choice((7, 10, 11, 13)), draw.number(1, 4)
    x = draw.array(
        draw.numbers(rank, 1, 5), draw.choice((np.float32, np.int64, np.uint8, np.float64, np.bool_))
    )
    axes = draw.random.permutation(rank)[: draw.number(1, rank)].tolist()
    steps = [draw.choice((1, 1, 2, -1, -2, 7, -9)) if opset > 7 else 1 for _ in axes]
    bound = (2**31 - 1, -(2**31), 2**63 - 1, -(2**63), 2**62, -(2**62), *range(-9, 9), *range(-9, 9))
    starts, ends = ([draw.choice(bound) for _ in axes] for _ in range(2))
    axes = [axis - rank * draw.number(0, 1) for axis in axes]
    if opset == 7:
        return DrawnNode(draw.kind, opset, [x], (), {"starts": starts, "ends": ends, "axes": axes})
    words = draw.choice((np.int64, np.int32))
    limits = np.iinfo(words)
    lists = [
        np.clip(longs(values), limits.min, limits.max).astype(words) for values in (starts, ends, axes, steps)
    ]
    constants = (0, 1, 2, 3, 4) if draw.maybe(0.3) else (1, 2, 3, 4)
    return DrawnNode(draw.kind, opset, [x, *lists], constants)


@drawn("Pad")
def pad(draw):
    opset, rank = draw.choice((7, 11, 13, 18, 19, 21)), draw.number(1, 4)
    dtype = (
        draw.choice((np.float32, np.float32, np.int32, np.int64, np.float64, np.bool_))
        if opset >= 13
        else np.float32
    )
    x = draw.array(draw.numbers(rank, 1, 5), dtype)
    modes = ("constant", "edge", "reflect", *(("wrap",) if opset >= 19 else ()))
    attributes, count = {"mode": draw.choice(modes)}, rank
    axes = None
    if opset >= 18 and draw.maybe():
        axes = draw.random.permutation(rank)[: draw.number(1, rank)]
        count = len(axes)
        axes = longs([axis - rank * draw.number(0, 1) for axis in axes])
    pads = draw.numbers(2 * count, -2 if draw.maybe(0.4) else 0, 3)
    if opset == 7:
        return DrawnNode(draw.kind, opset, [x], (), attributes | {"pads": pads} | draw.some(value=1.5))
    value = np.array(1, dtype) if attributes["mode"] == "constant" and draw.maybe() else None
    return DrawnNode(draw.kind, opset, [x, longs(pads), value, axes], [1, 2, 3], attributes)


@drawn("DepthToSpace", "SpaceToDepth")
def blocks(draw):
    block, opset = draw.number(1, 3), draw.choice((7, 11, 13))
    channels, size = (block * block * 2, 3) if draw.kind == "DepthToSpace" else (2, block * 3)
    attributes = {"blocksize": block}
    if draw.kind == "DepthToSpace" and opset >= 11:
        attributes |= draw.some(mode=draw.choice(("DCR", "CRD")))
    return DrawnNode(draw.kind, opset, [draw.array((2, channels, size, size))], (), attributes)


def regions(draw, count, most):
    corners = draw.random.random((count, 4)).astype(np.float32) * most
    corners[:, 2:] = corners[:, :2] + draw.random.random((count, 2)).astype(np.float32) * most
    return corners


@drawn("RoiAlign")
def roi_align(draw):
    opset, count = draw.choice((10, 16, 22)), draw.number(1, 3)
    x = draw.array((2, 2, *draw.numbers(2, 3, 8)))
    batches = draw.random.integers(0, 2, count).astype(np.int64)
    attributes = draw.some(
        mode=draw.choice(("avg", "max")),
        output_height=2,
        output_width=3,
        sampling_ratio=draw.number(0, 3),
        spatial_scale=0.5,
    )
    if opset >= 16:
        attributes |= draw.some(
            coordinate_transformation_mode=draw.choice(("half_pixel", "output_half_pixel"))
        )
    # How many samples a region has by default decides about the graph, where the maximum is asked for.
    is_known = attributes.get("mode") == "max" and not attributes.get("sampling_ratio")
    return DrawnNode(
        draw.kind, opset, [x, regions(draw, count, 8), batches], [1] if is_known else (), attributes
    )


@drawn("MaxRoiPool")
def max_roi_pool(draw):
    count = draw.number(1, 3)
    x = draw.array((2, 2, *draw.numbers(2, 3, 8)))
    rois = np.concatenate([draw.random.integers(0, 2, (count, 1)), regions(draw, count, 8)], 1)
    attributes = {"pooled_shape": draw.numbers(2, 1, 3)} | draw.some(spatial_scale=draw.choice((0.5, 0.3)))
    return DrawnNode(draw.kind, 7, [x, rois.astype(np.float32)], (), attributes)


@drawn("GridSample")
def grid_sample(draw):
    opset = draw.choice((16, 20))
    dims = 2 if opset == 16 else draw.number(2, 3)
    modes = ("bilinear", "nearest", "bicubic") if opset == 16 else ("linear", "nearest", "cubic")
    mode = draw.choice(modes if dims == 2 else modes[:2])
    x = draw.array((2, 2, *draw.numbers(dims, 1, 5)))
    grid = (draw.random.random((2, *draw.numbers(dims, 1, 4), dims)).astype(np.float32) - np.float32(0.5)) * 3
    attributes = {"mode": mode} | draw.some(
        padding_mode=draw.choice(("zeros", "border", "reflection")), align_corners=1
    )
    return DrawnNode(draw.kind, opset, [x, grid], (), attributes)


@drawn("Col2Im")
def columns_to_image(draw):
    dims = 2
    image, block = draw.numbers(dims, 3, 6), draw.numbers(dims, 1, 3)
    attributes = draw.some(
        strides=draw.numbers(dims, 1, 2),
        dilations=draw.numbers(dims, 1, 2),
        pads=draw.numbers(2 * dims, 0, 1),
    )
    ones, pads = [1] * dims, attributes.get("pads", [0] * 2 * dims)
    counts = [
        (size + low + high - dilation * (extent - 1) - 1) // stride + 1
        for size, low, high, dilation, extent, stride in zip(
            image,
            pads[:dims],
            pads[dims:],
            attributes.get("dilations", ones),
            block,
            attributes.get("strides", ones),
        )
    ]
    x = draw.array((1, 2 * int(np.prod(block)), max(1, int(np.prod(counts)))))
    return DrawnNode(draw.kind, 18, [x, longs(image), longs(block)], [1, 2], attributes)
