"""One record per operator that needs one: how its valid descs are made."""
