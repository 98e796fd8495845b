"""Tracebacks, stacks and launchers' error tables in a job log."""
