"""What many runs tell together: sweeps, seeds, scaling laws, sets. (Not called compare: that is the function.)"""
