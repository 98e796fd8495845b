"""Helpers that several readers share."""
