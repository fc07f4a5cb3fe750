"""Scheduling and caching: a fair queue, one computation for equal requests, a cache bounded in bytes."""
