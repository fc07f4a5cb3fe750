"""The server between the internet and the pages: connection limits, request checks, readiness."""
