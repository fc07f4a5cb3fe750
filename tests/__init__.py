SAFETY_NET = 300
"""Seconds after which a test stops waiting for what comes at once on a free machine: no verdict depends on them."""
