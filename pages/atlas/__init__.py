"""Every head of a model as a point: what it does over many sentences, and what chance would do."""
