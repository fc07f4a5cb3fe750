"""Around a section: tabs, views and parts above it, the footer below."""
