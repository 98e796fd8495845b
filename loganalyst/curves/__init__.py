"""Curves: the role of each metric, its meaning, and its effective history."""
