"""Compare many runs: sweeps, seeds, scaling laws, two sets. (Not named compare: that is the function.)"""
