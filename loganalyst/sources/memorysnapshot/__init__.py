"""Snapshots of torch's GPU memory."""
