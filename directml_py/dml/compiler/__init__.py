"""The graph compiler: graph descs, their rules, and compilation into a single operator."""
