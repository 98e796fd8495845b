"""Reports of a verified fix."""
