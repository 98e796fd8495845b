"""Reload a checkpoint, repeat the steps that failed, and confirm or refute by experiments what the logs suggest."""
