"""Data movement: concatenation and split, slices, padding, tiles, block rearrangement, FOLD and UNFOLD."""
