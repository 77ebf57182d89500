"""Normalizations with their training forms and gradients."""
