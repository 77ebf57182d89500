"""Operators that combine elements along axes."""

from __future__ import annotations

from ..operator import Operator, operator


@operator("CUMULATIVE_SUMMATION", "CUMULATIVE_PRODUCT")
class Cumulative(Operator):
    """Running sums and products along an axis (ns-directml-dml_cumulative_summation_operator_desc,
    ns-directml-dml_cumulative_product_operator_desc)."""
