"""Trackio's store."""
