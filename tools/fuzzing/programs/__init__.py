"""Random programs of lists, queues, fences and memory: correct ones, and mutants with one mistake each."""
