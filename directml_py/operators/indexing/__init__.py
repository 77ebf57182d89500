"""Operators that read or write at positions which another tensor holds, or that find positions."""
