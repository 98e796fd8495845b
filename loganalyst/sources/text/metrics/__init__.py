"""Metrics and steps that a program prints into its log."""
