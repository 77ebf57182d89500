"""Products of matrices, and attention, which is two of them with a softmax between."""

from . import attention, grouped_attention, matmul

__all__ = ["attention", "grouped_attention", "matmul"]
