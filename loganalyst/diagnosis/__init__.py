"""Rules asked, causes ranked."""
