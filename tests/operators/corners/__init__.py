"""Corner cases that random values may miss, computed by hand: one table per family."""
