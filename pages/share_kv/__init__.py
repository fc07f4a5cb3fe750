"""Sharing keys and values: MHA, GQA, MQA."""
