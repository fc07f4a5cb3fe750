"""Attention masks and their pitfalls."""
