"""Who computes when, and what is kept: a fair line, one computation for all who ask, a cache bounded in bytes."""
