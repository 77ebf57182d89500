"""The debug layer: what commands would do to one another on a GPU, found out while they run one by one."""
