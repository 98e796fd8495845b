"""What one curve shows: arrays in, findings out."""
