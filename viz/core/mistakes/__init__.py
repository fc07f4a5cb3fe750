"""Attention done wrong on purpose, to see what each part is for."""
