"""What heads do on a text as long as the model can read."""
