"""One search for the whole app: its index, and the box that asks it, which computes in the browser."""
