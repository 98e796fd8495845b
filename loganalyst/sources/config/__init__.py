"""Settings of a run: files and texts that hold them."""
