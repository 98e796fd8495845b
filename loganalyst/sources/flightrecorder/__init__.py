"""What a flight-recorder dump is made of."""
