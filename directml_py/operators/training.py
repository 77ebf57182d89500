"""Gradients, optimizers and the statistics of training: the tables say all."""
