"""Normalizations, each with its gradient and with what it is in training."""
