"""Helpers that all HTML pages share: escaped elements, blocks of text, and the page shell."""
