"""What stands between the internet and the pages: who may connect, what may be sent, whether the server is ready."""
