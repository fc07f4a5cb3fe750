"""Where is a word? Why attention must be told, and how."""
