"""One module per kind of generated file; each has ``generate(catalog) -> {path: text}``."""
