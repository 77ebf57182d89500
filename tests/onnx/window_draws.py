"""Random nodes whose attributes describe windows, regions and coordinates."""

from __future__ import annotations

import numpy as np

from .random_nodes import Draw, draws, longs


@draws("Resize")
def resize(random, kind):
    opset = random.one((10, 11, 13, 18, 19))
    rank = random.one((1, 2, 3, 4, 4, 4, 5))
    shape = tuple(random.numbers(rank, 1, 7))
    mode = random.one(("nearest", "linear", *(("cubic",) if opset > 10 else ())))
    scales = np.array(
        [random.one((0.3, 0.5, 0.6, 0.7, 1.0, 1.3, 1.4, 1.5, 2.0, 2.8)) for _ in shape], np.float32
    )
    if (mode != "nearest" and rank > 3) or mode == "cubic":
        free = random.one(((rank - 2, rank - 1), (1, 2))) if rank == 4 else range(2 if rank == 5 else 0, rank)
        scales = np.array([s if axis in free else 1 for axis, s in enumerate(scales)], np.float32)
    dtype = (
        random.one((np.float32, np.float32, np.int32, np.uint8, np.int8)) if mode != "cubic" else np.float32
    )
    x = random.array(shape, dtype)
    if opset == 10:
        return Draw(kind, opset, [x, scales], [1], {"mode": mode})
    words = ["asymmetric", "half_pixel", "pytorch_half_pixel", "align_corners", "tf_crop_and_resize"]
    words += ["half_pixel_symmetric"] if opset >= 19 else []
    words += ["tf_half_pixel_for_nn"] if opset < 13 else []
    word = random.one(words)
    attributes = {"mode": mode, "coordinate_transformation_mode": word}
    if mode == "nearest":
        attributes["nearest_mode"] = random.one(("round_prefer_floor", "round_prefer_ceil", "floor", "ceil"))
    if mode == "cubic":
        attributes |= random.some(cubic_coeff_a=random.one((-0.5, -0.75)), exclude_outside=1)
    if opset >= 18 and mode != "nearest":
        attributes |= random.some(antialias=random.number(0, 1))
    axes = list(range(rank))
    if opset >= 18 and random.chance(0.3):
        axes = sorted(random.generator.permutation(rank)[: random.number(1, rank)].tolist())
        attributes["axes"] = axes
    roi = None
    if word == "tf_crop_and_resize":
        ends = (
            [random.one((0.0, 0.1, 0.4, -0.2)) for _ in axes],
            [random.one((1.0, 0.9, 0.6, 1.3)) for _ in axes],
        )
        roi = np.array([*ends[0], *ends[1]], np.float32)
        attributes |= random.some(extrapolation_value=3.0)
    own = scales[axes]
    if random.chance(0.4):
        sizes = longs([max(1, int(shape[axis] * scale)) for axis, scale in zip(axes, own)])
        if opset >= 18:
            attributes |= random.some(
                keep_aspect_ratio_policy=random.one(("stretch", "not_larger", "not_smaller"))
            )
        return Draw(kind, opset, [x, roi, None, sizes], [1, 3], attributes)
    return Draw(kind, opset, [x, roi, own], [1, 2], attributes)


@draws("Upsample")
def upsample(random, kind):
    opset = random.one((7, 9))
    rank = random.one((2, 3, 4, 4))
    shape = tuple(random.numbers(rank, 1, 6))
    mode = random.one(("nearest", "linear"))
    scales = np.array([random.one((1.0, 1.3, 1.4, 2.0, 2.8)) for _ in shape], np.float32)
    if mode == "linear" and rank == 4:
        scales[:2] = 1
    x = random.array(shape)
    if opset == 7:
        return Draw(kind, opset, [x], (), {"mode": mode, "scales": scales.tolist()})
    return Draw(kind, opset, [x, scales], [1], {"mode": mode})


def window(random, dims, with_dilations=True):
    kernel = random.numbers(dims, 1, 3)
    attributes = random.some(
        strides=random.numbers(dims, 1, 4), dilations=random.numbers(dims, 1, 2) if with_dilations else None
    )
    word = random.one(("NOTSET", "NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"))
    if word != "NOTSET":
        attributes["auto_pad"] = word
    elif random.chance():
        attributes["pads"] = [random.number(0, size - 1) for size in (*kernel, *kernel)]
    return kernel, attributes


@draws("MaxPool", "AveragePool", "LpPool")
def pool(random, kind):
    opset = random.one(
        {"MaxPool": (7, 8, 10, 11, 12, 22), "AveragePool": (7, 10, 11, 19, 22), "LpPool": (7, 11, 18, 22)}[
            kind
        ]
    )
    dims = random.number(1, 3)
    dilations = opset >= {"MaxPool": 10, "AveragePool": 19, "LpPool": 18}[kind]
    kernel, attributes = window(random, dims, dilations)
    if opset >= {"MaxPool": 10, "AveragePool": 10, "LpPool": 18}[kind]:
        attributes |= random.some(ceil_mode=1)
    outputs = 1
    if kind == "AveragePool":
        attributes |= random.some(count_include_pad=1)
    if kind == "LpPool":
        attributes |= random.some(p=random.number(1, 3))
    if kind == "MaxPool" and opset >= 8:
        outputs = random.number(1, 2)
        attributes |= random.some(storage_order=random.number(0, 1))
    x = random.array((random.number(1, 2), random.number(1, 2), *random.numbers(dims, 3, 8)))
    if kind == "MaxPool" and opset >= 12 and random.chance(0.2):
        x = x.astype(random.one((np.int8, np.uint8)))
    return Draw(kind, opset, [x], (), {"kernel_shape": kernel, **attributes}, outputs)


@draws("GlobalMaxPool", "GlobalAveragePool", "GlobalLpPool")
def global_pool(random, kind):
    x = random.array((2, 3, *random.numbers(random.number(1, 3), 1, 6)))
    attributes = random.some(p=random.number(1, 3)) if kind == "GlobalLpPool" else {}
    return Draw(kind, random.one((7, 22)), [x], (), attributes)


@draws("MaxUnpool")
def max_unpool(random, kind):
    dims = random.number(1, 3)
    sizes = random.numbers(dims, 1, 3)
    kernel, strides = random.numbers(dims, 2, 3), random.numbers(dims, 2, 3)
    least = [(size - 1) * stride + extent for size, stride, extent in zip(sizes, strides, kernel)]
    count = int(np.prod(least))
    places = random.generator.permutation(count)[: int(np.prod(sizes))].reshape(1, 1, *sizes)
    inputs = [random.array((1, 1, *sizes)), longs(places)]
    attributes = {"kernel_shape": kernel, "strides": strides}
    if random.chance(0.3):
        inputs.append(longs([1, 1, *(size + random.number(0, 2) for size in least)]))
    return Draw(kind, random.one((9, 11)), inputs, [2] if len(inputs) > 2 else (), attributes)


@draws("Conv")
def conv(random, kind):
    dims, group = random.number(1, 3), random.one((1, 1, 2))
    kernel, attributes = window(random, dims)
    x = random.array((random.number(1, 2), 2 * group, *random.numbers(dims, 3, 8)))
    filters = random.array((3 * group, 2, *kernel))
    bias = random.array((3 * group,)) if random.chance() else None
    attributes |= {"group": group} | random.some(kernel_shape=kernel)
    return Draw(kind, random.one((7, 11, 22)), [x, filters, bias], [1, 2], attributes)


@draws("ConvTranspose")
def conv_transpose(random, kind):
    dims, group = random.number(1, 3), random.one((1, 1, 2))
    kernel, attributes = window(random, dims)
    x = random.array((random.number(1, 2), 2 * group, *random.numbers(dims, 1, 5)))
    filters = random.array((2 * group, 3, *kernel))
    bias = random.array((3 * group,)) if random.chance() else None
    strides = attributes.get("strides", [1] * dims)
    attributes |= {"group": group} | random.some(kernel_shape=kernel)
    if random.chance(0.3):
        attributes["output_padding"] = [random.number(0, stride - 1) for stride in strides]
    if random.chance(0.3):
        attributes["output_shape"] = [
            max(1, size * stride + random.number(-3, 1)) for size, stride in zip(x.shape[2:], strides)
        ]
    return Draw(kind, random.one((7, 11, 22)), [x, filters, bias], [1, 2], attributes)


@draws("ConvInteger")
def conv_integer(random, kind):
    dims = random.number(1, 2)
    kernel, attributes = window(random, dims)
    x = random.array((1, 2, *random.numbers(dims, 3, 6)), np.uint8)
    return Draw(kind, 10, [x, random.array((3, 2, *kernel), np.uint8)], [1], attributes)


@draws("Slice")
def slice_(random, kind):
    opset, rank = random.one((7, 10, 11, 13)), random.number(1, 4)
    x = random.array(
        random.numbers(rank, 1, 5), random.one((np.float32, np.int64, np.uint8, np.float64, np.bool_))
    )
    axes = random.generator.permutation(rank)[: random.number(1, rank)].tolist()
    steps = [random.one((1, 1, 2, -1, -2, 7, -9)) if opset > 7 else 1 for _ in axes]
    bound = (2**31 - 1, -(2**31), 2**63 - 1, -(2**63), 2**62, -(2**62), *range(-9, 9), *range(-9, 9))
    starts, ends = ([random.one(bound) for _ in axes] for _ in range(2))
    axes = [axis - rank * random.number(0, 1) for axis in axes]
    if opset == 7:
        return Draw(kind, opset, [x], (), {"starts": starts, "ends": ends, "axes": axes})
    words = random.one((np.int64, np.int32))
    limits = np.iinfo(words)
    lists = [
        np.clip(longs(values), limits.min, limits.max).astype(words) for values in (starts, ends, axes, steps)
    ]
    constants = (0, 1, 2, 3, 4) if random.chance(0.3) else (1, 2, 3, 4)
    return Draw(kind, opset, [x, *lists], constants)


@draws("Pad")
def pad(random, kind):
    opset, rank = random.one((7, 11, 13, 18, 19, 21)), random.number(1, 4)
    dtype = (
        random.one((np.float32, np.float32, np.int32, np.int64, np.float64, np.bool_))
        if opset >= 13
        else np.float32
    )
    x = random.array(random.numbers(rank, 1, 5), dtype)
    modes = ("constant", "edge", "reflect", *(("wrap",) if opset >= 19 else ()))
    attributes, count = {"mode": random.one(modes)}, rank
    axes = None
    if opset >= 18 and random.chance():
        axes = random.generator.permutation(rank)[: random.number(1, rank)]
        count = len(axes)
        axes = longs([axis - rank * random.number(0, 1) for axis in axes])
    pads = random.numbers(2 * count, -2 if random.chance(0.4) else 0, 3)
    if opset == 7:
        return Draw(kind, opset, [x], (), attributes | {"pads": pads} | random.some(value=1.5))
    value = np.array(1, dtype) if attributes["mode"] == "constant" and random.chance() else None
    return Draw(kind, opset, [x, longs(pads), value, axes], [1, 2, 3], attributes)


@draws("DepthToSpace", "SpaceToDepth")
def blocks(random, kind):
    block, opset = random.number(1, 3), random.one((7, 11, 13))
    channels, size = (block * block * 2, 3) if kind == "DepthToSpace" else (2, block * 3)
    attributes = {"blocksize": block}
    if kind == "DepthToSpace" and opset >= 11:
        attributes |= random.some(mode=random.one(("DCR", "CRD")))
    return Draw(kind, opset, [random.array((2, channels, size, size))], (), attributes)


def regions(random, count, most):
    corners = random.generator.random((count, 4)).astype(np.float32) * most
    corners[:, 2:] = corners[:, :2] + random.generator.random((count, 2)).astype(np.float32) * most
    return corners


@draws("RoiAlign")
def roi_align(random, kind):
    opset, count = random.one((10, 16, 22)), random.number(1, 3)
    x = random.array((2, 2, *random.numbers(2, 3, 8)))
    batches = random.generator.integers(0, 2, count).astype(np.int64)
    attributes = random.some(
        mode=random.one(("avg", "max")),
        output_height=2,
        output_width=3,
        sampling_ratio=random.number(0, 3),
        spatial_scale=0.5,
    )
    if opset >= 16:
        attributes |= random.some(
            coordinate_transformation_mode=random.one(("half_pixel", "output_half_pixel"))
        )
    # How many samples a region has by default decides about the graph, where the maximum is asked for.
    is_known = attributes.get("mode") == "max" and not attributes.get("sampling_ratio")
    return Draw(kind, opset, [x, regions(random, count, 8), batches], [1] if is_known else (), attributes)


@draws("MaxRoiPool")
def max_roi_pool(random, kind):
    count = random.number(1, 3)
    x = random.array((2, 2, *random.numbers(2, 3, 8)))
    rois = np.concatenate([random.generator.integers(0, 2, (count, 1)), regions(random, count, 8)], 1)
    attributes = {"pooled_shape": random.numbers(2, 1, 3)} | random.some(spatial_scale=random.one((0.5, 0.3)))
    return Draw(kind, 7, [x, rois.astype(np.float32)], (), attributes)


@draws("GridSample")
def grid_sample(random, kind):
    opset = random.one((16, 20))
    dims = 2 if opset == 16 else random.number(2, 3)
    modes = ("bilinear", "nearest", "bicubic") if opset == 16 else ("linear", "nearest", "cubic")
    mode = random.one(modes if dims == 2 else modes[:2])
    x = random.array((2, 2, *random.numbers(dims, 1, 5)))
    grid = (
        random.generator.random((2, *random.numbers(dims, 1, 4), dims)).astype(np.float32) - np.float32(0.5)
    ) * 3
    attributes = {"mode": mode} | random.some(
        padding_mode=random.one(("zeros", "border", "reflection")), align_corners=1
    )
    return Draw(kind, opset, [x, grid], (), attributes)


@draws("Col2Im")
def columns_to_image(random, kind):
    dims = 2
    image, block = random.numbers(dims, 3, 6), random.numbers(dims, 1, 3)
    attributes = random.some(
        strides=random.numbers(dims, 1, 2),
        dilations=random.numbers(dims, 1, 2),
        pads=random.numbers(2 * dims, 0, 1),
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
    x = random.array((1, 2 * int(np.prod(block)), max(1, int(np.prod(counts)))))
    return Draw(kind, 18, [x, longs(image), longs(block)], [1, 2], attributes)
