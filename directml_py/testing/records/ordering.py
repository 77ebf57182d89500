"""Recipes for valid descs: ordering."""
