"""Report renderers: one document, a renderer a file."""
