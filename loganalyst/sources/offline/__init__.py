"""What trackers write without a network: Neptune, Comet, ClearML."""
