"""Pages that follow from the catalog and the code, and the pictures in them: what Sphinx calls when it builds docs."""
