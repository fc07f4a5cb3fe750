"""The forms of attentions that are handed over, told apart by their structure."""
