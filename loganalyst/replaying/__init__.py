"""Reload a checkpoint, repeat the steps that failed, and let experiments confirm or refute what the logs suggest."""
