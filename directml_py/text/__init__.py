"""Text formatting: English plurals and HTML. Independent of DirectML."""
