"""The head grid on a page: ``grid.py`` shows every head and reads what is chosen there."""
