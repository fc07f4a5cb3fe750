"""What can be said of a trace: statistics of maps and heads, where words come from through a stack, checks."""
