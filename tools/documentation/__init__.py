"""Sphinx extensions: pages generated from the catalog and the code, and their pictures."""
