"""Patterns of known log lines, ours and the user's."""
