"""Lines of a job log: their text, time, rank and node."""
