"""Recipes for valid descs: recurrent."""
