"""Normalizations, each with its gradient and with what it is in training."""

from . import batch_norm, local_response, lp_norm, mean_variance

__all__ = ["batch_norm", "local_response", "lp_norm", "mean_variance"]
