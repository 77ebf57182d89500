"""Normalizations. Of LOCAL_RESPONSE_NORMALIZATION and LP_NORMALIZATION the catalog's tables say all sizes."""

from __future__ import annotations

from ..descs.values import OperatorDesc
from .operator import Broadcast, Operator, Shapes, operator


@operator("BATCH_NORMALIZATION")
class BatchNormalization(Operator):
    """Normalization with a mean and a variance that are given (ns-directml-dml_batch_normalization_operator_desc)."""

    def shapes(self, desc: OperatorDesc) -> Shapes:
        whole = Broadcast(desc.InputTensor.sizes)
        return dict.fromkeys(("MeanTensor", "VarianceTensor", "ScaleTensor", "BiasTensor"), whole)


@operator("MEAN_VARIANCE_NORMALIZATION", "MEAN_VARIANCE_NORMALIZATION1", "MEAN_VARIANCE_NORMALIZATION2")
class MeanVarianceNormalization(Operator):
    """Normalization with the mean and the variance of the input along axes
    (ns-directml-dml_mean_variance_normalization1_operator_desc)."""

    def shapes(self, desc: OperatorDesc) -> Shapes:
        sizes = desc.InputTensor.sizes
        return {"ScaleTensor": Broadcast(sizes), "BiasTensor": Broadcast(sizes), "OutputTensor": sizes}
