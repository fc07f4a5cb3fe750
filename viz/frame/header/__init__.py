"""Around a section: tabs and views above it, the footer below."""
