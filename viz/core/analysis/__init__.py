"""Measures of a trace: statistics of maps and heads, the flow of information through a stack, checks."""
