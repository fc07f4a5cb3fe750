"""What an attention layer has beside q, k and v: its matrices W_Q, W_K, W_V and W_O, and its gate."""
