"""The forms of attentions and of texts that are handed over, told apart by their structure."""
