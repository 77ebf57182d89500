"""Recipes for valid descs: quantized."""
