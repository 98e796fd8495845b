"""Readers: a file a format, found by scanning."""
