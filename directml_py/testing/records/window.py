"""Recipes for valid descs: window."""
