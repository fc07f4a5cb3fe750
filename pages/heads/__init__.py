"""Every head at once, and one of them closely."""
