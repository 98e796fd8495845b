"""Reports of one diagnosis: one neutral document, one renderer per file."""
