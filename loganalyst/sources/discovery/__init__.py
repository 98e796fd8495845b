"""Which files make a run, and which job log belongs to it."""
