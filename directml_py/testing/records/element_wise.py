"""Recipes for valid descs: element_wise."""
