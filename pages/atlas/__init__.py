"""Every head of a model as a point: its scores over many sentences, beside those of random weights."""
