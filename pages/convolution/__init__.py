"""Attention that is a convolution: on words, on pictures, and learned."""
