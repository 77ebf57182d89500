"""What random values do not surely hit, worked out by hand: a table a family."""
