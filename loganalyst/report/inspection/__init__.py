"""Reports of an inspected checkpoint."""
