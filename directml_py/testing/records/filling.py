"""Recipes for valid descs: filling."""
