"""Products of matrices, and attention, which is two of them with a softmax between."""
