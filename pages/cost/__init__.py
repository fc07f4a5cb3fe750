"""The cost of layers: counted, and drawn over the length."""
