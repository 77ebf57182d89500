"""Normalizations, each with its gradient and with what it is in training."""

from . import batch, local_response, lp, mean_variance

__all__ = ["batch", "local_response", "lp", "mean_variance"]
