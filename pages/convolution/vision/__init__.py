"""The sections on a trained vision model: its heads on a digit, and what training did to them."""
