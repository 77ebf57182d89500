"""Models of one node whose types or sizes ONNX's inference leaves open, or has otherwise than ONNX Runtime."""

from __future__ import annotations

import numpy as np
import onnx

from .small_nodes import SmallNode, model_of

F32, F16, I64 = np.float32, np.float16, np.int64


def one(kind, version, attributes, outputs=1, **arrays):
    node = onnx.helper.make_node(
        kind, list(arrays), [f"out{index}" for index in range(outputs)], **attributes
    )
    return SmallNode(f"{kind} {version}", kind, version, model_of(node, arrays, version), arrays)


def zeros(*sizes, dtype=F32):
    return np.zeros(sizes, dtype)


# What ONNX's inference leaves open or has otherwise, and operators that ONNX Runtime has before ONNX.
SPECIAL = [
    *(one(kind, version, {}, a=zeros(2, 3, dtype=dtype), b=zeros(3, dtype=dtype))
      for kind in ("GreaterOrEqual", "LessOrEqual") for version in (12, 15, 16) for dtype in (F32, F16, I64)),
    one("Compress", 9, {"axis": 0}, x=zeros(3, 2, dtype=bool), c=np.array([True, False, True])),
    one("Compress", 11, {}, x=zeros(3, 2, dtype=I64), c=np.array([True, False, True])),
    *(one("GatherND", version, {}, x=zeros(5), i=np.array([2])) for version in (11, 12, 13)),
    one("GatherND", 12, {"batch_dims": 1}, x=zeros(2, 5), i=np.array([[2], [1]])),
    one("MeanVarianceNormalization", 8, {"across_channels": 1}, x=zeros(2, 3, 2, 2)),
    one("MeanVarianceNormalization", 9, {}, x=zeros(2, 3, 2, 2)),
    one("MaxUnpool", 11, {"kernel_shape": [2, 2], "strides": [2, 2]}, x=zeros(1, 1, 2, 2),
        i=np.array([[[[0, 2], [8, 10]]]]), s=np.array([1, 1, 5, 5])),
    one("STFT", 17, {}, x=zeros(1, 16, 1), step=np.array(4), w=np.ones(8, F32)),
    one("Concat", 7, {"axis": -1}, x=zeros(2, 3), y=zeros(2, 1)),
    one("Unsqueeze", 9, {"axes": [-1, 0]}, x=zeros(2, 3)),
    one("Squeeze", 9, {"axes": [-2]}, x=zeros(2, 1, 3)),
    one("Squeeze", 13, {}, x=zeros(1, 3, 1), axes=np.zeros(0, I64)),
    *(one("Dropout", version, {}, outputs=2, x=zeros(2, 3)) for version in (7, 10, 12)),
    *(one("LayerNormalization", version, {"axis": 1}, outputs=3, x=zeros(2, 3, 4, dtype=dtype),
          s=zeros(3, 4, dtype=dtype)) for version in (9, 16, 17) for dtype in (F32, F16)),
    *(one("SimplifiedLayerNormalization", version, {}, outputs=2, x=zeros(2, 3, dtype=dtype), s=zeros(3, dtype=dtype))
      for version in (9, 21) for dtype in (F32, F16)),
    one("ThresholdedRelu", 7, {"alpha": 0.5}, x=zeros(2, 3)),
    *(one("GroupNormalization", version, {"num_groups": 2}, x=zeros(1, 4, 2), s=zeros(2), b=zeros(2))
      for version in (18, 20)),
    one("GroupNormalization", 21, {"num_groups": 2}, x=zeros(1, 4, 2), s=zeros(4), b=zeros(4)),
    *(one(kind, 8, {"alpha": 1.0, "beta": 0.5}, x=zeros(2, 3)) for kind in ("Affine", "ScaledTanh")),
    one("ImageScaler", 8, {"bias": [1.0, 2.0, 3.0]}, x=zeros(1, 3, 3, 3)),
    one("Crop", 8, {"border": [1, 0, 1, 0]}, x=zeros(1, 2, 4, 4)),
    one("Resize", 10, {}, x=zeros(1, 1, 2, 3), s=np.array([1, 1, 2, 2], F32)),
    one("Resize", 11, {}, x=zeros(1, 1, 2, 3), roi=zeros(0), s=np.array([1, 1, 2, 2], F32)),
    one("Upsample", 9, {}, x=zeros(1, 1, 2, 3), s=np.array([1, 1, 2, 2], F32)),
    one("TopK", 7, {"k": 2}, outputs=2, x=zeros(2, 3)),
    one("GlobalLpPool", 7, {}, x=zeros(1, 2, 3, 3)),
    one("MaxRoiPool", 7, {"pooled_shape": [2, 2]}, x=zeros(1, 2, 6, 6), r=np.array([[0, 0, 0, 3, 3]], F32)),
]  # fmt: skip
