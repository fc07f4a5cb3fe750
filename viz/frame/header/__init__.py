"""Above a section: its page's tabs, and the switch of a section with several parts."""
