"""Recipes for valid descs: normalization."""

from __future__ import annotations

from ...api.enums import DML_FEATURE_LEVEL_4_0, DML_FEATURE_LEVEL_5_2
from ..desc_generator import DescGenerator, Fields
from ..recipes import plain, recipe


@recipe("BATCH_NORMALIZATION")
def batch_normalization(make: DescGenerator) -> Fields:
    sizes, spatial = make.shape(make.rank("InputTensor")), make.source.chance(50)
    kept = range(len(sizes))[-2:] if not spatial and make.level < DML_FEATURE_LEVEL_4_0 else ()
    means = {name: make.broadcast(sizes, kept) for name in ("MeanTensor", "VarianceTensor")}
    return {"InputTensor": sizes, "Spatial": spatial, **means}


@recipe("MEAN_VARIANCE_NORMALIZATION", "MEAN_VARIANCE_NORMALIZATION1", "MEAN_VARIANCE_NORMALIZATION2")
def mean_variance_normalization(make: DescGenerator) -> Fields:
    fields, names = plain(make), make.some("ScaleTensor", "BiasTensor")
    if "Axes" in fields and make.source.chance(10):
        fields["Axes"] = ()
    if names and make.level < DML_FEATURE_LEVEL_5_2:
        names = ("ScaleTensor", "BiasTensor")
    kept = (1,) if "Axes" in fields and make.level < DML_FEATURE_LEVEL_4_0 else ()
    return {**fields, **{name: make.broadcast(fields["InputTensor"], kept) for name in names}}


@recipe("LOCAL_RESPONSE_NORMALIZATION")
def local_response_normalization(make: DescGenerator) -> Fields:
    return {**plain(make), "LocalSize": make.source.integer(1, 7)}


@recipe("LP_NORMALIZATION")
def lp_normalization(make: DescGenerator) -> Fields:
    return {**plain(make), "P": make.source.choice((1, 2))}
