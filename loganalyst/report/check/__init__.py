"""Reports of checked settings."""
