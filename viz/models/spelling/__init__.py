"""Letters of tokens and words: labels that show every character, and words as they were typed."""
