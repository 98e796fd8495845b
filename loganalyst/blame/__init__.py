"""Blame: the line, rank and node that state the root cause of a failed session."""
