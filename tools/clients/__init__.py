"""Programs of others run over the emulator: what they compute, beside what they should."""
