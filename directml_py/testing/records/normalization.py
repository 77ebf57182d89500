"""Recipes for valid descs: normalization."""
