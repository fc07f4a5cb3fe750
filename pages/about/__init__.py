"""What Headlight is, whose it is, and what it does with what visitors type."""
