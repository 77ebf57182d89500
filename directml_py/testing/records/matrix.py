"""Recipes for valid descs: matrix."""
