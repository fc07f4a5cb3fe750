"""What it costs: counted, drawn over the length, and measured."""
