"""Helpers that all reports share: text, numbers, scales and terminal lines."""
