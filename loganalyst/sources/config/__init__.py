"""Settings of a run: configuration files and other texts that contain settings."""
