"""Recipes for valid descs: sampling."""
