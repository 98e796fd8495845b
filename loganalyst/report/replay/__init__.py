"""Reports of a replay."""
