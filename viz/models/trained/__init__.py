"""The scripts that trained the small models of ``assets/``; each can be run again."""
