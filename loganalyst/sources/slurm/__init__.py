"""SLURM accounting."""
