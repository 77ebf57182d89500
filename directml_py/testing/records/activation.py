"""Recipes for valid descs: activation."""
