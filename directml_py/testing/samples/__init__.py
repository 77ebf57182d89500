"""Recipes for valid descs, one per operator that needs one."""
