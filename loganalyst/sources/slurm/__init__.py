"""SLURM's accounting: `sacct`, `scontrol show job` and `seff`."""
