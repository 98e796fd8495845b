"""Curves: the role of each metric, the roles that values reveal, and the effective history."""
