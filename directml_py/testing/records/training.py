"""Recipes for valid descs: training."""
