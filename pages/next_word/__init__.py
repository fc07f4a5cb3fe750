"""What a decoder says next, and which of its parts say it."""
