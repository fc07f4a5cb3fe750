"""The cost of layers: counted, drawn over the length, and measured."""
