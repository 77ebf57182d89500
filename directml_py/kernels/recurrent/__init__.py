"""Recurrent layers (RNN, LSTM, GRU), in NumPy and in native kernels."""
