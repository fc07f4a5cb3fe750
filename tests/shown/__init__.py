"""What a section shows, as data: a command records it, and a test compares."""
