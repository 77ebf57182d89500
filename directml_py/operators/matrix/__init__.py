"""Matrix products, and attention, which is two of them with a softmax in between."""
