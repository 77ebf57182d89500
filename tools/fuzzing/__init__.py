"""Random descs, valid and broken, and what must come of them."""
