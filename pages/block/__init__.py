"""The block: attention, add & norm, feed-forward, add & norm, as a diagram whose boxes open."""
