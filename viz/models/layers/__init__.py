"""Parts of an attention layer beside q, k and v: its matrices W_Q, W_K, W_V and W_O, and its gate."""
