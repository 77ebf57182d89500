"""Synchronization validation: detects the hazards that commands would have on a GPU while running them one by one."""
