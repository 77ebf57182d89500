"""Random programs of lists, queues, fences and memory: right ones, and what becomes of each with one mistake in it."""
