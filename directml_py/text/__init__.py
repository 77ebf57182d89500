"""Text for people: English plurals, and HTML. It knows nothing of DirectML."""
